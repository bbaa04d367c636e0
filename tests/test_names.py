"""What `site` says of an operation, from plain code and from instrumented code."""

from __future__ import annotations

import linecache
import os
import sys

import pytest

from srcgrad.capture.instrument import instrument
from srcgrad.names import Site, site


class Probe:
    """A value whose operations write down the site of the frame they are asked from."""

    sites: list[Site] = []

    def answer(self, *args, **kwargs):
        frame = sys._getframe(1)
        while frame.f_code in INSIDE:
            frame = frame.f_back
        self.sites.append(site(frame.f_code, frame.f_lasti))
        return self

    __add__ = __radd__ = __mul__ = __matmul__ = __pow__ = __neg__ = __iadd__ = answer
    __lt__ = __eq__ = __getitem__ = __call__ = answer
    __hash__ = None

    def sum(self, *args, **kwargs):
        return self.answer()

    @property
    def T(self):
        return self.answer()


class Plain:
    """Hooks that do what plain code does."""

    call = staticmethod(lambda function, /, *args, **kwargs: function(*args, **kwargs))
    load = staticmethod(lambda value, name: value)
    iterate = leave = staticmethod(lambda value: value)
    store_attribute = staticmethod(lambda value, obj, name: setattr(obj, name, value))
    store_item = staticmethod(lambda value, obj, key: obj.__setitem__(key, value))


np = type("np", (), {"sin": staticmethod(lambda x: x.answer())})
weight = Probe()

INSIDE = {
    function.__code__
    for cls in (Probe, Plain, np)
    for value in vars(cls).values()
    for function in (value, getattr(value, "__func__", None), getattr(value, "fget", None))
    if hasattr(function, "__code__")
}


def assigned(x, m):
    y = x + 1
    y: object = x * m.w
    y += x
    if (z := x["key"]) is None:
        return
    a, b = x @ y, -x
    (c, (d, e)) = x + z, (b, a)
    f = g = x**2
    m.out = x < a
    m.d["k"] = x.T
    [k] = [x * k for k in (1,)]


def not_assigned(x, m):
    y = (x + 1, 2)
    y = x + 1 if m else None
    y = [x * 2]
    *y, z = x * 3, 1, 2
    y, z = (x * 4, 1) if m else (1, 2)
    for y in (x * 5,):
        return x * 6


def operands(x, m):
    m.w + m.d["w"]
    x.T.sum(m.w, 2)
    np.sin(m.w)
    x(x, 1, k=x)
    x(x, *[weight])
    m["a"][0] if False else x[1:]
    m.d["w"][0]
    weight * x
    -m.d["w"]
    (x + 1) * x
    x < x
    f"{x + weight}"


def scattered(x, m):
    y = x + weight
    z = x.sum(y).T.sum()
    return x(
        z,
    )  # fmt: skip


def nested(x, m):
    def inner(u):
        v = u + x
        return v

    total = inner(x)
    rows = [total * r for r in (weight,)]
    out = (lambda s: s @ rows)(x)
    return out


TABLE = [
    (
        assigned,
        [
            ("y", ("x", None)),
            ("y", ("x", "w")),
            ("y", ("y", "x")),
            ("z", ("x",)),
            ("a", ("x", "y")),
            ("b", ("x",)),
            ("c", ("x", "z")),
            ("f", ("x", None)),
            ("out", ("x", "a")),
            ("k", ("x",)),
            (None, ("x", "k")),
        ],
    ),
    (
        not_assigned,
        [(None, ("x", None))] * 7,
    ),
    (
        operands,
        [
            (None, ("w", "w")),
            (None, ("x",)),
            (None, ("T", "w", None)),
            (None, ("w",)),
            (None, ("x", None)),
            (None, ("x", None)),
            (None, ("x",)),
            (None, ("w",)),
            (None, ("weight", "x")),
            (None, ("w",)),
            (None, ("x", None)),
            (None, (None, "x")),
            (None, ("x", "x")),
            (None, ("x", "weight")),
        ],
    ),
    (
        scattered,
        [
            ("y", ("x", "weight")),
            (None, ("x", "y")),
            (None, (None,)),
            ("z", ("T",)),
            (None, ("z",)),
        ],
    ),
    (
        nested,
        [
            ("v", ("u", "x")),
            (None, ("total", "r")),
            (None, ("s", "rows")),
        ],
    ),
]


class Parameters:
    """An object with attributes and items."""

    def __init__(self):
        self.w = Probe()
        self.d = {"w": Probe()}


@pytest.mark.parametrize("instrumented", [False, True], ids=["plain", "instrumented"])
@pytest.mark.parametrize(("function", "expected"), TABLE, ids=lambda v: getattr(v, "__name__", ""))
def test_sites(function, expected, instrumented):
    Probe.sites = []
    (instrument(function, Plain) if instrumented else function)(Probe(), Parameters())
    assert [(s.target, s.operands) for s in Probe.sites] == expected
    assert {(s.file, s.path) for s in Probe.sites} == {("test_names.py", __file__)}


@pytest.mark.parametrize("function", [row[0] for row in TABLE])
def test_lines_are_the_same_instrumented(function):
    lines = []
    for f in (function, instrument(function, Plain)):
        Probe.sites = []
        f(Probe(), Parameters())
        lines.append([s.line - function.__code__.co_firstlineno for s in Probe.sites])
    assert lines[0] == lines[1]


def test_sites_of_a_module_and_of_a_cell():
    text = "y = x + x\nfor i in (1, 2):\n    y = y * i\nz = x @ (\n  y)\n"
    for name in ("<cell 7>", os.path.join("somewhere", "cell.py")):
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        Probe.sites = []
        exec(compile(text, name, "exec"), {"x": Probe()})
        found = [(s.file, s.line, s.target, s.operands) for s in Probe.sites]
        file = os.path.basename(name)
        assert found == [
            (file, 1, "y", ("x", "x")),
            (file, 3, "y", ("y", "i")),
            (file, 3, "y", ("y", "i")),
            (file, 4, "z", ("x", "y")),
        ]


def test_without_text_there_is_a_line():
    Probe.sites = []
    exec(compile("\n\ny = x + x", "<nowhere>", "exec"), {"x": Probe()})
    assert Probe.sites == [Site("<nowhere>", "<nowhere>", 3)]


def test_an_edited_text_gives_no_names():
    text = "y = x + x\n"
    for edited in ("a = b + b\n", "y = x\n", "", "y = = x + x\n"):
        name = f"<edited {len(edited)}>"
        linecache.cache[name] = (len(edited), None, edited.splitlines(True), name)
        Probe.sites = []
        exec(compile(text, name, "exec"), {"x": Probe()})
        assert Probe.sites == [Site(name, name, 1)]


@pytest.mark.parametrize("lasti", [-1, 0, 1, 2, 10**6])
def test_any_offset_has_a_site(lasti):
    code = assigned.__code__
    found = site(code, lasti)
    assert found.line >= code.co_firstlineno
    assert found is site(code, lasti)


def test_code_without_columns():
    code = assigned.__code__.replace(co_linetable=b"")
    assert site(code, 8) == Site("test_names.py", __file__, code.co_firstlineno)
