"""Instrumented functions do what plain ones do, and report it."""

from __future__ import annotations

import inspect
import pickle
import sys
import threading
import traceback
import types

import pytest

from srcgrad.capture.instrument import (
    instrument,
    is_instrumented,
    is_user_object,
    needs_instrumentation,
)

from . import shapes
from . import shapes_of_classes as classes
from . import shapes_of_statements as statements
from .plain_hooks import Recording, both, module

# What comes out -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "args"), shapes.SHAPES, ids=lambda v: getattr(v, "__name__", "")
)
def test_same_result(function, args):
    plain, instrumented = both(function, *args)
    assert plain == instrumented


NEW_SYNTAX = {
    "type parameters": """
        def f[T: int, *Ts, **P](x: T, *rest: *Ts) -> T:
            type Pair = tuple[T, T]
            def g[U](u: U) -> list[U]:
                return [u, T.__name__, Pair.__name__]
            return g(x), str(Pair.__value__)
        """,
    "generic class": """
        class Box[T]:
            kind = "box"
            def get(self, x):
                return T.__name__, self.kind, __class__.__name__, x
        f = lambda x: Box().get(x)
        """,
    "quotes within quotes": """
        d = {"a": 1, "b": [1, 2]}
        def f(x):
            return f"{d["a"]} {f"{f"{x!r:>{d["b"][1]}}"}"} {'\\n'.join(str(i) for i in d["b"])}"
        """,
}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
@pytest.mark.parametrize("text", NEW_SYNTAX.values(), ids=NEW_SYNTAX)
def test_same_result_of_newer_syntax(text, tmp_path):
    plain, instrumented = both(module(tmp_path, text).f, 3)
    assert plain == instrumented


def test_methods_are_instrumented_with_their_class():
    b = classes.Derived(4)
    for method in (classes.Derived.act, classes.Derived.__init__, statements.Holder.private):
        assert instrument(method, Recording()).__closure__ is not None
    assert instrument(classes.Derived.act, Recording())(b, 3) == b.act(3)
    getter = classes.Derived.private.fget
    assert instrument(getter, Recording())(b) == b.private


def test_cells_and_globals_are_shared():
    step = shapes._counter()
    twin = instrument(step, Recording())
    assert [step(1), twin(1), step(1)] == [1, 2, 3]
    instrument(shapes.global_store, Recording())(5)
    assert shapes.COUNT == 15
    assert twin.__globals__ is shapes.__dict__


def test_assertions_that_pytest_has_rewritten():
    def checked(x):
        assert x > 0, "positive"
        return [x * y for y in (1, 2)]

    assert any("@py" in name for name in checked.__code__.co_names + checked.__code__.co_varnames)
    plain, instrumented = both(checked, 3)
    assert plain == instrumented


# What is reported ---------------------------------------------------------------------------------

w, p, xs = 2.0, {"w": 3.0, "layers": [1.0]}, [1, 2]
np = types.SimpleNamespace(sin=abs, linalg=types.SimpleNamespace(norm=abs))


class Model:
    def __init__(self):
        self.w, self.items, self.__own = 1.0, [1, 2], 1

    def forward(self, x):
        return self.w * x

    def private(self, x):
        self.__own = x
        return self.__own


def stores(m, x):
    m.w = x
    m.items[0] = m.w
    m.items[1] += w
    m.a, m.b = x, x
    return None


def outer_names(x):
    global xs
    xs = [x]
    xs += [x]
    a, xs = 1, xs
    return [(xs := [i]) for i in range(1)]


def inner_names(x):
    def add():
        nonlocal x
        x = x + w

    add()
    return x


REPORTS = [
    (lambda x: np.sin(x), (1,), "call abs"),
    (lambda x: np.linalg.norm(x), (1,), "call abs"),
    (lambda x: x * w, (1,), "load w"),
    (lambda x: helper(w), (1,), "load w; call helper"),
    (lambda x: p["w"], (1,), "load p; load w"),
    (lambda x: p["layers"][0], (1,), "load p; load layers; load layers"),
    (lambda m: m.w, (Model(),), "load w"),
    (lambda m: m.w.real.imag, (Model(),), "load imag"),
    (lambda m: m.items[0], (Model(),), "load items; load items"),
    (lambda m: m.forward(2), (Model(),), "call forward; load w"),
    (lambda m: m.private(2), (Model(),), "call private; store ._Model__own; load __own"),
    (lambda a: a[0], ([1],), "load a"),
    (lambda a: (a + a)[0], ([1],), "load None"),
    (lambda a: [b for b in a], ([1],), "iterate"),
    (lambda a: [w for w in a for _ in xs], ([1],), "iterate; load xs; iterate"),
    (lambda a: sorted(a, key=abs), ([1],), "call sorted"),
    (lambda a: len(a) + max(*a), ([1, 2],), "call len; call max"),
    (lambda a: (super, print, __name__), (1,), ""),
    (lambda a: eval("a"), (1,), ""),
    (lambda a: (lambda: a)(), (1,), "call <lambda>; load a"),
    (lambda a: f"{w:{a}}", (3,), "load w"),
    (lambda a: w if a else xs, (1,), "load w"),
    (stores, (Model(), 1), "store .w; load w; load items; store [0]; load items; load w"),
    (outer_names, (1,), "leave; leave; load xs; leave; call range; iterate; leave"),
    (inner_names, (1,), "call add; load x; load w"),
]


def helper(x):
    return x


@pytest.mark.parametrize(("function", "args", "events"), REPORTS)
def test_reports(function, args, events):
    hooks = Recording()
    instrument(function, hooks)(*args)
    assert "; ".join(hooks.events) == events


# What stays ---------------------------------------------------------------------------------------


def test_signature_and_attributes_stay():
    def f(a, /, b: int = 1, *c, d: str = "d", **e) -> float:
        """Say something."""

    f.mark = [1]
    twin = instrument(f, Recording())
    assert inspect.signature(twin) == inspect.signature(f)
    names = "name qualname module doc annotations dict defaults kwdefaults globals".split()
    for name in names:
        assert getattr(twin, f"__{name}__") == getattr(f, f"__{name}__"), name
    assert twin.__code__.co_qualname == f.__code__.co_qualname
    assert inspect.getsource(twin) == inspect.getsource(f)


def test_function_itself_is_untouched():
    before = shapes.nested.__code__
    instrument(shapes.nested, Recording())
    assert shapes.nested.__code__ is before
    assert pickle.loads(pickle.dumps(shapes.nested)) is shapes.nested


def fails(x):
    y = [
        x,
        (lambda: 1 / (x - x))(),
    ]
    return y


def fails_in_a_method(x):
    return (
        str(x)
        .strip()
        .index("no")
    )  # fmt: skip


@pytest.mark.parametrize("function", [fails, fails_in_a_method])
def test_traceback_shows_the_users_lines(function):
    frames = []
    for f in (function, instrument(function, Recording())):
        try:
            f(1)
        except (ZeroDivisionError, ValueError) as error:
            stack = traceback.extract_tb(error.__traceback__)
        found = [(s.name, s.lineno, s.line) for s in stack if s.filename == __file__]
        frames.append([s for s in found if s[0] in (function.__name__, "<lambda>")])
    assert frames[0] == frames[1] != []


def test_columns_stay():
    def spans(code):
        return {p for p in code.co_positions() if None not in p and p[0] != p[3]}

    f = statements.conditions
    extra = spans(instrument(f, Recording()).__code__) - spans(f.__code__)
    assert extra == set()


def test_instrumented_once():
    hooks = Recording()
    twin = instrument(shapes.nested, hooks)
    assert is_instrumented(twin) and not is_instrumented(shapes.nested)
    assert instrument(twin, hooks) is twin
    assert instrument(shapes.nested, hooks).__code__ is twin.__code__
    inner = instrument(shapes._counter, hooks)()
    assert is_instrumented(inner) and instrument(inner, hooks) is inner
    assert is_instrumented(instrument(lambda: None, hooks))


def test_equal_codes_are_not_confused(tmp_path):
    text = "def f(x):\n    return x + w\nw = {}\n"
    one, two = (module(tmp_path, text.format(i), f"m{i}") for i in (1, 2))
    assert one.f.__code__.co_code == two.f.__code__.co_code
    assert [instrument(m.f, Recording())(0) for m in (one, two)] == [1, 2]
    codes = [instrument(m.f, Recording()).__code__.co_filename for m in (one, two)]
    assert codes == [one.__file__, two.__file__]


def test_a_global_that_hides_a_builtin_later(tmp_path):
    m = module(tmp_path, "def f(x):\n    return sum\n")
    hooks = Recording()
    assert instrument(m.f, hooks)(0) is sum and hooks.events == []
    m.sum = 3
    assert instrument(m.f, hooks)(0) == 3 and hooks.events == ["load sum"]


def test_threads():
    results = []

    def work():
        for function, args in shapes.SHAPES[:10]:
            results.append(instrument(function, Recording())(*args) is not None)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True] * 80


# Who is instrumented ------------------------------------------------------------------------------


def test_who_is_instrumented():
    import json

    import numpy

    assert needs_instrumentation(shapes.nested) and needs_instrumentation(lambda: None)
    others = (json.dumps, numpy.linalg.norm, instrument, len, classes.Base, numpy.vectorize)
    assert not any(needs_instrumentation(f) for f in others)
    assert not needs_instrumentation(pytest.importorskip)
    assert needs_instrumentation(pytest.importorskip, packages={"_pytest"})
    assert not needs_instrumentation(numpy.mean, packages={"numpy"})
    assert is_user_object(classes.Base) and is_user_object(statements.Holder(1))
    assert not any(is_user_object(v) for v in (1.0, len, dict, json.JSONEncoder(), numpy.float64))
