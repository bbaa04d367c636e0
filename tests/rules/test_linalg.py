"""Rules of systems of equations, inverses, determinants and factors."""

from __future__ import annotations

import numpy as np
import pytest

from ..cases import check, complex_normal, normal, row, table

A = normal(3, 3) + 3 * np.eye(3)
BATCH = normal(2, 3, 3) + 3 * np.eye(3)
Z = complex_normal(3, 3) + 3 * np.eye(3)
B, V = normal(3, 2), normal(3)
TALL, WIDE = normal(4, 3), normal(3, 4)
ZTALL = complex_normal(4, 3)
POSITIVE = A @ A.T + np.eye(3)
HERMITIAN = Z @ Z.conj().T + np.eye(3)
SINGULAR = np.outer(V, V[::-1])
MIDDLE = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])

SOLVE_ROWS = [
    row(np.linalg.solve, lambda a, b: np.linalg.solve(a, b), A, V),
    row(np.linalg.solve, lambda a, b: np.linalg.solve(a, b) ** 2, A, B),
    row(np.linalg.solve, lambda a, b: np.linalg.solve(a, b), BATCH, V),
    row(np.linalg.solve, lambda a, b: np.linalg.solve(a, b), BATCH, B),
    row(np.linalg.solve, lambda a, b: np.linalg.solve(a, b), BATCH, normal(2, 3, 1)),
    row(np.linalg.solve, lambda a, b: np.linalg.solve(a, b), A, normal(2, 3, 4)),
    row(np.linalg.solve, lambda a, b: np.linalg.solve(a, b), Z, complex_normal(3)),
    row(np.linalg.solve, lambda a, b: np.linalg.solve(a, b), Z, B),
    row(np.linalg.solve, lambda a: np.linalg.solve(a, a.T), A),
    row(
        np.linalg.solve,
        lambda a, b: np.linalg.solve(a, b),
        *(A.astype(np.float32), V.astype(np.float32)),
    ),
    row(np.linalg.inv, lambda a: np.linalg.inv(a), A),
    row(np.linalg.inv, lambda a: np.linalg.inv(a) ** 2, BATCH),
    row(np.linalg.inv, lambda a: np.linalg.inv(a), Z),
    row(np.linalg.pinv, lambda a: np.linalg.pinv(a), TALL),
    row(np.linalg.pinv, lambda a: np.linalg.pinv(a), WIDE),
    row(np.linalg.pinv, lambda a: np.linalg.pinv(a), normal(2, 3, 2)),
    row(np.linalg.pinv, lambda a: np.linalg.pinv(a, rcond=1e-8), ZTALL),
    row(np.linalg.lstsq, lambda a, b: np.linalg.lstsq(a, b)[0], TALL, normal(4)),
    row(np.linalg.lstsq, lambda a, b: np.linalg.lstsq(a, b, rcond=None)[:2], TALL, normal(4, 2)),
    row(np.linalg.lstsq, lambda a, b: np.linalg.lstsq(a, b)[0], WIDE, V),
    row(np.linalg.lstsq, lambda a, b: np.linalg.lstsq(a, b)[3], TALL, normal(4)),
    row(np.linalg.lstsq, lambda a, b: np.linalg.lstsq(a, b)[:2], ZTALL, complex_normal(4)),
    row(np.linalg.matrix_power, lambda a: np.linalg.matrix_power(a, 3), A),
    row(np.linalg.matrix_power, lambda a: np.linalg.matrix_power(a, 1), A),
    row(np.linalg.matrix_power, lambda a: np.linalg.matrix_power(a, 0) @ a, A),
    row(np.linalg.matrix_power, lambda a: np.linalg.matrix_power(a, -2), BATCH),
    row(np.linalg.matrix_power, lambda a: np.linalg.matrix_power(a, 5), Z),
]

TENSOR_ROWS = [
    row(np.linalg.tensorinv, lambda a: np.linalg.tensorinv(a), normal(4, 6, 8, 3)),
    row(np.linalg.tensorinv, lambda a: np.linalg.tensorinv(a, ind=1) ** 2, normal(6, 2, 3)),
    row(
        np.linalg.tensorsolve,
        lambda a, b: np.linalg.tensorsolve(a, b),
        *(normal(2, 3, 6), normal(2, 3)),
    ),
    row(
        np.linalg.tensorsolve,
        lambda a, b: np.linalg.tensorsolve(a, b, axes=(0,)) ** 2,
        *(normal(3, 6, 2, 1), normal(6)),
    ),
]

DETERMINANT_ROWS = [
    row(np.linalg.det, lambda a: np.linalg.det(a), A),
    row(np.linalg.det, lambda a: np.linalg.det(a), BATCH),
    row(np.linalg.det, lambda a: np.linalg.det(a) ** 2, Z),
    row(np.linalg.det, lambda a: np.linalg.det(a), normal(1, 1)),
    row(np.linalg.det, lambda a: np.linalg.det(a), normal(2, 2)),
    row(np.linalg.det, lambda a: np.linalg.det(a), normal(2, 4, 4)),
    row(np.linalg.det, lambda a: np.linalg.det(a), normal(6, 6)),
    row(np.linalg.det, lambda a: np.linalg.det(a), normal(10, 10) / 2),
    row(np.linalg.det, lambda a: np.linalg.det(a), SINGULAR),
    row(np.linalg.det, lambda a: np.linalg.det(a), MIDDLE),
    row(np.linalg.det, lambda a: np.linalg.det(a), np.zeros((2, 2))),
    row(np.linalg.det, lambda a: np.linalg.det(a), np.diag([1.0, 0.0, 2.0, 3.0])),
    row(np.linalg.det, lambda a: np.linalg.det(a), np.diag([1.0, 0.0, 0.0, 3.0])),
    row(np.linalg.slogdet, lambda a: np.linalg.slogdet(a)[1], A),
    row(np.linalg.slogdet, lambda a: np.linalg.slogdet(a).logabsdet ** 2, BATCH),
    row(np.linalg.slogdet, lambda a: np.linalg.slogdet(a)[0] * np.linalg.slogdet(a)[1], A),
    row(np.linalg.slogdet, lambda a: np.linalg.slogdet(a), Z),
]

FACTOR_ROWS = [
    row(np.linalg.cholesky, lambda a: np.linalg.cholesky(a), POSITIVE),
    row(np.linalg.cholesky, lambda a: np.linalg.cholesky(a, upper=True) ** 2, POSITIVE),
    row(np.linalg.cholesky, lambda a: np.linalg.cholesky(a), np.stack([POSITIVE, np.eye(3)])),
    row(np.linalg.cholesky, lambda a: np.linalg.cholesky(a), HERMITIAN),
    row(np.linalg.cholesky, lambda a: np.linalg.cholesky(a, upper=True), HERMITIAN),
    row(np.linalg.cholesky, lambda a: np.linalg.cholesky(a @ a.T + np.eye(3)), A),
    row(np.linalg.qr, lambda a: np.linalg.qr(a), TALL),
    row(np.linalg.qr, lambda a: np.linalg.qr(a), WIDE),
    row(np.linalg.qr, lambda a: np.linalg.qr(a).R ** 2, A),
    row(np.linalg.qr, lambda a: np.linalg.qr(a, mode="r"), TALL),
    row(np.linalg.qr, lambda a: np.linalg.qr(a, mode="complete")[0], A),
    row(np.linalg.qr, lambda a: np.linalg.qr(a)[0], normal(2, 4, 3)),
    row(np.linalg.qr, lambda a: np.linalg.qr(a), ZTALL),
    row(np.linalg.qr, lambda a: np.linalg.qr(a), complex_normal(3, 4)),
]

ROWS = [*SOLVE_ROWS, *TENSOR_ROWS, *DETERMINANT_ROWS, *FACTOR_ROWS]


@table(ROWS)
def test_linalg(row):
    check(row)


@pytest.mark.parametrize("n", [0, 1])
def test_small_determinants(n):
    check(row(np.linalg.det, lambda a: np.linalg.det(a), np.zeros((n, n))))


def test_cofactors_keep_scales_apart():
    import srcgrad

    found = srcgrad.grad(np.linalg.det)(np.diag([1e8, 1.0, 1e-8]))
    np.testing.assert_allclose(found, np.diag([1e-8, 1.0, 1e8]), rtol=1e-12)
