"""Loaded functions: what debuggers, tracebacks and inspect see of them."""

from __future__ import annotations

import gc
import inspect
import linecache
import traceback

import numpy as np
import pytest

from srcgrad.emit import Program, Text, emit
from srcgrad.load import line_map, load, note_user_line
from srcgrad.trace import Call

from .traces import Build

SOURCE = "import numpy as np\n\n\ndef f(x):\n    y = np.sin(x)\n    return other(y)\n"


def text(**namespace):
    return Text(SOURCE, {5: (users.__code__, 0), 6: (users.__code__, 0)}, namespace)


def users(x):
    return np.sin(x)


def test_source_can_be_read():
    f = load(text(other=float), "f")
    assert f(0.0) == 0.0
    assert inspect.getsource(f) == SOURCE[SOURCE.index("def") :]
    assert line_map(f) == text().lines
    assert f.__globals__["other"] is float


def test_two_functions_share_nothing():
    f, g = load(text(other=float), "f"), load(text(other=str), "f")
    assert f.__code__.co_filename != g.__code__.co_filename
    assert f(0.0) == 0.0 and g(0.0) == "0.0"


def test_the_text_goes_with_the_function():
    f = load(text(other=float), "f")
    name = f.__code__.co_filename
    assert name in linecache.cache
    linecache.checkcache()
    assert name in linecache.cache
    del f
    gc.collect()
    assert name not in linecache.cache


def fails(value):
    raise FloatingPointError("nan")


def test_an_error_names_the_users_line():
    f = load(text(other=fails), "f")
    with pytest.raises(FloatingPointError) as caught:
        f(1.0)
    for _ in range(2):  # once is enough
        note_user_line(caught.value, f)
    line = users.__code__.co_firstlineno
    assert len(caught.value.__notes__) == 1
    assert caught.value.__notes__[0].endswith(f"{__file__}:{line}")
    assert "return other(y)" in "".join(traceback.format_exception(caught.value))


def test_an_error_from_elsewhere_gets_no_note():
    f = load(text(other=fails), "f")
    with pytest.raises(TypeError) as caught:
        f()
    note_user_line(caught.value, f)
    assert not hasattr(caught.value, "__notes__")


def test_an_emitted_function_has_a_line_map():
    b = Build(x=np.ones(3))
    y = b(np.sin, b.x, origin=(users.__code__, 0))
    total = b(np.multiply, y, y, origin=(users.__code__, 0))
    f = load(emit(Program("f", b.trace(total), total)), "f")
    assert list(line_map(f).values()) == [(users.__code__, 0)]
    assert isinstance(b.steps[0], Call)
