"""Rules of products of vectors, matrices and arrays."""

from __future__ import annotations

import numpy as np
import pytest

from ..cases import check, complex_normal, normal, row, table

V, W = normal(3), normal(3, seed=1)
A, B = normal(2, 3), normal(3, 4, seed=1)
C = normal(4, 2, seed=2)
BATCH_A, BATCH_B = normal(5, 2, 3), normal(5, 3, 4)
DEEP_A, DEEP_B = normal(2, 1, 2, 3), normal(5, 3, 4, seed=3)
ZV, ZW = complex_normal(3), complex_normal(3, seed=5)
ZA, ZB = complex_normal(2, 3), complex_normal(3, 4, seed=5)
F32, G32 = A.astype(np.float32), B.astype(np.float32)
SCALAR = np.float64(1.3)

MATMUL_ROWS = [
    row(np.matmul, lambda a, b: a @ b, V, W),
    row(np.matmul, lambda a, b: a @ b, A, V),
    row(np.matmul, lambda a, b: a @ b, V, B),
    row(np.matmul, lambda a, b: (a @ b) ** 2, A, B),
    row(np.matmul, lambda a, b: a @ b, BATCH_A, V),
    row(np.matmul, lambda a, b: a @ b, V, BATCH_B),
    row(np.matmul, lambda a, b: a @ b, BATCH_A, BATCH_B),
    row(np.matmul, lambda a, b: (a @ b) ** 2, BATCH_A, B),
    row(np.matmul, lambda a, b: a @ b, A, BATCH_B),
    row(np.matmul, lambda a, b: np.matmul(a, b) ** 2, DEEP_A, DEEP_B),
    row(np.matmul, lambda a, b: a @ b, normal(1, 2, 3), BATCH_B),
    row(np.matmul, lambda a, b: (a @ b) ** 2, ZA, ZB),
    row(np.matmul, lambda a, b: a @ b, A, ZB),
    row(np.matmul, lambda a, b: a @ b, F32, G32),
    row(np.linalg.matmul, lambda a, b: np.linalg.matmul(a, b) ** 2, A, B),
    row(np.linalg.matmul, lambda a, b: np.linalg.matmul(a, b), BATCH_A, B),
    row(np.dot, lambda a, b: np.dot(a, b) ** 2, V, W),
    row(np.dot, lambda a, b: np.dot(a, b), A, B),
    row(np.dot, lambda a, b: a.dot(b), A, V),
    row(np.dot, lambda a, b: np.dot(a, b), V, B),
    row(np.dot, lambda a, b: np.dot(a, b), SCALAR, A),
    row(np.dot, lambda a, b: np.dot(a, b), A, SCALAR),
    row(np.dot, lambda a, b: np.dot(a, b), BATCH_A, V),
    row(np.dot, lambda a, b: np.dot(a, b), V, BATCH_B),
    row(np.dot, lambda a, b: np.dot(a, b), normal(2, 2, 3), normal(2, 3, 2)),
    row(np.dot, lambda a, b: np.dot(a, b), ZA, ZB),
    row(np.inner, lambda a, b: np.inner(a, b), V, W),
    row(np.inner, lambda a, b: np.inner(a, b) ** 2, A, normal(4, 3)),
    row(np.inner, lambda a, b: np.inner(a, b), BATCH_A, normal(2, 2, 3)),
    row(np.inner, lambda a, b: np.inner(a, b), V, BATCH_A),
    row(np.inner, lambda a, b: np.inner(a, b), SCALAR, A),
    row(np.inner, lambda a, b: np.inner(a, b), ZV, ZW),
    row(np.outer, lambda a, b: np.outer(a, b) ** 2, V, normal(2)),
    row(np.outer, lambda a, b: np.outer(a, b), A, B),
    row(np.outer, lambda a, b: np.outer(a, b), SCALAR, V),
    row(np.outer, lambda a, b: np.outer(a, b), ZV, ZW),
    row(np.linalg.outer, lambda a, b: np.linalg.outer(a, b), V, W),
    row(np.linalg.outer, lambda a, b: np.linalg.outer(a, b) ** 2, ZV, W),
    row(np.vdot, lambda a, b: np.vdot(a, b), A, B[:, :2]),
    row(np.vdot, lambda a, b: np.vdot(a, b) ** 2, ZV, ZW),
    row(np.vdot, lambda a, b: np.vdot(a, b), ZV, W),
    row(np.linalg.multi_dot, lambda a, b, c: np.linalg.multi_dot([a, b, c]), A, B, C),
    row(np.linalg.multi_dot, lambda a, b: np.linalg.multi_dot([a, b]), A, B),
    row(
        np.linalg.multi_dot,
        lambda v, b, c, w: np.linalg.multi_dot([v, b, c, w]),
        *(V, B, C, normal(2)),
    ),
    row(np.linalg.multi_dot, lambda v, b, c: np.linalg.multi_dot((v, b, c)) ** 2, ZV, B, C),
]

CONJUGATING_ROWS = [
    row(np.vecdot, lambda a, b: np.vecdot(a, b), A, V),
    row(np.vecdot, lambda a, b: np.vecdot(a, b) ** 2, ZV, ZW),
    row(np.vecdot, lambda a, b: np.vecdot(a, b, axis=0), BATCH_A, normal(5, 2, 3, seed=4)),
    row(np.vecdot, lambda a, b: np.vecdot(a, b, axis=-2), normal(5, 3, 2), normal(3, 1)),
    row(np.linalg.vecdot, lambda a, b: np.linalg.vecdot(a, b), ZA, ZV),
    row(np.linalg.vecdot, lambda a, b: np.linalg.vecdot(a, b, axis=0) ** 2, A, A),
]

if hasattr(np, "matvec"):
    CONJUGATING_ROWS += [
        row(np.matvec, lambda a, v: np.matvec(a, v) ** 2, A, V),
        row(np.matvec, lambda a, v: np.matvec(a, v), BATCH_A, normal(5, 3)),
        row(np.matvec, lambda a, v: np.matvec(a, v), ZA, normal(4, 3)),
        row(np.vecmat, lambda v, b: np.vecmat(v, b) ** 2, V, B),
        row(np.vecmat, lambda v, b: np.vecmat(v, b), normal(5, 3), BATCH_B),
        row(np.vecmat, lambda v, b: np.vecmat(v, b) ** 2, ZV, ZB),
        row(np.vecmat, lambda v, b: np.vecmat(v, b), complex_normal(2, 3), ZB),
    ]

AXES_ROWS = [
    row(np.tensordot, lambda a, b: np.tensordot(a, b), BATCH_B, normal(3, 4, 2)),
    row(np.tensordot, lambda a, b: np.tensordot(a, b, 1) ** 2, BATCH_A, B),
    row(np.tensordot, lambda a, b: np.tensordot(a, b, axes=0), V, A),
    row(np.tensordot, lambda a, b: np.tensordot(a, b, ([0, 2], [1, 0])), BATCH_A, normal(3, 5, 2)),
    row(np.tensordot, lambda a, b: np.tensordot(a, b, ((2, 0), (0, 1))), BATCH_A, normal(3, 5, 2)),
    row(np.tensordot, lambda a, b: np.tensordot(a, b, (-1, 0)), ZA, ZB),
    row(np.tensordot, lambda a, b: np.tensordot(a, b, 3), BATCH_A, normal(5, 2, 3, seed=2)),
    row(np.linalg.tensordot, lambda a, b: np.linalg.tensordot(a, b, axes=1), A, B),
    row(
        np.linalg.tensordot,
        lambda a, b: np.linalg.tensordot(a, b, axes=((0,), (-1,))) ** 2,
        *(A, normal(4, 2)),
    ),
    row(np.kron, lambda a, b: np.kron(a, b), A, C),
    row(np.kron, lambda a, b: np.kron(a, b) ** 2, V, W),
    row(np.kron, lambda a, b: np.kron(a, b), V, A),
    row(np.kron, lambda a, b: np.kron(a, b), BATCH_A, V),
    row(np.kron, lambda a, b: np.kron(a, b), ZA, C),
    row(np.trace, lambda a: np.trace(a) ** 2, normal(3, 3)),
    row(np.trace, lambda a: np.trace(a, 1), A),
    row(np.trace, lambda a: np.trace(a, -1, 2, 0) ** 2, BATCH_A),
    row(np.trace, lambda a: np.trace(a, axis1=-2, axis2=-1), BATCH_A),
    row(np.linalg.trace, lambda a: np.linalg.trace(a) ** 2, BATCH_A),
    row(np.linalg.trace, lambda a: np.linalg.trace(a, offset=1), A),
    row(np.cross, lambda a, b: np.cross(a, b), V, W),
    row(np.cross, lambda a, b: np.cross(a, b) ** 2, A, V),
    row(np.cross, lambda a, b: np.cross(a, b, axis=0), B, normal(3, 4, seed=3)),
    row(np.cross, lambda a, b: np.cross(a, b, axisa=1, axisb=0, axisc=0), normal(4, 3), B),
    row(np.cross, lambda a, b: np.cross(a, b, axisa=0), normal(3, 5, 2), A),
    row(np.linalg.cross, lambda a, b: np.linalg.cross(a, b) ** 2, A, A[::-1]),
    row(np.linalg.cross, lambda a, b: np.linalg.cross(a, b, axis=0), B, B[:, ::-1]),
]

CONVOLUTION_ROWS = [
    row(np.convolve, lambda a, v: np.convolve(a, v), normal(6), V),
    row(np.convolve, lambda a, v: np.convolve(a, v) ** 2, V, normal(6)),
    row(np.convolve, lambda a, v: np.convolve(a, v, "same"), normal(6), V),
    row(np.convolve, lambda a, v: np.convolve(a, v, mode="same"), V, normal(6)),
    row(np.convolve, lambda a, v: np.convolve(a, v, "same"), normal(6), normal(4)),
    row(np.convolve, lambda a, v: np.convolve(a, v, "valid") ** 2, normal(6), V),
    row(np.convolve, lambda a, v: np.convolve(a, v, "valid"), complex_normal(2), ZV),
    row(np.correlate, lambda a, v: np.correlate(a, v) ** 2, normal(6), V),
    row(np.correlate, lambda a, v: np.correlate(a, v), V, normal(6)),
    row(np.correlate, lambda a, v: np.correlate(a, v, "same"), normal(6), normal(4)),
    row(np.correlate, lambda a, v: np.correlate(a, v, "full"), V, normal(6)),
    row(np.correlate, lambda a, v: np.correlate(a, v, "full") ** 2, ZV, complex_normal(2)),
]

ROWS = [*MATMUL_ROWS, *CONJUGATING_ROWS, *AXES_ROWS, *CONVOLUTION_ROWS]


@table(ROWS)
def test_products(row):
    check(row)


@pytest.mark.parametrize(("n", "k", "m"), [(0, 3, 2), (2, 0, 3), (1, 1, 1)])
def test_empty_and_single(n, k, m):
    check(row(np.matmul, lambda a, b: (a @ b) ** 2, np.ones((n, k)), np.ones((k, m))))


def test_memory_orders():
    check(row(np.matmul, lambda a, b: (a @ b) ** 2, np.asfortranarray(A), B[:, ::-2]))
