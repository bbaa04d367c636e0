"""Rules of norms."""

from __future__ import annotations

import numpy as np
import pytest

from ..cases import check, complex_normal, normal, row, table

V = normal(4)
X = normal(3, 4)
X3 = normal(2, 3, 4)
AWAY = np.array([0.7, -1.2, 2.0, -0.4])  # from the kinks of powers at 0
ZV, Z = complex_normal(4), complex_normal(3, 4)


def norm(x, *args, **kwargs):
    return row(np.linalg.norm, lambda x: np.linalg.norm(x, *args, **kwargs), x)


ROWS = [
    norm(V),
    norm(X),
    norm(X3),
    norm(Z),
    norm(X, keepdims=True),
    norm(X.astype(np.float32)),
    norm(X, axis=0),
    norm(X, axis=-1, keepdims=True),
    norm(X3, axis=(0, 2)),
    *(norm(AWAY, ord) for ord in (1, 2, 3, 2.5, 0.5, -1, -2, np.inf, -np.inf, 0)),
    *(norm(ZV, ord) for ord in (1, 2, 3, np.inf, -np.inf)),
    norm(X, 1, axis=1),
    norm(X, np.inf, axis=0, keepdims=True),
    norm(X3, 3, axis=-2),
    *(norm(X, ord) for ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)),
    *(norm(Z, ord) for ord in ("fro", "nuc", 1, 2, np.inf)),
    norm(X3, "fro", axis=(1, 2)),
    norm(X3, 1, axis=(2, 0)),
    norm(X3, "nuc", axis=(-1, 0), keepdims=True),
    norm(X3, 2, axis=(0, 1)),
    norm(X3, -np.inf, axis=(0, 1), keepdims=True),
    row(np.linalg.vector_norm, lambda x: np.linalg.vector_norm(x), X),
    row(np.linalg.vector_norm, lambda x: np.linalg.vector_norm(x, axis=0, ord=3), X),
    row(np.linalg.vector_norm, lambda x: np.linalg.vector_norm(x, axis=(0, 2), ord=1), X3),
    row(np.linalg.vector_norm, lambda x: np.linalg.vector_norm(x, keepdims=True, ord=np.inf), X),
    row(np.linalg.matrix_norm, lambda x: np.linalg.matrix_norm(x), X3),
    row(np.linalg.matrix_norm, lambda x: np.linalg.matrix_norm(x, ord="nuc"), X3),
    row(np.linalg.matrix_norm, lambda x: np.linalg.matrix_norm(x, ord=1, keepdims=True), X3),
]

SQUARE = normal(3, 3)
ROWS += [
    *(
        row(np.linalg.cond, lambda x, p=p: np.linalg.cond(x, p), SQUARE)
        for p in (None, 2, -2, 1, -np.inf, "fro", "nuc")
    ),
    row(np.linalg.cond, lambda x: np.linalg.cond(x), X3),
    row(np.linalg.cond, lambda x: np.linalg.cond(x, 1), complex_normal(2, 3, 3)),
]


@table(ROWS)
def test_norms(row):
    check(row)


@pytest.mark.parametrize("ord", [None, 1, 2, 3])
def test_norm_of_zero(ord):
    import srcgrad

    assert not np.any(srcgrad.grad(lambda x: np.linalg.norm(x, ord))(np.zeros(3)))


@pytest.mark.parametrize("ord", [None, 2, 3])
def test_second_derivative_of_norm_of_zero(ord):
    import srcgrad

    first = srcgrad.grad(lambda x: np.linalg.norm(x, ord))
    assert not np.any(srcgrad.grad(lambda x: np.sum(first(x)))(np.zeros(3)))


@pytest.mark.parametrize("ord", ["fro", "nuc", 2])
def test_matrix_norm_of_zero(ord):
    import srcgrad

    assert not np.any(srcgrad.grad(lambda x: np.linalg.norm(x, ord))(np.zeros((2, 3))))


def test_ties_share():
    import srcgrad

    found = srcgrad.grad(lambda x: np.linalg.norm(x, np.inf))(np.array([2.0, -2.0, 1.0]))
    np.testing.assert_array_equal(found, [0.5, -0.5, 0.0])
