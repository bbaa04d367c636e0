"""Rules of reductions, running sums and differences."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

from ..cases import check, complex_normal, normal, row, table, uniform

V, M, T = normal(4), normal(3, 4), normal(2, 3, 4)
ZV, ZM = complex_normal(4), complex_normal(3, 4)
P = uniform(0.5, 2.0, 3, 4)
F32 = M.astype(np.float32)
ZERO_D = np.array(0.7)
MASK = np.array([[True, False, True, True], [False, True, True, False], [True] * 4])
ROW_MASK = np.array([True, False, True, True])
ZEROS = np.array([[0.0, 2.0, 3.0, -1.5], [0.0, 1.0, 0.0, 4.0], [1.0, 0.5, -2.0, 3.0]])
NANS = np.where(MASK, M, np.nan)
WEIGHTS = uniform(0.5, 2.0, 4)
FORTRAN = np.asfortranarray(M)
EMPTY = np.zeros((0, 3))


def plain(function, x, /, **kwargs):
    """Write a row: `function` of `x` with keywords, squared so that the cotangent varies."""
    return row(function, lambda x: function(x, **kwargs) ** 2, x)


def everywhere(function, x=M, deep=T):
    """Write the rows that every reduction along axes has."""
    return [
        plain(function, x),
        plain(function, x, axis=0),
        plain(function, x, axis=-1, keepdims=True),
        plain(function, deep, axis=(0, -1)),
        plain(function, deep, axis=(2, 0), keepdims=True),
        plain(function, deep, axis=1),
        plain(function, deep, axis=(0, 1, 2), keepdims=True),
        plain(function, x, keepdims=True),
        plain(function, x.astype(np.float32), axis=1),
        plain(function, np.array(0.7)),
    ]


SUM_ROWS = [
    *everywhere(np.sum),
    plain(np.sum, M, axis=()),
    plain(np.sum, ZM, axis=0),
    plain(np.sum, FORTRAN, axis=0),
    plain(np.sum, M[::2, ::-1], axis=1),
    plain(np.sum, F32, dtype=np.float64),
    plain(np.sum, EMPTY, axis=0),
    plain(np.sum, M, axis=1, where=MASK),
    plain(np.sum, M, where=ROW_MASK),
    plain(np.sum, M, where=True),
    plain(np.sum, M, axis=0, initial=2.0),
    row(np.sum, lambda x, t: np.sum(x, axis=1, initial=t) ** 2, M, 0.5),
    row(np.sum, lambda x: x.sum(0, keepdims=True) * x, M),
    row(np.sum, lambda x: np.add.reduce(x) ** 2, M),
    *everywhere(np.mean),
    plain(np.mean, ZM, axis=0),
    plain(np.mean, F32, dtype=np.float64),
    plain(np.mean, M, axis=1, where=MASK),
    plain(np.mean, M, axis=(0, 1), where=ROW_MASK, keepdims=True),
    row(np.mean, lambda x: x.mean(-1) ** 2, T),
]

PROD_ROWS = [
    *everywhere(np.prod),
    plain(np.prod, M, axis=()),
    plain(np.prod, ZM, axis=0),
    plain(np.prod, ZEROS, axis=1),
    plain(np.prod, ZEROS, axis=0),
    plain(np.prod, np.array([0.0, 0.0, 2.0])),
    row(np.prod, lambda x: np.prod(x), ZEROS[:, :2], order=3),
    plain(np.prod, np.array([3.0])),
    plain(np.prod, EMPTY, axis=0),
    plain(np.prod, M, axis=1, where=MASK),
    plain(np.prod, M, axis=0, initial=2.0),
    row(np.prod, lambda x, t: np.prod(x, axis=1, initial=t), M, 0.5),
    row(np.prod, lambda x, t: np.prod(x, initial=t, where=MASK), M, 0.5),
]

EXTREMUM_ROWS = [
    *everywhere(np.max),
    *everywhere(np.min),
    plain(np.max, M, axis=1, where=MASK, initial=-9.0),
    plain(np.max, M, axis=0, initial=0.3),
    row(np.max, lambda x, t: np.max(x, axis=0, initial=t) ** 2, M, 0.3),
    row(np.min, lambda x, t: np.min(x, initial=t, where=MASK) ** 2, M, -9.0),
    row(np.max, lambda x: x.max() * x, V),
    row(np.min, lambda x: x.min(0) * x, M),
    plain(np.amax, M, axis=0),
    plain(np.amax, V),
    plain(np.amin, M, axis=-1, keepdims=True),
    plain(np.amin, V),
    *everywhere(np.ptp, deep=normal(2, 3, 4, seed=2)),
    *everywhere(np.median),
    plain(np.median, V),
    plain(np.median, normal(5)),
]

SPREAD_ROWS = [
    *everywhere(np.var),
    plain(np.var, M, ddof=1),
    plain(np.var, M, axis=0, ddof=1.5),
    plain(np.var, M, axis=1, correction=1),
    plain(np.var, M, axis=1, where=MASK, ddof=1),
    plain(np.var, ZM, axis=0),
    plain(np.var, ZV),
    plain(np.var, F32, dtype=np.float64, axis=1),
    row(np.var, lambda x: np.var(x, axis=0, mean=np.mean(x, axis=0, keepdims=True)), M),
    row(np.var, lambda x, m: np.var(x, axis=0, mean=m) ** 2, M, normal(1, 4)),
    *everywhere(np.std)[:-1],
    plain(np.std, M, ddof=1),
    plain(np.std, M, axis=1, where=MASK),
    plain(np.std, ZM, axis=1, ddof=1),
    row(np.std, lambda x, m: np.std(x, axis=0, mean=m) ** 2, M, normal(1, 4)),
    row(np.std, lambda x: x.std(axis=0) * x, M),
]

AVERAGE_ROWS = [
    plain(np.average, M),
    plain(np.average, M, axis=0, keepdims=True),
    plain(np.average, M, axis=1, weights=[1.0, 2.0, 3.0, 4.0]),
    row(np.average, lambda a, w: np.average(a, weights=w) ** 2, M, P),
    row(np.average, lambda a, w: np.average(a, axis=0, weights=w) ** 2, M, P),
    row(np.average, lambda a, w: np.average(a, axis=-1, weights=w) ** 2, T, WEIGHTS),
    row(np.average, lambda a, w: np.average(a, 0, w, keepdims=True), T, WEIGHTS[:2]),
    row(np.average, lambda a, w: np.average(a, (2, 1), w) ** 2, T, P.T),
    row(np.average, lambda a, w: np.average(a, 1, w, returned=True), T, WEIGHTS[:3]),
    row(np.average, lambda a, w: np.average(a, None, w, returned=True)[1] ** 2, M, P),
    row(np.average, lambda a, t: np.average(a, 0, [t, 1.0, t * t]), M, 0.5),
    row(np.average, lambda a: np.average(a, 1, returned=True)[0] ** 2, M),
    row(np.average, lambda a, w: np.average(a, 0, w), ZM, WEIGHTS[:3]),
]

NAN_ROWS = [
    *(
        plain(function, NANS, **kwargs)
        for function in (np.nansum, np.nanmean, np.nanmax, np.nanmin, np.nanvar, np.nanprod)
        for kwargs in ({}, {"axis": 0}, {"axis": 1, "keepdims": True})
    ),
    plain(np.nanstd, NANS),
    plain(np.nanstd, NANS, axis=1, ddof=1),
    plain(np.nanvar, NANS, axis=1, ddof=1),
    plain(np.nansum, NANS, axis=1, where=ROW_MASK),
    plain(np.nansum, NANS, initial=1.0),
    plain(np.nancumsum, NANS),
    plain(np.nancumsum, NANS, axis=1),
    plain(np.nancumprod, NANS),
    plain(np.nancumprod, NANS, axis=0),
]

RUNNING_ROWS = [
    plain(np.cumsum, V),
    plain(np.cumsum, M),
    plain(np.cumsum, M, axis=0),
    plain(np.cumsum, T, axis=-2),
    plain(np.cumsum, ZM, axis=1),
    plain(np.cumsum, F32, axis=1),
    plain(np.cumsum, ZERO_D),
    plain(np.cumsum, EMPTY, axis=0),
    plain(np.cumprod, V),
    plain(np.cumprod, M),
    plain(np.cumprod, M, axis=0),
    plain(np.cumprod, T, axis=-2),
    plain(np.cumprod, ZEROS, axis=1),
    plain(np.cumprod, ZEROS),
    row(np.cumprod, lambda x: np.cumprod(x), np.array([2.0, 0.0, 3.0, 0.0, 1.5]), order=3),
    plain(np.cumprod, ZM, axis=1),
    plain(np.cumprod, F32, axis=1),
    plain(np.cumprod, normal(1)),
    plain(np.cumprod, EMPTY, axis=0),
    plain(np.cumprod, uniform(0.5, 1.5, 13)),
    row(np.cumprod, lambda x: x.cumprod(0) * x, M),
]

if hasattr(np, "cumulative_sum"):
    RUNNING_ROWS += [
        plain(np.cumulative_sum, V),
        plain(np.cumulative_sum, M, axis=-1, include_initial=True),
        plain(np.cumulative_prod, V),
        plain(np.cumulative_prod, ZEROS, axis=1, include_initial=True),
    ]

POINTS = np.cumsum(uniform(0.5, 1.0, 4))
DIFFERENCE_ROWS = [
    plain(np.diff, V),
    plain(np.diff, M, axis=0),
    plain(np.diff, T, n=2, axis=1),
    plain(np.diff, V, n=0),
    plain(np.diff, V, n=5),
    plain(np.diff, ZM),
    plain(np.diff, F32, axis=1),
    row(np.diff, lambda x, p: np.diff(x, prepend=p) ** 2, V, ZERO_D),
    row(
        np.diff, lambda x, p, q: np.diff(x, axis=0, prepend=p, append=q) ** 2, M, 0.5, normal(2, 4)
    ),
    row(np.diff, lambda x, q: np.diff(x, 2, append=q) ** 2, V, normal(2)),
    plain(np.trapezoid, V),
    plain(np.trapezoid, T, axis=1, dx=0.5),
    plain(np.trapezoid, M, x=[0.0, 1.0, 1.5, 4.0]),
    row(np.trapezoid, lambda y, x: np.trapezoid(y, x) ** 2, V, POINTS),
    row(np.trapezoid, lambda y, x: np.trapezoid(y, x, axis=1) ** 2, T, POINTS[:3]),
    row(np.trapezoid, lambda y, x: np.trapezoid(y, x, axis=0) ** 2, M, P),
    row(np.trapezoid, lambda y, x: np.trapezoid(y, x) ** 2, M, P[:1]),
    row(np.trapezoid, lambda y, h: np.trapezoid(y, dx=h) ** 2, M, 0.5),
    row(np.trapezoid, lambda y, h: np.trapezoid(y, dx=h, axis=0) ** 2, M, uniform(1, 2, 2, 1)),
]


@table(SUM_ROWS)
def test_sums(row):
    check(row)


@table(PROD_ROWS)
def test_products(row):
    check(row)


@table(EXTREMUM_ROWS)
def test_extrema(row):
    check(row)


@table(SPREAD_ROWS)
def test_spread(row):
    check(row)


@table(AVERAGE_ROWS)
def test_averages(row):
    check(row)


@table(NAN_ROWS)
def test_nan_functions(row):
    check(row)


@table(RUNNING_ROWS)
def test_running(row):
    check(row)


@table(DIFFERENCE_ROWS)
def test_differences(row):
    check(row)


THIRD = 1 / 3
EDGES = [
    ("max, ties", np.max, [3.0, 1.0, 3.0, 3.0], [THIRD, 0, THIRD, THIRD]),
    ("min, ties", lambda x: np.min(x, axis=0), [[1.0, 2.0], [1.0, 3.0]], [[0.5, 1], [0.5, 0]]),
    ("max, tie with initial", lambda x: np.max(x, initial=3.0), [3.0, 1.0], [0.5, 0]),
    ("max below initial", lambda x: np.max(x, initial=5.0), [3.0, 1.0], [0, 0]),
    ("nanmax, ties", np.nanmax, [2.0, np.nan, 2.0], [0.5, 0, 0.5]),
    ("ptp, ties", np.ptp, [1.0, 1.0, 3.0, 3.0], [-0.5, -0.5, 0.5, 0.5]),
    ("ptp of equals", np.ptp, [2.0, 2.0], [0, 0]),
    ("median, stable", np.median, [2.0, 2.0, 2.0], [0, 1, 0]),
    ("median, even", np.median, [5.0, 2.0, 1.0, 9.0], [0.5, 0.5, 0, 0]),
    ("std of equals", np.std, [2.0, 2.0, 2.0], [0, 0, 0]),
    ("std of one", np.std, 4.0, 0),
    ("var of equals", np.var, [2.0, 2.0], [0, 0]),
    ("prod, one zero", np.prod, [0.0, 2.0, 3.0], [6, 0, 0]),
    ("prod, two zeros", np.prod, [0.0, 0.0, 3.0], [0, 0, 0]),
    ("cumprod, one zero", np.cumprod, [2.0, 0.0, 3.0], [1, 8, 0]),
    ("nansum", np.nansum, [1.0, np.nan], [1, 0]),
]


@pytest.mark.parametrize(("f", "x", "expected"), [e[1:] for e in EDGES], ids=[e[0] for e in EDGES])
def test_edge(f, x, expected):
    found = srcgrad.grad(lambda x: np.sum(f(x)))(np.array(x))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_second_derivative_of_std_of_equals_is_finite():
    found = srcgrad.grad(lambda x: np.sum(srcgrad.grad(np.std)(x) * x))(np.full(3, 2.0))
    np.testing.assert_array_equal(found, np.zeros(3))


def test_masked_elements_do_not_leak():
    x = np.array([1.0, np.nan, 3.0])
    keep = np.array([True, False, True])
    for f in (np.sum, np.mean, np.prod, np.var, np.std):
        found = srcgrad.grad(lambda x, f=f: f(x, where=keep))(x)
        assert found[1] == 0
        assert np.isfinite(found).all()
