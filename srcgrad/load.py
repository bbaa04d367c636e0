"""From text to a function that debuggers, tracebacks and `inspect` can read.

An error raised inside emitted text carries a note with the user's line.
"""

from __future__ import annotations

import itertools
import linecache
import math
import weakref
from collections.abc import Callable, Mapping
from types import FunctionType, TracebackType
from typing import Any

import numpy as np

from srcgrad.emit import Text
from srcgrad.trace import Origin

_numbers = itertools.count(1)
_maps: weakref.WeakKeyDictionary[Any, Mapping[int, Origin]] = weakref.WeakKeyDictionary()


def load(text: Text, name: str) -> Callable[..., Any]:
    r"""Return the function `name` of `text`.

    Its text stands in the linecache as long as the function lives.

    Examples
    --------
    >>> double = load(Text("def double(x):\n    return 2 * x\n", {}, {}), "double")
    >>> double(4.0)
    8.0
    """
    filename = f"<srcgrad {name} {next(_numbers)}>"
    namespace = {"np": np, "math": math, "__name__": "srcgrad.generated", **text.namespace}
    exec(compile(text.source, filename, "exec"), namespace)
    function: FunctionType = namespace[name]
    lines = text.source.splitlines(keepends=True)
    linecache.cache[filename] = (len(text.source), None, lines, filename)
    weakref.finalize(function, linecache.cache.pop, filename, None).atexit = False
    _maps[function] = text.lines
    return function


def line_map(function: Callable[..., Any]) -> Mapping[int, Origin]:
    """Return, for a loaded function, the user's operation of each emitted line."""
    return _maps.get(function, {})


def note_user_line(error: BaseException, function: Callable[..., Any]) -> None:
    """Add the user's file and line to an error that was raised inside a loaded function."""
    number = _line_in(error.__traceback__, function)
    origin = line_map(function).get(number)
    if origin is None:
        return
    code, _ = origin
    note = f"in the derivative of {code.co_qualname}, {code.co_filename}:{line_of(origin)}"
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _line_in(traceback: TracebackType | None, function: Any) -> int:
    """Return the line of `function` at which a traceback passes it last, or 0."""
    number = 0
    while traceback is not None:
        if traceback.tb_frame.f_code is function.__code__:
            number = traceback.tb_lineno
        traceback = traceback.tb_next
    return number


def line_of(origin: Origin) -> int:
    """Return the user's line number of an operation."""
    code, lasti = origin
    for start, end, line in code.co_lines():
        if start <= lasti < end and line is not None:
            return line
    return code.co_firstlineno
