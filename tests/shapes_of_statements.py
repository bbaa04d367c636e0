"""More rows of `shapes`: loops, stores, statements and classes."""

from __future__ import annotations

import contextlib
import operator
from typing import NamedTuple

from .shapes import TABLE, helper, scale, shape

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
