"""Rules of Python's operators on Python numbers, and of conversions."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import srcgrad

from ..cases import check, normal, row, table

V = normal(3)
Z, W = 0.7 - 1.2j, -0.3 + 0.4j

ROWS = [
    row(operator.add, lambda x, y: (x + y) ** 2, 0.3, -2.0),
    row(operator.add, lambda x: 1 + x, 0.3),
    row(operator.add, lambda z, w: (z + w) ** 2, Z, W),
    row(operator.sub, lambda x, y: (x - y) ** 2, 0.3, -2.0),
    row(operator.sub, lambda x: (1 - x) * x, 0.3),
    row(operator.mul, lambda x, y: x * y, 0.3, -2.0),
    row(operator.mul, lambda z, x: z * x, Z, 0.3),
    row(operator.truediv, lambda x, y: x / y, 0.3, -2.0),
    row(operator.truediv, lambda x: 1 / x + x / 3, 0.3),
    row(operator.truediv, lambda z, w: z / w, Z, W),
    row(operator.pow, lambda x, y: x**y, 0.3, -2.0),
    row(operator.pow, lambda x: x**2 + 2**x + x**0 + x**1 + x**-1, 0.3),
    row(operator.pow, lambda x: x**0.3, -2.0),
    row(operator.pow, lambda x, y: x**y, -2.0, 0.3),
    row(operator.pow, lambda z, w: z**w, Z, W),
    row(operator.pow, lambda y: (-2.0) ** y, 0.3),
    row(operator.mod, lambda x, y: x * (x % y), 7.3, -2.0),
    row(operator.mod, lambda x: x % 2 + 7 % x, 1.7),
    row(operator.neg, lambda x: -x * x, 0.3),
    row(operator.neg, lambda z: -z, Z),
    row(operator.pos, lambda x: (+x) ** 2, 0.3),
    row(operator.pos, lambda z: +z, Z),
    row(operator.abs, lambda x: abs(x) * x, -0.3),
    row(operator.abs, lambda z: abs(z), Z),
    row(operator.abs, lambda z: operator.abs(z) * z, Z),
    row(abs, lambda x: abs(x) ** 2, V),
    row(abs, lambda x: abs(x) ** 2, 2.0),
    row(pow, lambda x, y: pow(x, y), 0.3, -2.0),
    row(pow, lambda x: pow(x, 3), 0.3),
    row(float, lambda x: float(x[0]) ** 2, V),
    row(float, lambda x: float(x) ** 2, np.float64(0.3)),
    row(complex, lambda x: complex(x) ** 2 * 1j, 0.3),
    row(complex, lambda z: complex(z) ** 2, np.complex128(Z)),
    row(np.float64, lambda x: np.float64(x) ** 2, 0.3),
    row(np.float64, lambda x: np.float64(x * x), 0.3),
    row(np.float32, lambda x: np.float32(x) ** 2, 0.3, order=1),
    row(np.float16, lambda x: np.float16(x) ** 2, np.float16(0.3), order=1),
    row(np.longdouble, lambda x: np.longdouble(x) ** 2, 0.3),
    row(np.complex64, lambda x: np.abs(np.complex64(x) ** 2), np.float32(0.3), order=1),
    row(np.clongdouble, lambda x: np.clongdouble(x) ** 2 * 1j, 0.3),
    row(np.complex128, lambda x: np.complex128(x) ** 2 * 1j, 0.3),
]


@table(ROWS)
def test_operators(row):
    check(row)


EDGES = [
    ("abs", abs, 0.0, 0),
    ("x**0", lambda x: x**0, 0.0, 0),
    ("x**1", lambda x: x**1, 0.0, 1),
    ("x**2", lambda x: x**2, 0.0, 0),
    ("0**p", lambda p: 0.0**p, 2.0, 0),
    ("round", lambda x: round(x, 1) + 3 * x, 0.34, 3),
    ("floor division", lambda x: x // 0.2 + 3 * x, 0.34, 3),
    ("comparisons", lambda x: (x > 0) + (x <= 1) + 3 * x, 0.34, 3),
]


@pytest.mark.parametrize(("f", "x", "expected"), [e[1:] for e in EDGES], ids=[e[0] for e in EDGES])
def test_edge(f, x, expected):
    assert srcgrad.grad(f)(x) == expected


def test_x_to_the_y_at_zero():
    both = srcgrad.grad(lambda x, y: x**y, (0, 1))
    assert both(0.0, 2.0) == (0, 0)
    assert both(0.0, 1.0) == (1, 0)
    assert both(0.0, 0.0) == (0, 0)


def test_a_power_that_varies_between_calls():
    g = srcgrad.grad(lambda x, n: x**n, 0)
    for n in (2, 0, 1, 3, 0, 2):
        assert g(0.5, n) == n * 0.5 ** (n - 1)
