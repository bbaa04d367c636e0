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
from inspect import currentframe
from typing import Any

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
        return late + x  # noqa: F821
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
    z: undefined_name  # noqa: F821, F842
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
