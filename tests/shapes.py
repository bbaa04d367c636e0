"""Functions in every shape that Python has, to be run as they are and instrumented.

Each is a row: the function, its arguments, and what comes out is compared. They are plain Python on
numbers, since what is tested is the language and not NumPy.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import currentframe
from typing import Any, NamedTuple

SHAPES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
COUNT = 0
TABLE = {"w": 2, "layers": [1, 2, 3]}
scale = 3
pow = 4  # hides a builtin


def shape(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the function below, to be called with `args`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        SHAPES.append((function, args))
        return function

    return register


def helper(x, y=1, *rest, k=2, **more):
    return x + y * k + sum(rest) + sum(more.values())


def traced_by(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return ("wrapped", function(*args, **kwargs))

    return wrapper


def twice(n):
    def decorate(function):
        return lambda *args: [function(*args) for _ in range(n)]

    return decorate


# Parameters ---------------------------------------------------------------------------------------


@shape(1, 2)
def positional(a, b):
    return a - b


@shape(1)
def default(a, b=scale, c=[1, 2]):
    return a + b + c[0]


@shape(1)
def keyword_only(a, *, b=2, c: int = 3) -> int:
    return a + b * c


@shape(1, 2)
def positional_only(a, /, b, *, c=4):
    return a + b * c if c else 0


@shape(1, 2)
def stars(*args, **kwargs):
    return args, kwargs, helper(*args, **{"k": 3}, z=4), helper(*args, *args)


@shape(3)
def named_call(x):
    return helper(y=x, x=1, **{"q": x})


@shape(2)
def mutable_default(x, seen={}):  # noqa: B006
    return len(seen) + x


# Names --------------------------------------------------------------------------------------------


@shape(5)
def global_read(x):
    return x * scale + TABLE["w"] + TABLE["layers"][1]


@shape(5)
def hidden_builtin(x):
    return x + pow


@shape(5)
def global_store(x):
    global COUNT
    COUNT = 0
    COUNT = COUNT + x
    COUNT += 1
    COUNT, y = COUNT * 2, 3
    first = COUNT = COUNT + y
    return COUNT, y, first


@shape(3)
def global_loop_variable(n):
    global COUNT
    for COUNT in range(n):
        pass
    with contextlib.nullcontext(n) as COUNT:
        pass
    return [(COUNT := i) for i in range(n)], COUNT


@shape(4)
def nonlocal_store(x):
    total = 0

    def add(v):
        nonlocal total
        total = total + v
        total += 1
        return total

    return add(x), add(x), total


def _counter():
    n = 0

    def step(by):
        nonlocal n
        n = n + by
        return n

    return step


@shape(2)
def escaping_closure(x):
    step = _counter()
    return step(x), step(x)


@shape(1)
def local_hides_global(x):
    scale = x
    return scale + (lambda scale: scale)(7)


@shape(1)
def unbound_local(x):
    try:
        return late + x
    except UnboundLocalError as error:
        return str(error)
    late = 1  # noqa


@shape(2)
def deleted_names(x):
    y, box = x, {"a": 1, "b": [1, 2]}
    del y, box["a"], box["b"][0]
    return box, "y" in locals()


@shape(2)
def frame_builtins(x):
    y = x + 1
    return eval("x + y"), sorted(n for n in locals() if n in ("x", "y")), "scale" in globals()


@shape(2)
def frame_functions(x):
    frames = sys._getframe(), inspect.currentframe(), (lambda: currentframe())()
    return [frame.f_code.co_name for frame in frames]


@shape(2)
def shadowed_frame_builtin(x):
    def vars(v):
        return v * 2

    return vars(x)


@shape()
def imports():
    import math
    import os.path as p
    from math import sqrt as root

    return math.floor(root(17.0)), p.basename("a/b")


@shape(1)
def constants(x):
    return __name__, __debug__, None, ..., x is True, 1_000, b"b", 2j


@shape(3)
def walrus(x):
    if (y := x + 1) > 2:
        return y, [z := i for i in range(y)], z
    return None


@shape(3)
def annotated(x):
    y: int = x + 1
    z: undefined_name  # noqa: F821
    box: dict[str, int] = {}
    box["a"]: int = y
    return box


# Functions in functions ---------------------------------------------------------------------------


@shape(2)
def lambdas_on_a_line(x):
    f, g, h = lambda a: a + x, lambda a: a * x, lambda a, b=x: a - b
    return f(5), g(5), h(5)


two, three = lambda x: x * 2 + scale, lambda x: x * 3 + scale
SHAPES.extend([(two, (1,)), (three, (1,)), (lambda x, *y, k=1: (x, y, k, scale), (1, 2))])
SHAPES.extend([(f, (2,)) for f in (lambda x: x + scale, lambda x: x - scale)])


@shape(2)
def nested(x):
    def outer(a, b=x * 2, *, c=helper(x)):
        def inner(d):
            return a + b + c + d + x

        return inner

    return outer(1)(2)


@shape(5)
def recursion(n):
    return 1 if n < 2 else n * recursion(n - 1)


@shape(5)
def local_recursion(n):
    def even(k):
        return k == 0 or odd(k - 1)

    def odd(k):
        return k != 0 and even(k - 1)

    return even(n), odd(n)


@shape(1, 2)
@traced_by
def wrapped(a, b):
    """Return a sum."""
    return a + b


@shape(3)
@twice(
    n=2,
)
def decorated_by_a_call(x):
    return x + scale


@shape(3)
def decorated_inside(x):
    @traced_by
    @twice(2)
    def f(y):
        return x + y

    return f(1)


@shape(3)
def late_binding(n):
    return [f() for f in [lambda: i for i in range(n)]], [(lambda k=i: k)() for i in range(n)]


@shape(3)
def partials(x):
    return functools.partial(helper, x, k=5)(2), functools.reduce(operator.add, [x, 1])


@shape(3)
def callbacks(x):
    return sorted([3, -1, 2], key=lambda v: v * x), list(map(helper, [1, 2])), max(1, x, key=abs)


@shape(3)
def immediate(x):
    return (lambda: x)(), [helper][0](x), {"f": helper}["f"](x), (helper if x else None)(x)


# Loops and comprehensions -------------------------------------------------------------------------


@shape(4)
def loops(n):
    out = []
    for i, (a, *b) in enumerate([(1, 2, 3)] * n):
        if i == 1:
            continue
        out.append((i, a, b))
        if i > 2:
            break
    else:
        out.append("else")
    while n:
        n -= 1
    else:
        out.append("done")
    return out


@shape([3, 1, 2])
def loop_targets(xs):
    box, holder = [0, 0], Holder(1)
    for box[0], holder.w in zip(xs, xs):  # noqa: B905
        box[1] += holder.w
    return box, holder.w


@shape(3)
def comprehensions(n):
    x = 10
    squares = [x * x for x in range(n) if x != 1]
    pairs = {(a, b) for a in range(n) for b in range(a)}
    table = {k: [v for v in range(k)] for k in range(n)}
    return x, squares, pairs, table, sum(i * scale for i in range(n))


@shape(3)
def comprehension_scope(n):
    scale = [scale for scale in range(n)]
    return scale, [[j for j in range(i)] for i in scale]


@shape(3)
def lazy_generator(n):
    squares = (i * i for i in range(n))
    return next(squares), list(squares)


@shape(4)
def generators(n):
    def count(k):
        for i in range(k):
            got = yield i
            if got:
                yield got
        return "end"

    def delegate(k):
        return (yield from count(k))

    g = delegate(n)
    return next(g), g.send(7), list(g)


def _numbers(n):
    yield from range(n)
    yield scale


@shape(2)
def generator_callee(n):
    return list(_numbers(n)), [*_numbers(1)], {**dict(a=n)}


# Stores -------------------------------------------------------------------------------------------


class Holder:
    def __init__(self, w):
        self.w = w
        self.__private = w * 2
        self.log = []

    def private(self):
        self.__private = self.__private + 1
        self.__private += 1
        return self.__private, [self.__private for _ in range(1)]

    @property
    def double(self):
        return self.w * 2

    @double.setter
    def double(self, value):
        self.w = value / 2

    def __getitem__(self, key):
        return key

    def __setitem__(self, key, value):
        self.log.append((key, value))

    def __call__(self, x):
        return x * self.w


@shape(3)
def attribute_stores(x):
    h = Holder(x)
    h.w = h.w + 1
    h.w += 1
    h.inner = Holder(0)
    h.inner.w = h.w
    h.double = 10
    h.a = h.b = h.w
    return h.w, h.inner.w, h.double, h.a, h.b, h.private(), h(2)


@shape(3)
def item_stores(x):
    a, h, t = [1, 2, 3], Holder(1), {"k": {"l": 1}}
    a[0] = x
    a[1:] = [x, x]
    a[-1] += 1
    t["k"]["l"] = t["k"]["l"] + x
    h[1:2, ..., ::3] = x
    h[0], h[1] = 5, 6
    return a, t, h.log, h[1:2], h[()]


@shape(3)
def store_order(x):
    log = []

    def note(v):
        log.append(v)
        return v

    box = {}
    ([box][note(0)])[note(1)] = note(2)
    return log, box


@shape([1, 2, 3])
def unpacking(xs):
    a, *b = xs
    (c, d), [e] = (1, 2), [3]
    f = g = a
    b[0], b[1] = b[1], b[0]
    return a, b, c, d, e, f, g, [*xs, *b], (*xs,), {**{"a": 1}, "b": 2}


@shape(5)
def augmented(x):
    x += 1
    x -= 2
    x *= 3
    x **= 2
    y = [1]
    z = y
    y += [x]
    return x, y, z is y


# Statements ---------------------------------------------------------------------------------------


@shape(0)
def exceptions(x):
    log = []
    try:
        1 / x
    except (ZeroDivisionError, ValueError) as error:
        log.append(type(error).__name__)
    else:
        log.append("else")
    finally:
        log.append("finally")
    try:
        raise KeyError("k") from ValueError("cause")
    except KeyError as error:
        log.append((str(error), str(error.__cause__)))
    return log


@shape(0)
def exception_groups(x):
    caught = []
    try:
        raise ExceptionGroup("g", [ValueError(x), TypeError(x)])
    except* ValueError as group:
        caught.append(len(group.exceptions))
    except* TypeError:
        caught.append("type")
    return caught


@shape(0)
def finally_returns(x):
    for _ in range(3):
        try:
            return helper(x)
        finally:
            x += 1


@contextlib.contextmanager
def _managed(value):
    yield value + 1


@shape(3)
def contexts(x):
    box = [0]
    with _managed(x) as a, _managed(a) as b:
        with contextlib.suppress(ZeroDivisionError):
            1 / 0
        with _managed(b) as box[0], contextlib.nullcontext((1, 2)) as (c, d):
            return a, b, box, c, d


class Point(NamedTuple):
    x: int
    y: int


def _matched(value):
    match value:
        case 0 | 1:
            return "small"
        case Point(x=0, y=y) if y > scale:
            return ("axis", y)
        case Point(x, y):
            return x, y
        case [first, *rest]:
            return first, rest
        case {"k": k, **others}:
            return k, others
        case str() as text:
            return text
        case operator.add:
            return "operator"
        case None:
            return "none"
        case _:
            return "other"


@shape(3)
def matches(x):
    values = [
        0,
        Point(0, 9),
        Point(1, 2),
        [1, 2, 3],
        {"k": 1, "z": x},
        "s",
        None,
        7.5,
        operator.add,
    ]
    return [_matched(v) for v in values]


@shape(3)
def f_strings(x):
    name = "y"
    return f"{x!r:>{x + 2}} {scale:.2f} {TABLE['w']}{{}} {x=} {helper(x)} {name!s}{x:{scale}d}"


@shape(3)
def asserts(x):
    assert x, f"never {x}"
    try:
        assert x > scale + 1, "small"
    except AssertionError as error:
        return str(error)


@shape(3)
def conditions(x):
    return 0 < x < scale + 1, not x, x and scale, x or 1, (1 if x else 2), x is None, x in TABLE


@shape(3)
def printing(x):
    import io

    out = io.StringIO()
    print("a", x, scale, sep="-", end="!", file=out)
    return out.getvalue()


# Classes ------------------------------------------------------------------------------------------


class Base:
    factor = 2

    def __init__(self, w=1):
        self.w = w

    def act(self, x):
        return x * self.w + self.factor

    @staticmethod
    def plain(x):
        return x + scale

    @classmethod
    def make(cls, w):
        return cls(w)

    @functools.cached_property
    def cached(self):
        return self.w + scale

    def __add__(self, other):
        return type(self)(self.w + other.w)


class _Derived(Base):  # its private names are mangled without the underscores
    def __init__(self, w):
        super().__init__(w)
        self.__own = [w]

    def act(self, x):
        return super().act(x) + super(_Derived, self).act(x) + self.__own[0] + self.__more(x)

    def __more(self, x, *, __k=3):
        def inner():
            return self.__own, __class__.__name__, __k

        return len(inner()[0]) + x

    @classmethod
    def make(cls, w):
        return super().make(w + 1)

    @property
    def private(self):
        return sum(v for v in self.__own)


Derived = _Derived


@shape(3)
def methods(x):
    a, b = Base(2), Derived(4)
    d = Derived.make(5)
    return a.act(x), b.act(x), d.w, Base.plain(x), b.private, (a + a).w, a.cached, Base.act(a, 1)


@dataclass
class Layer:
    w: int
    log: list[int] = field(default_factory=list)

    def __call__(self, x):
        self.log.append(x)
        return x * self.w

    def grown(self, **changes):
        return Layer(**{**vars(self), **changes})


@shape(3)
def dataclasses_(x):
    layers = [Layer(1), Layer(w=2)]
    for layer in layers:
        x = layer(x)
    return x, layers[1].log, layers[0].grown(w=7), layers[0] == Layer(1, [3])


@shape(3)
def local_class(x):
    shift = 10

    class Local(Base, metaclass=type):
        """A class in a function."""

        factor = x + shift
        table = [i * 2 for i in range(x)]
        __hidden = 5

        def act(self, y):
            self.__seen = y
            return super().act(y) + shift + self.__hidden + self.__seen

    return Local(2).act(x), Local.table, Local.__qualname__, Local.act.__qualname__, Local.__doc__


class Maker:
    def __getattr__(self, name):
        return lambda *args: (name, args)


@shape(1)
def dynamic_attributes(x):
    return Maker().anything(x), getattr(Maker(), "other")(x), Maker().a.__name__


@shape(1)
def long_chains(x):
    h = Holder(1)
    h.a = Holder(2)
    h.a.b = Holder(x)
    return h.a.b.w, h.a.b.double, h.a.b[h.a.w], h.a(x), h.a.b.log.count(1)


@shape(2)
def multi_line(x):
    return (
        str(x)
        .replace(
            "2",
            "3",
        )
        .join(["a", "b"])
    )


@shape(3)
def asynchronous_inside(x):
    import asyncio

    async def numbers(n):
        for i in range(n):
            yield i

    async def run():
        await asyncio.sleep(0)
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(asyncio.sleep, 0)
        return [i async for i in numbers(x)], [await _one() for _ in range(1)]

    async def _one():
        return scale

    return asyncio.run(run())
