"""Instrumented functions do what plain ones do, and report it."""

from __future__ import annotations

import copy
import doctest
import importlib.util
import inspect
import linecache
import os
import pickle
import sys
import textwrap
import threading
import traceback
import types
import warnings

import pytest

from srcgrad.capture import source
from srcgrad.capture.instrument import (
    instrument,
    is_instrumented,
    is_user_object,
    needs_instrumentation,
)

from . import shapes


class Recording:
    """Hooks that do what plain code does, and write down the calls of hooks as text."""

    def __init__(self):
        self.events = []

    def call(self, function, /, *args, **kwargs):
        self.events.append(f"call {getattr(function, '__name__', type(function).__name__)}")
        return self.entered(function)(*args, **kwargs)

    def entered(self, function):
        if isinstance(function, types.MethodType):
            return types.MethodType(self.entered(function.__func__), function.__self__)
        twin = instrument(function, self) if needs_instrumentation(function) else None
        return function if twin is None else twin

    def load(self, value, name, /):
        self.events.append(f"load {name}")
        return value

    def iterate(self, iterable, /):
        self.events.append("iterate")
        return iterable

    def store_attribute(self, value, obj, attribute, /):
        self.events.append(f"store .{attribute}")
        setattr(obj, attribute, value)

    def store_item(self, value, obj, key, /):
        self.events.append(f"store [{key!r}]")
        obj[key] = value

    def leave(self, value, /):
        self.events.append("leave")
        return value


def module(folder, text, name="sample"):
    """Import `text` from a file of its own."""
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(text))
    os.utime(path, ns=(1, 1))
    spec = importlib.util.spec_from_file_location(name, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def both(function, *args):
    """Return the results of `function` and of its twin."""
    twin = instrument(function, Recording())
    assert twin is not None and twin is not function
    return function(*copy.deepcopy(args)), twin(*copy.deepcopy(args))


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
    b = shapes.Derived(4)
    for method in (shapes.Derived.act, shapes.Derived.__init__, shapes.Holder.private):
        assert instrument(method, Recording()).__closure__ is not None
    assert instrument(shapes.Derived.act, Recording())(b, 3) == b.act(3)
    getter = shapes.Derived.private.fget
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

    f = shapes.conditions
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


# Whose text it is ---------------------------------------------------------------------------------


def test_no_text():
    names = {}
    exec("def f(x):\n    return x\n", names)
    assert instrument(names["f"], Recording()) is None
    assert instrument(shapes.Layer.__init__, Recording()) is None  # written by dataclass
    assert instrument(len, Recording()) is None

    async def coroutine():
        return 1

    assert instrument(coroutine, Recording()) is None


def test_a_text_of_another_name():
    names = {}
    exec(compile("\n" * 40 + "def f(x):\n    return x\n", shapes.__file__, "exec"), names)
    assert source.find(names["f"].__code__) is None


EDITS = {
    "other body": ("return x + 1", "return x + 2"),
    "other constant type": ("return x + 1", "return x + 1.0"),
    "shifted": ("def f", "import os\n\n\ndef f"),
    "gone": ("def f(x):\n    return x + 1\n", ""),
    "not Python": ("def f", "def def f"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_file_edited_after_import(edit, tmp_path):
    m = module(tmp_path, "import math\n\ndef f(x):\n    return x + 1\n")
    path = tmp_path / "sample.py"
    path.write_text(path.read_text().replace(*edit))
    linecache.checkcache(str(path))
    assert source.find(m.f.__code__) is None


def test_an_edit_that_changes_no_code(tmp_path):
    m = module(tmp_path, "import math\n\ndef f(x):\n    return math.floor(x)\n")
    path = tmp_path / "sample.py"
    path.write_text(path.read_text() + "# a comment\n")
    linecache.checkcache(str(path))
    assert source.find(m.f.__code__).name == "f"


def test_a_module_loaded_again(tmp_path):
    old = module(tmp_path, "def f(x):\n    return x + 1\n")
    assert source.find(old.f.__code__) is not None
    new = module(tmp_path, "\n\ndef f(x):\n    return x + 123\n")
    assert source.find(new.f.__code__).lineno == 3
    assert source.find(old.f.__code__) is None


AWKWARD = {
    "text that looks like code": '''
        """
        def f(x):
        """
        def f(x):
            return x
        ''',
    "brackets at the margin": """
        def deco(*a):
            return lambda g: g
        @deco(
        1,
        )
        def f(x):
            return (
        x
            )
        """,
    "one line": "import math; f = lambda x: math.floor(x)",
    "import in a try": """
        try: import math
        except ImportError: pass
        def f(x):
            return math.floor(x)
        """,
    "import in brackets": """
        from os import (
            path as p,
            sep,
        )
        def f(x):
            return p.basename(str(x))
        """,
    "import in a function": """
        import math as m
        def other():
            import collections as math
        def f(x):
            math = m
            return math.floor(x), m.floor(x)
        """,
    "else": """
        if not __name__:
            pass
        else:
            def f(x):
                return x
        """,
    "future": """
        from __future__ import annotations
        def f(x: "T") -> U:
            y: undefined = x
            return y
        """,
    "warning": """
        def f(x):
            return x is 1, "\\d"
        """,
}


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_awkward_texts(text, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = module(tmp_path, text)
    plain, instrumented = both(m.f, 1)
    assert plain == instrumented


def test_a_notebook_cell():
    text = "import math\ndef f(x):\n    return math.floor(x) + (lambda: x)()\n"
    names = {}
    for i, name in enumerate(["<cell 1>", "<cell 1>"]):
        cell = text.replace("floor", "ceil") if i else text
        linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
        exec(compile("\n" + cell.split("\n", 1)[1], name, "exec"), names, names)
        names["math"] = importlib.import_module("math")
        plain, instrumented = both(names["f"], 2.5)
        assert plain == instrumented


def documented(x):
    """Be run by doctest.

    >>> y = 2
    >>> def inner(x):
    ...     return [x * y for x in range(x)], (lambda: x)()
    >>> both(inner, 3)[1]
    ([0, 2, 4], 3)
    >>> f, g = lambda x: x * y, lambda x: x + y
    >>> both(f, 3)[1], both(g, 3)[1]
    (6, 5)
    """


def test_a_doctest():
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(documented, globs=globals()):
        runner.run(test)
    assert runner.summarize() == (0, 5)


def test_who_is_instrumented():
    import json

    import numpy

    assert needs_instrumentation(shapes.nested) and needs_instrumentation(lambda: None)
    others = (json.dumps, numpy.linalg.norm, instrument, len, shapes.Base, numpy.vectorize)
    assert not any(needs_instrumentation(f) for f in others)
    assert not needs_instrumentation(pytest.importorskip)
    assert needs_instrumentation(pytest.importorskip, packages={"_pytest"})
    assert not needs_instrumentation(numpy.mean, packages={"numpy"})
    assert is_user_object(shapes.Base) and is_user_object(shapes.Holder(1))
    assert not any(is_user_object(v) for v in (1.0, len, dict, json.JSONEncoder(), numpy.float64))
