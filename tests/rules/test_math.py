"""Rules of Python's math module."""

from __future__ import annotations

import math

import pytest

import srcgrad

from ..cases import check, normal, row, table

V, W = normal(3), normal(3, seed=1)


def at(function, *points, order=2):
    """Write one row for each point, a number or a tuple of numbers."""
    rows = []
    for point in points:
        args = point if type(point) is tuple else (point,)
        rows.append(row(function, lambda *args: function(*args) * args[0], *args, order=order))
    return rows


ROWS = [
    *at(math.sin, 0.3, -2.0),
    *at(math.cos, 0.3, -2.0),
    *at(math.tan, 0.3, -1.0),
    *at(math.asin, 0.3, -0.8),
    *at(math.acos, 0.3, -0.8),
    *at(math.atan, 0.3, -2.0),
    *at(math.atan2, (0.3, -2.0), (-1.0, 0.5)),
    *at(math.sinh, 0.3, -2.0),
    *at(math.cosh, 0.3, -2.0),
    *at(math.tanh, 0.3, -2.0),
    *at(math.asinh, 0.3, -2.0),
    *at(math.acosh, 1.3, 4.0),
    *at(math.atanh, 0.3, -0.8),
    *at(math.exp, 0.3, -2.0),
    *at(math.exp2, 0.3, -2.0),
    *at(math.expm1, 0.3, -2.0),
    *at(math.log, 0.3, 2.0, (3.0, 2.5)),
    row(math.log, lambda x: math.log(x, 10) + math.log(10.0, x), 3.0),
    *at(math.log2, 0.3, 2.0),
    *at(math.log10, 0.3, 2.0),
    *at(math.log1p, 0.3, -0.5),
    *at(math.sqrt, 0.3, 2.0),
    *at(math.cbrt, 0.3, -2.0),
    *at(math.pow, (0.3, 2.5), (2.0, -1.0)),
    row(math.pow, lambda x: math.pow(x, 2) + math.pow(2, x) + math.pow(x, 0), -1.5),
    *at(math.hypot, (0.3, -2.0), (1.0, 2.0, 3.0), 0.5),
    row(math.hypot, lambda x: math.hypot(x, 3.0), 4.0),
    *at(math.fabs, 0.3, -2.0),
    *at(math.erf, 0.3, -2.0),
    *at(math.erfc, 0.3, -2.0),
    *at(math.gamma, 0.3, 2.5),
    *at(math.lgamma, 0.3, -2.5),
    *at(math.degrees, 0.3, -2.0),
    *at(math.radians, 0.3, -2.0),
    *at(math.copysign, (0.3, -2.0), (-1.0, -0.5)),
    *at(math.fmod, (7.3, -2.0), (-7.3, 0.5)),
    *at(math.remainder, (7.3, -2.0), (-7.3, 0.9)),
    row(math.ldexp, lambda x: math.ldexp(x, 3) * x, 0.3),
    row(math.ldexp, lambda x: math.ldexp(x, -2), -2.0),
    row(math.fsum, lambda x: math.fsum(x) ** 2, V),
    row(math.fsum, lambda x, y: math.fsum([x, 2.0, x * y]), 0.3, -2.0),
    row(math.prod, lambda x: math.prod(x), V),
    row(math.prod, lambda x, y, t: math.prod([x, 2.0, y * x], start=t), 0.3, -2.0, 1.5),
    row(math.prod, lambda x, y: math.prod((x, y, x)), 0.0, -2.0),
    row(math.dist, lambda p, q: math.dist(p, q), V, W),
    row(math.dist, lambda x, y: math.dist([x, y], (1.0, x * y)), 0.3, -2.0),
]

if hasattr(math, "sumprod"):
    ROWS += [
        row(math.sumprod, lambda p, q: math.sumprod(p, q), V, W),
        row(math.sumprod, lambda x, y: math.sumprod([x, y], [y, 2.0]), 0.3, -2.0),
    ]
if hasattr(math, "fma"):
    ROWS += at(math.fma, (0.3, -2.0, 1.5), (1.0, 2.0, 3.0))


@table(ROWS)
def test_math(row):
    check(row)


EDGES = [
    ("hypot", lambda x: math.hypot(x, 0.0), 0.0, 0),
    ("dist", lambda x: math.dist([x], [0.0]), 0.0, 0),
    ("fabs", lambda x: math.fabs(x), 0.0, 0),
    ("pow 0", lambda x: math.pow(x, 0), 0.0, 0),
    ("pow 1", lambda x: math.pow(x, 1), 0.0, 1),
    ("pow 2", lambda x: math.pow(x, 2), 0.0, 0),
    ("0 ** p", lambda p: math.pow(0.0, p), 2.0, 0),
    ("prod with a zero", lambda x: math.prod([x, 3.0, 2.0]), 0.0, 6),
    ("atan2 at 0", lambda x: math.atan2(x, 0.0), 0.0, 0),
]


@pytest.mark.parametrize(("f", "x", "expected"), [e[1:] for e in EDGES], ids=[e[0] for e in EDGES])
def test_edge(f, x, expected):
    assert srcgrad.grad(f)(x) == expected


STEPS = [math.floor, math.ceil, math.trunc, math.isfinite, math.isinf, math.isnan]


@pytest.mark.parametrize("f", STEPS)
def test_step_functions_add_nothing(f):
    assert srcgrad.grad(lambda x: f(x) + 3.0 * x)(0.3) == 3.0
    assert srcgrad.grad(lambda x: math.isclose(x, 0.3) + 3.0 * x)(0.3) == 3.0
