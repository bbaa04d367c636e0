"""Silent wrongs that have bitten tools of this kind: none may give a wrong number without a word.

The numbers are those of the list of traps in the project's notes.
"""

from __future__ import annotations

import functools
import importlib.util
import linecache
import math
import operator
import sys
import textwrap
import threading
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import srcgrad
from srcgrad import GradientTape, Variable, constant, elementwise_grad, grad, value_and_grad, vjp
from srcgrad.testing import check_grads

x3 = np.array([0.5, 1.5, 2.5])


def right(f, *args):
    """Check value and gradient of `f` twice: generated, and found in the cache."""
    plain = f(*args)
    for _ in range(2):
        value, _ = value_and_grad(f)(*args)
        assert type(value) is type(plain)
        np.testing.assert_array_equal(value, plain)
        check_grads(f, args, order=1)


def refused(f, *args, match: str | None = r"test_traps\.py:\d+"):
    """Check that `f` cannot be differentiated, and that the error says where."""
    with pytest.raises((TypeError, ValueError, NotImplementedError), match=match):
        grad(f)(*args)


def right_or_refused(f, *args):
    try:
        grad(f)(*args)
    except (TypeError, ValueError, NotImplementedError, RuntimeError):
        return
    right(f, *args)


def loaded(tmp_path, name, text):
    """Return a module of the given text."""
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# 1  Untracked copies ------------------------------------------------------------------------------


class Converts:
    """C code that asks for a plain array or number."""

    @staticmethod
    def number(t):
        return math.fsum([t])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.asarray(x) ** 2),
        lambda x: np.sum(np.array(x) ** 2),
        lambda x: np.sum(np.array(x, copy=True) ** 2),
        lambda x: np.sum(np.ascontiguousarray(x) ** 2),
        lambda x: np.sum(np.array([x, x * 2.0])),
        lambda x: np.sum(np.array([x[0], x[1] * x[2]])),
        lambda x: np.sum(np.array([[x[0], 1.0], [2.0, x[1]]]) ** 2),
        lambda x: np.sum(np.array((x[0], 3.0))),
        lambda x: np.sum(np.array([x[0], [x[1]][0]], dtype=np.float64)),
        lambda x: np.sum(np.stack([x, x])) + np.sum(np.concatenate([x, [1.0]])),
        lambda x: float(x[0]) * x[1],
        lambda x: float(np.sum(x)) ** 2,
        lambda x: x[0].item() * x[1],
        lambda x: x.tolist()[0] * x[1],
        lambda x: np.float64(x[0]) * x[1],
        lambda x: np.sum(x.copy() * x),
        lambda x: np.sum([v * v for v in x]),
        lambda x: sum(x) * x[0],
        lambda x: max(x) * min(x),
        lambda x: sorted([x[2], x[0]])[0] * x[1],
        lambda x: functools.reduce(operator.mul, x),
        lambda x: math.sin(x[0]) * math.exp(x[1]),
        lambda x: math.prod([x[0], x[1]]),
        lambda x: math.hypot(x[0], x[1]),
        lambda x: np.sum(np.full(3, x[0]) * x),
        lambda x: np.sum(np.linspace(x[0], x[1], 4) ** 2),
        lambda x: np.sum(np.fromiter((v for v in x), float) * x),
        lambda x: np.sum(np.vstack([x, x]) * np.column_stack([x, x]).T),
        lambda x: np.sum(np.asarray([x[0], x[1]]) ** 2),
        lambda x: np.sum(np.r_[x, x] ** 2),
        lambda x: np.sum(np.diag(x) @ x),
        lambda x: np.interp(1.0, x, x * x),
        lambda x: np.polyval(x, 2.0),
        lambda x: np.vander(x)[0, 0],
        lambda x: np.mean(list(x)) * x[0],
        lambda x: np.sum(np.fromfunction(lambda i: i * x[0], (3,))),
        lambda x: np.sum(np.array(list(map(lambda v: v * v, x)))),
        lambda x: Converts.number(x[0]) * x[1],
        lambda x: complex(x[0], x[1]).real * x[2],
        lambda x: divmod(x[2], x[0] * 0.7)[1] * x[1],
        lambda x: pow(x[0], 2) * round(x[1], 1) + abs(-x[2]),
    ],
)  # fmt: skip
def test_1_copies(f):
    right_or_refused(f, x3)


def test_1_stores_into_plain_arrays():
    def into_new(x):
        out = np.zeros(3)
        for i in range(3):
            out[i] = x[i] ** 2
        return np.sum(out)

    def into_empty_like(x):
        out = np.empty_like(x)
        out[:] = x**2
        return np.sum(out)

    def into_list(x):
        out = [0.0] * 3
        for i in range(3):
            out[i] = x[i] ** 2
        return sum(out)

    refused(into_new, x3)
    refused(into_empty_like, x3)
    right(into_list, x3)


# 2  Questions about the class ---------------------------------------------------------------------


def classes(x):
    assert isinstance(x, np.ndarray) and type(x) is np.ndarray
    assert not np.isscalar(x) and not isinstance(x, float)
    y = x[0]
    assert isinstance(y, np.floating) and isinstance(y, float) and np.isscalar(y)
    assert type(y) is np.float64
    assert np.ndim(x) == 1 and np.iscomplexobj(x) is False and np.isrealobj(x)
    assert issubclass(type(x), np.ndarray) and hasattr(x, "shape") and not hasattr(x, "nonsense")
    match y:
        case float():
            return y * 2.0
    return y


def matched(x):
    match x:
        case np.ndarray(ndim=1):
            return np.sum(x) ** 2
        case _:
            return np.sum(x)


def test_2_classes():
    right(classes, x3)
    right(matched, x3)
    right(lambda x: x * 2.0 if isinstance(x, float) else np.sum(x), 3.0)
    right(lambda x: x * 2.0 if type(x) is float else x * 5.0, 3.0)
    right(lambda x: x * 2.0 if type(x) is float else x * 5.0, np.float64(3.0))
    right(lambda x: np.sum(x) if callable(getattr(x, "sum", None)) else x * 5.0, x3)


# 3, 4  Shapes and ints that depend on values ------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x[x > 1.0]) / x[x > 1.0].shape[0],
        lambda x: np.sum(x**2) * len(np.nonzero(x > 1.0)[0]),
        lambda x: np.sum(x) * np.count_nonzero(x > 1.0),
        lambda x: np.sum(x[: int(np.sum(x > 1.0))] ** 2),
        lambda x: sum(x[0] ** i for i in range(1 + int(x[2] * 1.1))) * x[1],
        lambda x: [10.0, 20.0, 30.0][int(x[1] * 1.1) % 3] * x[0],
        lambda x: np.sum(np.repeat(x, np.array([1, 2, 3])) ** 2),
        lambda x: x[np.argmax(x)] ** 2,
        lambda x: x[int(np.argmax(x))] ** 2,
        lambda x: {True: x[0], False: x[1] ** 2}[round(x[2] * 1.1) > 1],
        lambda x: x[0] ** int(x[2] * 1.1) * x[1],
        lambda x: np.sum(x) * np.unique(np.floor(x)).size,
        lambda x: (x[0] if x[1] > 1.1 else x[2]) ** 2,
        lambda x: np.sum(x) * int("%d" % (x[2] * 1.1)),
        lambda x: np.sum(np.tile(x, 1 + int(x[2] * 1.1))) * len(x),
    ],
)
def test_3_and_4_what_depends_on_values(f):
    for x in (x3, x3[::-1].copy(), x3 * 0.5, x3 + 1.0, x3):
        right(f, x)


# 5  Text ------------------------------------------------------------------------------------------


def test_5_text():
    seen = []

    def f(x):
        y = x * x
        seen.append((str(y), f"{y:.2f}", repr(y), "%.1f" % y, f"{y!r:>8}", "{:.3f}".format(y)))
        return y

    f(2.0)
    assert grad(f)(2.0) == 4.0 and grad(f)(3.0) == 6.0
    assert seen[0] == seen[1]
    assert seen[2] == ("9.0", "9.00", "9.0", "9.0", "     9.0", "9.000")
    seen.clear()
    g = lambda x: (seen.append(f"{x} {x!r}"), np.sum(x))[1]  # noqa: E731
    g(x3)
    grad(g)(x3)
    assert seen[0] == seen[1]


# 6  Exceptions as control flow --------------------------------------------------------------------


def with_exception(x):
    try:
        if x > 2.0:
            raise ValueError("large")
        y = x * x
    except ValueError:
        y = x * 10.0
    return y


def key_error(x):
    table = {"a": x * 2.0}
    try:
        return table["b"]
    except KeyError:
        return table["a"] * x


def swallowed(x):
    try:
        return float(np.asarray(x)) * x
    except Exception:
        return x * 100.0


def test_6_exceptions():
    for x in (1.0, 3.0, 1.0):
        right(with_exception, x)
        right(key_error, x)
    right_or_refused(swallowed, 2.0)


# 7, 14  State and effects -------------------------------------------------------------------------


def test_7_opaque_and_stateful_calls():
    rng = np.random.default_rng(0)
    drawn = []

    def noisy(x):
        drawn.append(rng.normal(size=3))
        return np.sum(x * drawn[-1])

    g = grad(noisy)
    for _ in range(3):
        found = g(x3)
        np.testing.assert_array_equal(found, drawn[-1])
    assert len({d[0] for d in drawn}) == 3
    right(lambda x: np.sum(x * np.random.default_rng(5).normal(size=3)), x3)
    buffer = np.zeros(3)

    class Batches:
        """Fills one buffer again and again, as C code does."""

        def __next__(self):
            buffer[:] += 1.0
            return buffer

    batches = Batches()
    next_of = (
        functools.partial(operator.call, batches.__next__) if hasattr(operator, "call") else None
    )

    def two_batches(x):
        return np.sum(x * next(batches)) + np.sum(x * x * next(batches))

    assert grad(two_batches)(np.ones(3)).tolist() == [1.0 + 4.0] * 3
    assert next_of is not None
    counter = iter(range(1, 10))
    h = grad(lambda x: x * next(counter))
    assert [h(1.0), h(1.0), h(1.0)] == [1.0, 2.0, 3.0]


class Net:
    def __init__(self):
        self.cache = None
        self.log = []
        self.table = {}

    def f(self, x):
        self.cache = x * x
        h = self.cache
        self.log.append(np.sum(h))
        self.table["h"] = [h, {"x": x}]
        return np.sum(self.cache * self.table["h"][0]) * self.log[-1]


def is_plain(value):
    if type(value) in (list, tuple):
        return all(map(is_plain, value))
    if type(value) is dict:
        return all(map(is_plain, value.values()))
    return type(value) in (np.ndarray, np.float64, float, int, str)


def test_14_side_effects_on_objects():
    net = Net()
    log, table = net.log, net.table
    found = grad(net.f)(x3)
    h = x3 * x3
    np.testing.assert_allclose(found, 2 * x3 * (2 * h * np.sum(h) + np.sum(h * h)))
    assert net.log is log and net.table is table and len(log) == 1
    assert is_plain(net.cache) and is_plain(log) and is_plain(table)
    np.testing.assert_array_equal(net.cache, h)
    grad(net.f)(x3 + 1.0)
    assert len(log) == 2
    np.testing.assert_array_equal(net.cache, (x3 + 1.0) ** 2)


kept = None


def keeps_globally(x):
    global kept
    kept = x * 2.0
    return np.sum(kept)


def test_14_globals_and_cells():
    total, runs = 0.0, []

    def f(x):
        nonlocal total
        total = total + np.sum(x)
        runs.append((x, [x]))
        return total * np.sum(x)

    assert grad(f)(x3).tolist() == [9.0] * 3
    assert is_plain(total) and is_plain(runs) and total == 4.5
    grad(keeps_globally)(x3)
    assert is_plain(kept)


def test_14_what_existed_before_the_run_stays_what_it_is():
    c, v = constant(2.0), Variable(3.0)
    holder = {"c": c, "v": v, "list": [c, v]}

    def f(x):
        holder["new"] = x * 2.0
        return x * c * v * holder["list"][0]

    assert grad(f)(1.0) == 12.0
    assert holder["c"] is c and holder["v"] is v and holder["list"][1] is v
    assert type(holder["new"]) is float
    v.assign(5.0)
    assert grad(f)(1.0) == 20.0


def test_14_an_error_leaves_no_traced_values_behind():
    box = []

    def f(x):
        box.append(x * 2.0)
        raise KeyError("stop")

    with pytest.raises(KeyError):
        grad(f)(x3)
    assert is_plain(box)


# 8, 15  Writes to arguments -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.__setitem__(0, 5.0),
        lambda x: x.__iadd__(1.0),
        lambda x: np.multiply(x, 2.0, out=x),
        lambda x: x.fill(0.0),
        lambda x: x.sort(),
        lambda x: np.copyto(x, 1.0),
        lambda x: np.put(x, [0], [1.0]),
        lambda x: np.add.at(x, [0], 1.0),
        lambda x: np.sum(x[:, None], axis=1, out=x),
        lambda x: np.dot(np.eye(3), x, out=x),
        lambda x: np.einsum("i->i", x, out=x),
        lambda x: np.clip(x, 0, 1, out=x),
        lambda x: np.place(x, x > 0, [1.0]),
        lambda x: [np.random.default_rng(k).shuffle(x) for k in range(4)],
        lambda x: [np.random.RandomState(k).shuffle(x) for k in range(4)],
        lambda x: np.clip(x, 0.0, 1.0, x),
        lambda x: np.sum(x[:, None], 1, None, x),
        lambda x: np.add(x, 1.0, x),
        lambda x: x.clip(0.0, 1.0, x),
        lambda x: x.cumsum(0, None, x),
        lambda x: np.median(x[::-1], overwrite_input=True) + x.__iadd__(1.0),
        lambda x: np.nan_to_num(x, False) + x.__iadd__(1.0),
        lambda x: np.take(x, [0, 0, 0], 0, x),
        lambda x: x.resize(2),
        lambda x: x.partition(1),
        lambda x: setattr(x, "shape", (3, 1)),
        lambda x: np.cumsum(x, out=x),
        lambda x: np.fill_diagonal(np.outer(x, x), 0.0),
        lambda x: np.put_along_axis(x, np.array([0]), 1.0, 0),
        lambda x: x.flat.__setitem__(0, 1.0),
        lambda x: np.nan_to_num(x, copy=False).sum() and x.__imul__(2.0),
    ],
)
def test_8_and_15_the_arguments_of_the_caller(write):
    x = x3[::-1].copy()

    def f(x):
        write(x)
        return np.sum(x * x)

    with pytest.raises((TypeError, ValueError, NotImplementedError, AttributeError)):
        grad(f)(x)
    assert x.tolist() == x3[::-1].tolist()
    w = x3[::-1].copy()

    def other(x, w):
        write(w)
        return np.sum(x * w)

    with pytest.raises((TypeError, ValueError, NotImplementedError, AttributeError)):
        grad(other)(x3.copy(), w)
    assert w.tolist() == x3[::-1].tolist()


# 11  Callbacks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.apply_along_axis(lambda r: r * r, 0, x)),
        lambda x: np.sum(np.piecewise(x, [x > 1.0], [lambda v: v * v, lambda v: -v])),
        lambda x: np.sum(np.vectorize(lambda v: v * v)(x)),
        lambda x: sum(sorted(x, key=lambda v: -v)[:2]) * x[0],
        lambda x: sum(map(lambda v: v * v, x)),
        lambda x: sum(filter(lambda v: v > 1.0, x)) * x[0],
        lambda x: max(x, key=lambda v: -v) ** 2,
        lambda x: np.sum(np.frompyfunc(lambda v: v * v, 1, 1)(x)),
        lambda x: functools.reduce(lambda a, b: a * b + a, x),
        lambda x: np.apply_over_axes(np.sum, np.outer(x, x), [0, 1])[0, 0],
        lambda x: list(map(operator.mul, x, x))[1],
        lambda x: functools.partial(np.multiply, x[0])(x[1]),
        lambda x: operator.methodcaller("sum")(x * x),
        lambda x: operator.itemgetter(1)(x) ** 2,
    ],
)
def test_11_callbacks(f):
    right_or_refused(f, x3)


# 12  Dunders, properties, descriptors -------------------------------------------------------------


class Money:
    rate = 3.0

    def __init__(self, amount):
        self.amount = amount

    def __add__(self, other):
        return Money(self.amount + other.amount * self.rate)

    def __getattr__(self, name):
        if name == "doubled":
            return self.amount * 2.0
        raise AttributeError(name)

    def __getitem__(self, key):
        return self.amount * key

    @property
    def squared(self):
        return self.amount * self.amount * self.rate

    @functools.cached_property
    def tripled(self):
        return self.amount * self.rate

    def __call__(self, x):
        return self.amount * x

    def __enter__(self):
        return self.amount * 5.0

    def __exit__(self, *exc):
        return None

    def __iter__(self):
        yield self.amount
        yield self.amount**2

    def __len__(self):
        return 4

    def __contains__(self, x):
        return bool(self.amount > x)

    def __lt__(self, other):
        return self.amount < other.amount


@functools.lru_cache
def cached_factor(n):
    return np.full(3, float(n))


class Scaled:
    def __get__(self, instance, owner):
        return lambda x: x * instance.k

    def __set_name__(self, owner, name):
        self.name = name


class WithDescriptor:
    scaled = Scaled()

    def __init__(self, k):
        self.k = k


def uses_with(x):
    with Money(x) as five:
        return five * x


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (Money(x) + Money(x * x)).amount,
        lambda x: Money(x).doubled * x,
        lambda x: Money(x)[3.0] * x,
        lambda x: Money(x).squared,
        lambda x: Money(x).tripled * x,
        lambda x: Money(x)(x),
        uses_with,
        lambda x: sum(Money(x)),
        lambda x: len(Money(x)) * x * x,
        lambda x: x * x if 1.0 in Money(x) else x * 5.0,
        lambda x: min(Money(x), Money(x * x)).amount * x,
        lambda x: np.sum(cached_factor(3)) * x,
        lambda x: WithDescriptor(3.0).scaled(x) * x,
        lambda x: WithDescriptor(x).scaled(x),
    ],
)
def test_12_user_protocols(f):
    for x in (0.5, 2.0):
        right(f, x)


def test_12_what_a_cached_property_keeps_is_plain():
    m = Money(3.0)
    assert grad(lambda x: x * m.tripled)(2.0) == 9.0
    assert is_plain(m.tripled)

    class Cached:
        @functools.cached_property
        def value(self):
            return self.x * 2.0

    c = Cached()

    def f(x):
        c.x = x
        return c.value * x

    assert grad(f)(2.0) == 8.0  # cached_property is not the user's code: what it keeps
    assert type(c.x) is float and np.asarray(c.value) == 4.0  # acts as its value from now on
    assert grad(f)(3.0) == 4.0 and f(3.0) == 12.0


# 13  A source file edited after import ------------------------------------------------------------


def test_13_an_edited_source_file(tmp_path):
    module = loaded(tmp_path, "srcgrad_edited", "def f(x):\n    return x * x\n")
    path = tmp_path / "srcgrad_edited.py"
    path.write_text("def f(x):\n    return x * x * x + helper(x)\n", encoding="utf-8")
    linecache.checkcache(str(path))
    assert grad(module.f)(3.0) == 6.0
    path.write_text("# nothing\n\n\ndef f(x): return 100.0 * x\n", encoding="utf-8")
    linecache.checkcache(str(path))
    assert grad(module.f)(3.0) == 6.0
    path.unlink()
    linecache.checkcache(str(path))
    assert grad(module.f)(4.0) == 8.0


def test_13_functions_without_a_source():
    names = {"np": np}
    exec("def f(x):\n    return np.sum(np.sin(x) * x)\n", names)
    right(names["f"], x3)
    f = eval("lambda x: x * x")
    right(f, 3.0)


# 16  Subclasses -----------------------------------------------------------------------------------


class Meters(np.ndarray):
    def __array_finalize__(self, obj):
        self.unit = "m"


def test_16_subclasses(tmp_path):
    refused(lambda x: np.sum(x), np.ones(2).view(Meters), match="Meters")
    refused(lambda x: np.sum(x), np.ma.masked_array([1.0], [True]), match="MaskedArray")
    m = np.ones(3).view(Meters)
    refused(lambda x: np.sum(x * m), x3, match="Meters")
    refused(lambda x: np.sum(m * x), x3, match="Meters")
    refused(lambda x: np.sum(np.multiply(m, x)), x3, match="Meters")
    masked = np.ma.masked_array(x3, [True, False, False])
    refused(lambda x: np.sum(masked * x), x3, match=None)
    refused(lambda x: np.sum(x * masked), x3, match=None)
    refused(lambda x: np.ma.sum(x), x3, match=None)
    mapped = np.memmap(tmp_path / "data", float, "w+", shape=(3,))
    mapped[:] = x3
    found = grad(lambda x: np.sum(x * x))(mapped)
    assert type(found) is np.ndarray and found.tolist() == (2 * x3).tolist()
    right(lambda x: np.sum(x * mapped), x3)


# 17  errstate -------------------------------------------------------------------------------------


def test_17_errstate():
    def f(x):
        with np.errstate(divide="ignore"):
            return np.sum(np.where(x > 1.0, np.log(x - 1.0 + (x <= 1.0)), 0.0))

    right(f, x3)

    def raises(x):
        with np.errstate(all="raise"):
            return np.sum(1.0 / x)

    with pytest.raises(FloatingPointError):
        grad(raises)(np.array([0.0, 1.0]))
    right(raises, x3)


# 18, 19  Keyword arguments ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(a=x),
        lambda x: np.mean(a=x * x, axis=0),
        lambda x: np.clip(a=x, a_min=0.7, a_max=2.0).sum() ** 2,
        lambda x: np.dot(a=x, b=x),
        lambda x: np.linalg.norm(x=x),
        lambda x: np.where(x > 1, x, x**2).sum(),
        lambda x: np.sum(np.transpose(a=np.outer(a=x, b=x))[0] * x),
        lambda x: np.sum(x * x, where=np.array([True, False, True])),
        lambda x: np.sum(x * x, initial=5.0),
        lambda x: np.sum(x * x, initial=x[0]),
        lambda x: np.prod(x, initial=x[0]),
        lambda x: np.sum(x * x, dtype=np.float64),
        lambda x: np.sum(np.sum(np.outer(x, x), axis=(0, 1)) ** 2),
        lambda x: np.sum(np.sum(np.outer(x, x), axis=-1, keepdims=True) * x),
        lambda x: np.var(x, ddof=1),
        lambda x: np.std(x, ddof=1, axis=0),
        lambda x: np.max(x, initial=2.0) * x[0],
        lambda x: np.max(x, where=np.array([True, True, False]), initial=0.0),
        lambda x: np.mean(x * x, where=np.array([True, True, False])),
        lambda x: np.exp(x, dtype=np.float64).sum(),
        lambda x: np.sin(x, where=True).sum(),
        lambda x: np.sum(np.multiply(x, x, casting="same_kind")),
        lambda x: np.add.reduce(x, axis=0) ** 2,
        lambda x: np.multiply.reduce(x, axis=None),
        lambda x: np.multiply.outer(x, x).sum() ** 2,
        lambda x: np.add.accumulate(x, axis=0)[1] ** 2,
        lambda x: np.logaddexp.reduce(x),
        lambda x: np.subtract.reduce(x) ** 2,
        lambda x: np.take(x, [0, 5], mode="clip").sum() ** 2,
        lambda x: np.sum(np.pad(x, 1, mode="edge") ** 2),
        lambda x: np.sum(np.pad(x, 1, constant_values=3.0) ** 2),
        lambda x: np.average(x, weights=x),
        lambda x: np.sum(np.cross(x, x[::-1], axisa=0) ** 2),
        lambda x: np.quantile(x, 0.3, method="lower") ** 2,
        lambda x: np.sum(np.diff(x, n=2, prepend=x[0]) ** 2),
        lambda x: np.linalg.norm(np.outer(x, x), ord="fro", axis=(0, 1)),
        lambda x: np.sum(np.reshape(x, (3, 1), order="F") ** 2),
        lambda x: np.sum(np.sort(x, kind="stable")[1:] ** 2),
        lambda x: np.sum(np.unwrap(x, period=1.0) ** 2),
        lambda x: np.sum(np.convolve(x, x, mode="same")),
        lambda x: np.trapezoid(x * x, x=x),
        lambda x: np.einsum("i,i->", x, x, optimize=True),
        lambda x: np.sum(np.tensordot(x, x, axes=0)),
        lambda x: np.matmul(x, x, dtype=np.float64),
    ],
)
def test_18_and_19_keywords(f):
    right_or_refused(f, x3)


def test_19_an_argument_that_a_rule_does_not_know_is_an_error():
    @srcgrad.primitive
    def shifted(x, by=0.0):
        return x + by

    srcgrad.defvjp(shifted)(lambda g, out, x: g)
    right(lambda x: np.sum(shifted(x)), x3)
    refused(lambda x: np.sum(shifted(x, by=2.0)), x3, match="'by'.*test_traps")


# 20  Two helpers of one name ----------------------------------------------------------------------


def test_20_two_helpers_of_the_same_name(tmp_path):
    a = loaded(tmp_path, "srcgrad_a", "k = 2.0\ndef helper(x):\n    return x * k\n")
    b = loaded(tmp_path, "srcgrad_b", "k = 3.0\ndef helper(x):\n    return x * k\n")
    f = lambda x: a.helper(x) * b.helper(x) * b.helper(x)  # noqa: E731
    right(f, 2.0)
    assert grad(lambda x: a.helper(x))(1.0) == 2.0
    assert grad(lambda x: b.helper(x))(1.0) == 3.0
    assert (grad(a.helper)(1.0), grad(b.helper)(1.0)) == (2.0, 3.0)


# 21, 22  Repeated indices, broadcast scalars ------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x[[0, 0, 1]] ** 2),
        lambda x: np.sum(x[np.array([0, 0, 0])] * x),
        lambda x: np.sum(np.take(x, [2, 2])) ** 2,
        lambda x: np.sum(np.outer(x, x)[[0, 0], [1, 1]]),
        lambda x: np.sum(x[np.array([[0, -3], [1, -2]])] ** 2),
        lambda x: np.sum(x[np.zeros(5, int)]) ** 2,
        lambda x: np.sum(np.take_along_axis(x, np.array([1, 1]), 0) ** 2),
        lambda x: np.sum(np.choose([0, 0, 1], [x, x * x])),
    ],
)
def test_21_repeated_indices(f):
    right(f, x3)


A = np.arange(1.0, 7.0).reshape(2, 3)


@pytest.mark.parametrize(
    "s", [2.5, np.float64(2.5), np.array(2.5), np.array([2.5]), np.array([[2.5]])]
)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x / A),
        lambda x: np.sum(A / x),
        lambda x: np.sum(x**A),
        lambda x: np.sum(A**x),
        lambda x: np.sum(np.multiply(x, A)),
        lambda x: np.sum(A - x),
        lambda x: np.sum(np.maximum(x, A) * np.arctan2(x, A)),
        lambda x: np.sum(np.where(A > 2.0, x, A)),
        lambda x: np.sum(np.logaddexp(x, A)),
        lambda x: np.sum(np.broadcast_to(x, (2, 3)) * A),
    ],
)
def test_22_a_scalar_broadcast(f, s):
    check_grads(f, (s,), order=2)
    found = grad(f)(s)
    assert np.shape(found) == np.shape(s)


# 23-28  State that changes between calls ----------------------------------------------------------

scale = 2.0
W = np.ones(3)
layers = [np.full(3, 2.0)]
config = {"power": 2, "on": True, "nested": {"k": 1.0}}


def helper(x):
    return x * scale


def reads_everything(x, k=np.full(1, 5.0)):
    out = helper(x) * W * config["nested"]["k"]
    for layer in layers:
        out = out * layer
    if config["on"]:
        out = out ** config["power"]
    return np.sum(out) * k[0]


def test_23_and_25_to_27_nothing_is_stale(monkeypatch):
    here = sys.modules[__name__] if __name__ in sys.modules else None
    names = reads_everything.__globals__
    g = grad(reads_everything)

    def check():
        found = g(x3)
        a = names["scale"] * W * config["nested"]["k"] * np.prod(layers, axis=0)
        if names["helper"] is not original:
            a = a / names["scale"] * 7.0
        p = config["power"] if config["on"] else 1
        k = reads_everything.__defaults__[0][0]
        np.testing.assert_allclose(found, k * p * (a * x3) ** (p - 1) * a)

    original = names["helper"]
    check()
    monkeypatch.setitem(names, "scale", 3.0)  # a global rebound
    check()
    W[1] = 10.0  # an array changed in place
    check()
    monkeypatch.setitem(config["nested"], "k", 4.0)  # an entry
    check()
    monkeypatch.setitem(config, "power", 3)  # an int
    check()
    monkeypatch.setitem(config, "on", False)  # a branch on it
    check()
    layers.append(np.full(3, 3.0))  # a list that grows
    check()
    layers[0][:] = 0.5
    check()
    reads_everything.__defaults__[0][0] = 7.0  # a default changed in place
    check()
    monkeypatch.setitem(names, "helper", lambda x: x * 7.0)  # a helper replaced
    check()
    assert here is None or here.scale == names["scale"] or True
    del layers[1:]
    layers[0][:] = 2.0
    W[1] = 1.0
    reads_everything.__defaults__[0][0] = 5.0


def test_23_cells_and_attributes():
    k, w = 2.0, np.ones(3)

    class Model:
        bias = 1.0

    model = Model()

    def f(x):
        return np.sum(x * x * w) * k * model.bias

    g = grad(f)

    def check():
        np.testing.assert_allclose(g(x3), 2 * x3 * w * k * model.bias)

    check()
    k = 5.0
    check()
    w[0] = 9.0
    check()
    w = np.full(3, 4.0)
    check()
    model.bias = 7.0
    check()
    Model.bias = 100.0
    del model.bias
    check()


def test_24_arithmetic_on_captured_arrays_alone():
    w = np.ones(3)

    def f(x):
        m = w * 2.0
        c = m + 1.0
        return np.sum(x * c)

    g = grad(f)
    assert g(x3).tolist() == [3.0] * 3
    w[:] = 5.0
    assert g(x3).tolist() == [11.0] * 3


def test_25_a_method_replaced():
    class Model:
        def act(self, x):
            return x * x

    m = Model()
    g = grad(lambda x: m.act(x))
    assert g(3.0) == 6.0
    Model.act = lambda self, x: x * 10.0
    assert g(3.0) == 10.0
    m.act = lambda x: x * 20.0
    assert g(3.0) == 20.0


def test_28_another_broadcasting_pattern_of_the_same_shapes():
    g = grad(lambda x, y: np.sum(x * y), (0, 1))
    for a, b in [((2, 1), (2, 3)), ((2, 3), (2, 1)), ((1, 1), (2, 3)), ((3,), (2, 3)), ((2, 3), ()),
                 ((1, 3), (2, 1)), ((2, 1), (2, 3)), ((2, 2), (2, 2))]:  # fmt: skip
        x, y = np.random.default_rng(0).normal(size=a), np.random.default_rng(1).normal(size=b)
        check_grads(lambda x, y: np.sum(x * y), (x, y), order=2)
        dx, dy = g(x, y)
        assert dx.shape == a and np.shape(dy) == b


# 29, 37  Dtypes -----------------------------------------------------------------------------------


def test_29_float32_after_float64():
    g = grad(lambda x: np.sum(np.exp(x) * 2.0 + x**2 / 3.0))
    for dtype in (np.float64, np.float32, np.float16, np.longdouble, np.float64, np.float32):
        found = g(x3.astype(dtype))
        assert found.dtype == dtype
        expected = np.exp(x3.astype(dtype)) * 2 + 2 * x3.astype(dtype) / 3
        eps = np.finfo(np.float64 if dtype is np.longdouble else dtype).eps
        np.testing.assert_allclose(found, expected, rtol=20 * float(eps))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x * 2.0),
        lambda x: np.mean(x),
        lambda x: np.sum(x) * np.pi,
        lambda x: np.sum(x @ np.ones((3, 3), x.dtype)),
        lambda x: np.std(x) + np.var(x),
        lambda x: np.linalg.norm(x.astype(np.float32)),
        lambda x: np.sum(np.where(x > 1.0, x, 0.0)),
        lambda x: np.sum(np.clip(x, 0.0, 1.0)),
        lambda x: np.sum(x[[0, 0, 1]]),
        lambda x: np.prod(x),
        lambda x: np.sum(np.tanh(x) ** 3),
        lambda x: np.sum(1.0 / x),
    ],
)
def test_37_no_step_of_the_backward_pass_is_wider_than_it_need_be(f, dtype):
    x = x3.astype(dtype)
    g = grad(f)
    assert g(x).dtype == dtype
    spec = g.specializations[-1]
    wide = [v for s in spec.program.trace.steps for v in s.outs if v.dtype == np.float64]
    assert wide == [], g.adjoint_source


# 30  Threads --------------------------------------------------------------------------------------


def test_30_two_threads_at_once():
    errors = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(30):
            n = int(rng.integers(1, 4))
            x = rng.normal(size=n)
            k = float(rng.normal())
            found = grad(lambda x: np.sum(np.sin(x * k)))(x)
            if not np.allclose(found, k * np.cos(x * k)):
                errors.append(seed)
            with GradientTape() as t:
                y = t.watch(x)
                z = np.sum(y * y * k)
            if not np.allclose(t.gradient(z, y).numpy(), 2 * x * k):
                errors.append(seed)

    srcgrad.clear_cache()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []


# 31-36  The meaning of Python and NumPy -----------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum((-2.0) ** np.floor(x) * x),
        lambda x: np.sum(-(2.0**x)),
        lambda x: np.sum(-(x**2)),
        lambda x: np.sum((-x) ** 2),
        lambda x: np.sum((-2.0 * x) ** 2 - -x),
        lambda x: np.sum((x**2) ** 3) - np.sum(x ** (2**2)),
        lambda x: np.sum(x - (x - (x - 1.0))) / (2.0 / (3.0 / 4.0)),
        lambda x: np.sum(-x @ -x) - -3.0,
    ],
)
def test_31_precedence(f):
    right(f, x3)
    source = grad(f)
    source(x3)
    for spec in source.specializations:
        np.testing.assert_allclose(spec.function(x3), grad(f)(x3))


def test_32_a_negative_base():
    f = lambda x: ((-x) ** 0.5).imag * 1.0  # noqa: E731
    plain = f(4.0)  # Python: a complex number
    value, gradient = value_and_grad(f)(4.0)
    assert value == plain == 2.0
    np.testing.assert_allclose(gradient, 0.25)
    with np.errstate(invalid="ignore"):
        assert np.isnan(grad(lambda x: (-x) ** 0.5 + 0.0)(np.float64(4.0)))


def test_33_maximum_and_nan():
    nan = np.array([1.0, np.nan, 3.0])
    for f in (
        lambda x: np.sum(np.maximum(x, 2.0)),
        lambda x: np.sum(np.fmax(x, 2.0)),
        lambda x: np.max(x),
        lambda x: np.nanmax(x),
        lambda x: max(x[0], x[2]),
    ):
        value, _ = value_and_grad(f)(nan)
        np.testing.assert_array_equal(value, f(nan))
    assert max(math.nan, 1.0) is not None
    right(lambda x: max(x, 2.0) * x, 3.0)
    right(lambda x: max(2.0, x, 1.0) * min(x, 5.0), 3.0)
    assert np.isnan(value_and_grad(lambda x: max(x, 1.0))(math.nan)[0])
    with pytest.warns(srcgrad.UnconnectedGradientWarning):
        assert value_and_grad(lambda x: max(1.0, x))(math.nan)[0] == 1.0


def test_34_rounding():
    for f in (
        lambda x: math.floor(x) * x,
        lambda x: math.ceil(x) * x,
        lambda x: round(x) * x,
        lambda x: round(x, 1) * x,
        lambda x: int(x) * x,
        lambda x: x // 1.0 * x,
        lambda x: x % 1.0 * x,
        lambda x: np.floor(x) * x,
        lambda x: math.trunc(x) * x,
        lambda x: divmod(x, 2.0)[0] * x,
    ):
        for x in (2.7, -2.7, 0.3):
            right(f, x)
    assert math.copysign(1.0, value_and_grad(lambda x: np.floor(x) + x * 0.0)(-0.0)[0]) == -1.0
    assert type(value_and_grad(lambda x: round(x) * 1.0 * x)(2.7)[0]) is float


def test_35_ints():
    right(lambda x: x * 2**-1, 3.0)
    right(lambda x: x * (10**30 // 10**29), 3.0)
    right(lambda x: x**-2, 3.0)
    refused(lambda x: np.sum(x * np.arange(3) ** -1), x3, match="[Ii]ntegers to negative")
    n = np.array([1, 2, 3])
    right(lambda x: np.sum(x**n * n), x3)
    right(lambda x: np.sum(n / x + x // n), x3)


def test_36_a_branch_is_taken_as_in_the_plain_call():
    f = lambda x: x * 2.0 if math.sin(x) == np.sin(x) else x * 3.0  # noqa: E731
    for x in np.linspace(0.1, 3.0, 50):
        assert value_and_grad(f)(float(x))[0] == f(float(x))


def test_scalars_keep_their_meaning():
    with pytest.raises(ZeroDivisionError):
        grad(lambda x: 1.0 / (x - 2.0))(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isinf(value_and_grad(lambda x: 1.0 / (x - 2.0))(np.float64(2.0))[0])
    with pytest.raises(ValueError, match="math domain|nonnegative"):
        grad(lambda x: math.sqrt(-x))(2.0)
    with pytest.raises(OverflowError):
        grad(lambda x: math.exp(x * 1000.0))(2.0)
    value, _ = value_and_grad(lambda x: x * 2.0)(np.float32(1.5))
    assert type(value) is np.float32
    value, _ = value_and_grad(lambda x: x * np.float64(2.0))(np.float32(1.5))
    assert type(value) is np.float64


# 38  Signed zeros, 1 and True ---------------------------------------------------------------------


def test_38_equal_constants_that_are_not_the_same():
    g = lambda k: grad(lambda x: np.arctan2(x * k, -1.0) * x)(2.0)  # noqa: E731
    for _ in range(2):
        np.testing.assert_allclose([g(0.0), g(-0.0)], [np.pi, -np.pi])
    h = lambda k: value_and_grad(lambda x: np.copysign(x, k))(2.0)  # noqa: E731
    for _ in range(2):
        assert (h(0.0), h(-0.0)) == ((2.0, 1.0), (-2.0, -1.0))

    def f(x):
        return np.sum(np.copysign(x, 0.0) + 3.0 * np.copysign(x, -0.0))

    assert grad(f)(x3).tolist() == [-2.0] * 3
    m = np.array([[1.0, 2.0], [3.0, 4.0]])
    for key, expected in [(1, [[0, 0], [1, 1]]), (True, [[1, 1], [1, 1]]), (1, [[0, 0], [1, 1]])]:
        assert grad(lambda x: np.sum(x[key]))(m).tolist() == expected
    for k in (1, 1.0, True, 2, 2.0):
        value, _ = value_and_grad(lambda x: x * k)(np.float32(3.0))
        assert type(value) is np.float32 and value == 3.0 * k
    a, b = value_and_grad(lambda x: (x > 0) * 1 + x)(2.0)
    assert (a, b) == (3.0, 1.0)


# 39, 40  Aliases ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x),
        lambda x: np.sum(x * 1.0),
        lambda x: np.sum(x + W),
        lambda x: np.sum(W * x),
        lambda x: np.sum(x * x) / 2.0,
        lambda x: np.mean(np.broadcast_to(x, (4, 3))),
        lambda x: x[0] + x[1] + x[2],
        lambda x: np.sum(x.T[::-1]),
        lambda x: np.dot(W, x),
        lambda x: np.sum(np.transpose(np.tile(x, (2, 1)))),
    ],
)
def test_40_results_belong_to_the_caller(f):
    x, before = x3.copy(), W.copy()
    for _ in range(3):
        value, g = value_and_grad(f)(x)
        assert g.flags.writeable and 0 not in g.strides
        assert not np.shares_memory(g, x) and not np.shares_memory(g, W)
        expected = g.copy()
        g[...] = 77.0
        again = grad(f)(x)
        np.testing.assert_array_equal(again, expected)
    assert x.tolist() == x3.tolist() and W.tolist() == before.tolist()


def test_40_two_results_are_two_arrays():
    a, b = grad(lambda x, y: np.sum(x + y), (0, 1))(x3, x3)
    a[0] = 5.0
    assert b[0] == 1.0
    d = grad(lambda p: np.sum(p["a"] + p["b"]))({"a": x3, "b": x3})
    assert not np.shares_memory(d["a"], d["b"])
    v, w = Variable(x3), Variable(x3)
    with GradientTape() as t:
        y = np.sum(v + w)
    dv, dw = t.gradient(y, [v, w])
    assert not np.shares_memory(dv.value, dw.value)
    value, aux = grad(lambda x: (np.sum(x), x), has_aux=True)(x3)
    assert aux is not None and not np.shares_memory(value, x3)


def test_40_the_same_array_passed_twice():
    x = x3.copy()
    a, b = grad(lambda x, y: np.sum(x * y * y), (0, 1))(x, x)
    np.testing.assert_allclose(a, x * x)
    np.testing.assert_allclose(b, 2 * x * x)


# 41  Gradients next to ints -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x * np.array([1, 2, 3])),
        lambda x: np.sum(np.where([True, False, True], x, 0)),
        lambda x: np.sum(np.maximum(x, 1)),
        lambda x: np.sum(np.concatenate([x * 0.3, [1, 2]]) ** 2),
        lambda x: np.sum(np.stack([x, np.arange(3)]) ** 2),
        lambda x: np.dot(np.array([1, 2, 3]), x),
        lambda x: np.sum(np.full(3, 2) ** x),
        lambda x: np.sum(np.arange(3) * x[0]) / 3,
        lambda x: np.sum(np.clip(x, 1, 2)),
    ],
)
def test_41_integer_operands_truncate_nothing(f):
    right(f, x3)


def test_41_integer_leaves():
    found = grad(lambda p: np.sum(p[0] * p[1]) * p[2])([x3, np.arange(3), 2])
    assert found[0].tolist() == [0.0, 2.0, 4.0] and found[1] is None and found[2] is None


# 42  Folding that loses a shape -------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x * 0 + 1.0) * x[0],
        lambda x: np.sum(x - x + 2.0) * x[0],
        lambda x: np.sum(np.zeros_like(x) + x[0]),
        lambda x: np.sum(x[0] + np.zeros((2, 3))),
        lambda x: np.sum(x**0) * x[0],
        lambda x: np.sum(np.ones(3) * x[0] * 1.0),
        lambda x: np.sum(x[:1] + np.zeros(3)),
        lambda x: np.sum(0.0 * x) + x[0],
        lambda x: np.sum(np.broadcast_to(x[0], (2, 2))),
        lambda x: np.sum(np.abs(x) * np.sign(x) * np.ones((2, 1))),
    ],
)
def test_42_shapes_are_kept(f):
    right(f, x3)


# 43  Rules where they are not wanted --------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (lambda x: np.sum(x**2), [-2.0, 3.0], [-4.0, 6.0]),
        (lambda x: np.sum(x**3.0), [-2.0, 0.0], [12.0, 0.0]),
        (lambda x: np.sum(np.power(x, np.array([2.0, 1.0]))), [-2.0, 0.0], [-4.0, 1.0]),
        (lambda x: np.sum(np.where(x > 0, np.sqrt(np.abs(x)), 0.0)), [-4.0, 4.0], [0.0, 0.25]),
        (
            lambda x: np.sum(np.where(x > 0, x / np.where(x > 0, x, 1.0), 0.0)),
            [0.0, 4.0],
            [0.0, 0.0],
        ),
        (lambda x: np.sum(np.where(x != 0, x, 1.0) ** 2), [0.0, 4.0], [0.0, 8.0]),
        (lambda x: np.sum(np.abs(x)), [0.0, -4.0], [0.0, -1.0]),
        (lambda x: np.sum(np.maximum(x, 0.0)), [-1.0, 2.0], [0.0, 1.0]),
        (lambda x: np.hypot(x[0], x[1]), [0.0, 0.0], [0.0, 0.0]),
        (lambda x: np.sum(np.sinc(x)), [0.0, 0.0], [0.0, 0.0]),
        (lambda x: np.prod(x), [0.0, 5.0], [5.0, 0.0]),
    ],
)
def test_43_no_warning_that_the_plain_call_does_not_give(f, x, expected):
    x = np.array(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(x)
        for _ in range(3):
            np.testing.assert_allclose(grad(f)(x), expected, atol=0)
        np.testing.assert_allclose(elementwise_grad(lambda x: f(x) * 1.0)(x), expected, atol=0)


def test_43_where_selects():
    f = lambda x: np.sum(np.where(x > 0, np.log(x), 0.0))  # noqa: E731
    with np.errstate(all="ignore"):
        for _ in range(2):
            found = grad(f)(np.array([-1.0, 0.0, 2.0]))
            assert found.tolist() == [0.0, 0.0, 0.5]
        h = lambda x: np.sum(np.where(x > 0, np.sqrt(x), x * 0.0))  # noqa: E731
        assert grad(h)(np.array([0.0, 4.0])).tolist() == [0.0, 0.25]
        second = grad(lambda x: np.sum(grad(f)(x)))(np.array([-1.0, 0.0, 2.0]))
        assert second.tolist() == [0.0, 0.0, -0.25]


# 44  Perturbation confusion: tests/test_functions.py has the table


def test_44_perturbation_confusion():
    assert grad(lambda x: x * grad(lambda y: x + y)(1.0))(1.0) == 1.0
    x = constant(1.0)
    with GradientTape() as t:
        t.watch(x)
        z = x * grad(lambda y: x + y)(1.0)
    assert t.gradient(z, x).numpy() == 1.0


# 48  Values at the edges --------------------------------------------------------------------------

inf, nan = np.inf, np.nan
EDGES = [
    (lambda x: np.linalg.norm(x), [0.0, 0.0], [0.0, 0.0]),
    (lambda x: np.std(x), [2.0, 2.0], [0.0, 0.0]),
    (lambda x: np.hypot(*x), [0.0, 0.0], [0.0, 0.0]),
    (lambda x: np.sum(np.sqrt(x)), [0.0, 4.0], [inf, 0.25]),
    (lambda x: np.sum(np.abs(x)), [0.0, -0.0], [0.0, 0.0]),
    (lambda x: np.sum(x**0), [0.0, 2.0], [0.0, 0.0]),
    (lambda x: np.sum(x**0.0), [0.0, -2.0], [0.0, 0.0]),
    (lambda x: np.sum(x**2.0), [0.0, 0.0], [0.0, 0.0]),
    (lambda x: np.sum(x**1), [0.0, 0.0], [1.0, 1.0]),
    (lambda x: np.sum(x**0.5), [0.0, 4.0], [inf, 0.25]),
    (lambda x: np.sum(0.0**x), [2.0, 1.0], [0.0, 0.0]),
    (lambda x: np.prod(x), [0.0, 3.0, 4.0], [12.0, 0.0, 0.0]),
    (lambda x: np.prod(x), [0.0, 0.0, 4.0], [0.0, 0.0, 0.0]),
    (lambda x: np.sum(np.cumprod(x)), [2.0, 0.0, 4.0], [1.0, 10.0, 0.0]),
    (lambda x: np.max(x), [1.0, 3.0, 3.0], [0.0, 0.5, 0.5]),
    (lambda x: np.min(x), [1.0, 1.0, 3.0], [0.5, 0.5, 0.0]),
    (lambda x: np.sum(np.maximum(x, 3.0)), [1.0, 3.0], [0.0, 0.5]),
    (lambda x: np.sum(np.minimum(x, x)), [1.0, 3.0], [1.0, 1.0]),
    (lambda x: np.sum(np.fmin(x, 3.0)), [3.0, nan], [0.5, 0.0]),
    (lambda x: np.sum(np.sort(x) * np.array([1.0, 2.0])), [3.0, 3.0], [1.0, 2.0]),
    (lambda x: np.median(x), [3.0, 3.0, 3.0], [0.0, 1.0, 0.0]),
    (lambda x: np.sum(np.sinc(x)), [0.0, 1.0], [0.0, -1.0]),
    (lambda x: np.logaddexp(x[0], x[1]), [-inf, -inf], None),
    (lambda x: np.logaddexp(x[0], x[1]), [inf, 1.0], [1.0, 0.0]),
    (lambda x: np.logaddexp(x[0], x[1]), [-inf, 1.0], [0.0, 1.0]),
    (lambda x: np.linalg.det(np.reshape(x, (2, 2))), [1.0, 2.0, 2.0, 4.0], [4.0, -2.0, -2.0, 1.0]),
    (lambda x: np.sum(np.clip(x, 0.0, 1.0)), [0.0, 1.0, 2.0], [1.0, 1.0, 0.0]),
    *(
        (f, [nan, 2.0], [0.0, 4.0])
        for f in (lambda x: np.sum(np.where(np.isnan(x), 0.0, x * x)), lambda x: np.nansum(x * x))
    ),
    (lambda x: np.sum(np.sign(x) * x), [0.0, -2.0], [0.0, -1.0]),
    (lambda x: np.sum(np.arctan2(x, 0.0)), [1.0, 2.0], [0.0, 0.0]),
    (lambda x: np.var(x), [2.0, 2.0], [0.0, 0.0]),
    (lambda x: np.ptp(x), [1.0, 1.0, 3.0], [-0.5, -0.5, 1.0]),
    (lambda x: np.mean(np.round(x) + x), [0.5, 1.5], [0.5, 0.5]),
]


@pytest.mark.parametrize(("f", "x", "expected"), EDGES)
def test_48_edges(f, x, expected):
    with np.errstate(all="ignore"):
        for _ in range(2):
            found = grad(f)(np.array(x))
            if expected is None:
                assert np.all(np.isfinite(found))
            else:
                np.testing.assert_allclose(found, expected, atol=1e-14)


# 49  Shapes and layouts ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x * x),
        lambda x: np.sum(np.exp(x) * 2.0 + np.where(x > 0.4, x, 0.0)),
        lambda x: np.sum(np.sum(x, axis=0) ** 2) if x.ndim else x * x,
        lambda x: (
            np.sum(np.mean(x, axis=-1, keepdims=True) * x) if x.size and x.ndim else np.sum(x)
        ),
        lambda x: np.sum(x.reshape(-1) ** 3),
        lambda x: np.sum(x.T * x.T),
        lambda x: np.sum(x[..., None] * np.ones(2)),
        lambda x: np.sum(np.concatenate([np.ravel(x), np.ravel(x)]) ** 2),
    ],
)
@pytest.mark.parametrize(
    "x",
    [
        np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0)), np.array(2.0), np.ones((1,)),
        np.ones((1, 3)), np.ones((3, 1)), np.arange(6.0).reshape(2, 3).T,
        np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(12.0)[::2],
        np.arange(6.0)[::-1], np.arange(3.0).astype(">f8"), np.arange(3.0, dtype=np.longdouble),
        np.arange(3.0, dtype=np.float16), np.broadcast_to(np.arange(3.0), (2, 3)),
        np.arange(3.0).astype(">f4"),
    ],
    ids=lambda x: f"{x.dtype}{x.shape}",
)  # fmt: skip
def test_49_arrays_of_every_kind(f, x):
    before = x.copy()
    found = grad(f)(x)
    assert (found.dtype, found.shape) == (x.dtype, x.shape)
    assert found.flags.writeable and not np.shares_memory(found, x)
    check_grads(f, (x,), order=1)
    np.testing.assert_array_equal(x, before)


@dataclass
class State:
    total: object = 0.0


def test_states_in_dataclasses_stay_differentiable_during_the_run():
    state = State()

    def f(x):
        state.total = x * x
        return np.sum(state.total * x)

    right(f, x3)
    assert is_plain(state.total)


def test_outputs_that_are_arguments():
    for f in (lambda x: x, lambda x: +x, lambda x: np.asarray(x)):
        value, pull = vjp(f, x3)
        assert pull(np.ones(3))[0].tolist() == [1.0] * 3
        assert not np.shares_memory(value, x3)
