"""Rules of what selects elements: subscripts, np.take, np.where, sorting."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from srcgrad.runtime import add_at, set_at

from ..cases import check, complex_normal, normal, row, table

X = normal(3, 4)
Y = normal(3, 4, seed=1)
X3 = normal(2, 3, 4)
V = normal(5)
Z = complex_normal(3, 4)
F32 = normal(3, 4).astype(np.float32)
MASK = np.array([[True, False, True, True], [False, True, False, True], [True] * 4])
ROWS_MASK = np.array([True, False, True])
REPEATED = np.array([0, 2, 2, 1, 0])
INDEX2 = np.array([[0, 1], [2, 2]])

GETITEM_ROWS = [
    row(operator.getitem, lambda x: x[1], X),
    row(operator.getitem, lambda x: x[-1, 2] ** 2, X),
    row(operator.getitem, lambda x: x[::2, ::-1] ** 2, X),
    row(operator.getitem, lambda x: x[..., 0] * x[..., -1], X3),
    row(operator.getitem, lambda x: x[:, None, 1:3], X),
    row(operator.getitem, lambda x: x[None, ..., None] ** 2, X),
    row(operator.getitem, lambda x: x[[0, 0, 1]] ** 2, X),
    row(operator.getitem, lambda x: x[REPEATED] ** 2, X),
    row(operator.getitem, lambda x: x[INDEX2, :2] ** 2, X),
    row(operator.getitem, lambda x: x[:, REPEATED, None] ** 2, X),
    row(operator.getitem, lambda x: x[[0, 1, 1], [2, 0, 0]] ** 2, X),
    row(operator.getitem, lambda x: x[0, :, [1, 1, 3]] ** 2, X3),
    row(operator.getitem, lambda x: x[MASK] ** 2, X),
    row(operator.getitem, lambda x: x[ROWS_MASK, 1:] ** 2, X),
    row(operator.getitem, lambda x: x[ROWS_MASK, [1, 1]] ** 2, X),
    row(operator.getitem, lambda x: x[x > 0] ** 2, X),
    row(operator.getitem, lambda x: x[np.argmax(V)] ** 2, X),
    row(operator.getitem, lambda x: x[np.ix_([0, 2], [1, 1, 3])] ** 2, X),
    row(operator.getitem, lambda x: x[1:, REPEATED], Z),
    row(operator.getitem, lambda x: x[1:, ::2], F32),
    row(operator.getitem, lambda x: x[()] * 2, X),
    row(operator.getitem, lambda x: x[5:], V),
]

SET_ROWS = [
    row(set_at, lambda x, v: set_at(x, 1, v) ** 2, X, normal(4)),
    row(set_at, lambda x, v: set_at(x, (slice(None), 2), v) ** 2, X, np.float64(2.0)),
    row(set_at, lambda x, v: set_at(x, [0, 0, 2], v) ** 2, X, normal(3, 4, seed=3)),
    row(set_at, lambda x, v: set_at(x, MASK, v) ** 2, X, normal(9)),
    row(set_at, lambda x, v: set_at(x, (slice(0, 1), slice(1, 3)), v) ** 2, X, normal(1, 1, 2)),
    row(add_at, lambda x, v: add_at(x, REPEATED, v) ** 2, X, normal(5, 4)),
    row(add_at, lambda x, v: add_at(x, (slice(None), REPEATED), v) ** 2, X, normal(5)),
    row(add_at, lambda x, v: add_at(x, 0, v) ** 2, Z, complex_normal(4)),
]

TAKE_ROWS = [
    row(np.take, lambda x: np.take(x, [1, 1, 5]) ** 2, X),
    row(np.take, lambda x: np.take(x, INDEX2, axis=-1) ** 2, X),
    row(np.take, lambda x: np.take(x, 2, axis=1) ** 2, X),
    row(np.take, lambda x: np.take(x, (0, 2), axis=0) ** 2, X),
    row(np.take, lambda x: np.take(x, [-5, 7], axis=0, mode="wrap") ** 2, X),
    row(np.take, lambda x: np.take(x, [-5, 70], mode="clip") ** 2, X),
    row(np.take_along_axis, lambda x: np.take_along_axis(x, INDEX2[:1], 0) ** 2, normal(3, 2)),
    row(
        np.take_along_axis,
        lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1) ** 2,
        X,
    ),
    row(np.take_along_axis, lambda x: np.take_along_axis(x, REPEATED, None) ** 2, X),
    row(np.compress, lambda x: np.compress([False, True, True], x, axis=0) ** 2, X),
    row(np.compress, lambda x: np.compress([1, 0, 1], x) ** 2, X),
    row(np.compress, lambda x: np.compress([True, False, True], x, axis=-1) ** 2, X),
    row(np.extract, lambda x: np.extract(MASK, x) ** 2, X),
    row(np.extract, lambda x: np.extract(x > 0, x) ** 2, X),
]

ZEROS_AROUND = np.array([0.0, 0.0, 1.0, 2.0, 0.0, 3.0, 0.0])
TAKE_ROWS += [
    row(np.trim_zeros, lambda x: np.trim_zeros(x * (ZEROS_AROUND > 0)) ** 2, normal(7)),
    row(np.trim_zeros, lambda x: np.trim_zeros(x * (ZEROS_AROUND > 0), "b") ** 2, normal(7)),
]

CHOICE_ROWS = [
    row(np.where, lambda x, y: np.where(MASK, x, y) ** 2, X, Y),
    row(np.where, lambda x, v: np.where(x > 0, x * x, v) ** 2, X, normal(4)),
    row(np.where, lambda x: np.where(MASK, x, 0.0), F32),
    row(np.where, lambda x, z: np.where(MASK, x, z), X, Z),
    row(np.select, lambda x, y: np.select([x > 0.5, x > 0], [x * y, y], x) ** 2, X, Y),
    row(np.select, lambda x: np.select([MASK, ~MASK & (x > 0)], [x**2, 1.0], default=-1.0), X),
    row(np.select, lambda v, c: np.select([v > 0], [c]) * v, V, np.float64(2.0)),
    row(np.choose, lambda x, y: np.choose([0, 1, 1, 0], [x, y]) ** 2, X, Y),
    row(np.choose, lambda x: np.choose([3, 1, -1, 0], [x, 2 * x], mode="wrap") ** 2, X),
    row(np.choose, lambda x: np.choose([5, 1, -1, 0], x, mode="clip") ** 2, X),
]

SORT_ROWS = [
    row(np.sort, lambda x: np.sort(x) ** 2, X),
    row(np.sort, lambda x: np.sort(x, axis=0) * Y, X),
    row(np.sort, lambda x: np.sort(x, axis=None) * np.arange(12.0), X),
    row(np.sort, lambda x: np.sort(x, kind="stable") * Y, Z),
    row(np.sort_complex, lambda z: np.sort_complex(z) ** 2, Z[0]),
    row(np.sort_complex, lambda v: np.sort_complex(v) * np.arange(5.0), V),
    row(np.partition, lambda x: np.partition(x, 1) * Y, X),
    row(np.partition, lambda x: np.partition(x, (0, 2), axis=0) ** 2 * Y, X),
    row(np.partition, lambda x: np.partition(x, 5, axis=None)[5] ** 2, X),
]

ROWS = [*GETITEM_ROWS, *SET_ROWS, *TAKE_ROWS, *CHOICE_ROWS, *SORT_ROWS]


@table(ROWS)
def test_indexing(row):
    check(row)


def gradient(f, x):
    import srcgrad

    return srcgrad.grad(f)(x)


def test_sort_of_equals_is_stable():
    weights = np.array([1.0, 2.0, 3.0])
    found = gradient(lambda x: np.sum(np.sort(x) * weights), np.array([5.0, 1.0, 1.0]))
    np.testing.assert_array_equal(found, [3.0, 1.0, 2.0])


def test_partition_of_equals_is_stable():
    found = gradient(lambda x: np.partition(x, 1)[1], np.array([2.0, 1.0, 1.0, 1.0]))
    assert np.sum(found) == 1.0
    assert found[0] == 0.0


def test_where_selects():
    """A cotangent that is not finite stays on its own side."""
    import srcgrad

    _, pull = srcgrad.vjp(lambda x, y: np.where([True, False], x, y), np.ones(2), np.ones(2))
    x_bar, y_bar = pull(np.array([np.inf, np.nan]))
    np.testing.assert_array_equal(x_bar, [np.inf, 0.0])
    np.testing.assert_array_equal(y_bar, [0.0, np.nan])


@pytest.mark.parametrize("index", [slice(0, 0), [], np.zeros(5, bool)], ids=str)
def test_nothing_taken(index):
    check(row(operator.getitem, lambda v: v[index] ** 2, V))
