"""Rules of functions that rearrange, repeat, pad and copy."""

from __future__ import annotations

import numpy as np
import pytest

from ..cases import check, complex_normal, normal, row, table

X = normal(2, 3)
X3 = normal(2, 3, 4)
SQUARE = normal(3, 3)
V = normal(4)
Z = complex_normal(2, 3)
F32 = normal(2, 3).astype(np.float32)
SCALAR = np.float64(1.5)

SHAPE_ROWS = [
    row(np.reshape, lambda x: np.reshape(x, (3, 2)), X),
    row(np.reshape, lambda x: np.reshape(x, (3, -1), order="F"), X),
    row(np.reshape, lambda x: x.reshape(2, 1, 3), Z),
    row(np.ravel, lambda x: np.ravel(x) * np.arange(6.0), X),
    row(np.ravel, lambda x: np.ravel(x, order="F"), X),
    row(np.expand_dims, lambda x: np.expand_dims(x, 1), X),
    row(np.expand_dims, lambda x: np.expand_dims(x, (0, -1)), X),
    row(np.squeeze, lambda x: np.squeeze(x), normal(1, 3, 1)),
    row(np.squeeze, lambda x: np.squeeze(x, axis=-1), normal(1, 3, 1)),
    row(np.broadcast_to, lambda x: np.broadcast_to(x, (2, 2, 3)), X),
    row(np.broadcast_to, lambda x: np.broadcast_to(x, (2, 3)), normal(2, 1)),
    row(np.broadcast_arrays, lambda x, y: np.broadcast_arrays(x, y), X, normal(3)),
    row(np.broadcast_arrays, lambda x, y: np.broadcast_arrays(x, y)[1] ** 2, X, normal(2, 1)),
    row(np.atleast_1d, lambda x: np.atleast_1d(x) ** 2, SCALAR),
    row(np.atleast_1d, lambda x, y: np.atleast_1d(x, y), SCALAR, X),
    row(np.atleast_2d, lambda x: np.atleast_2d(x), V),
    row(np.atleast_2d, lambda x, y: np.atleast_2d(x, y)[0], V, X),
    row(np.atleast_3d, lambda x: np.atleast_3d(x), X),
    row(np.atleast_3d, lambda x: np.atleast_3d(x), V),
]

AXIS_ROWS = [
    row(np.transpose, lambda x: x.T @ x, X),
    row(np.transpose, lambda x: np.transpose(x, (2, 0, 1)), X3),
    row(np.transpose, lambda x: np.transpose(x, (-1, 0, -2)), X3),
    row(np.permute_dims, lambda x: np.permute_dims(x), Z),
    row(np.permute_dims, lambda x: np.permute_dims(x, (1, 2, 0)), X3),
    row(np.matrix_transpose, lambda x: np.matrix_transpose(x), X3),
    row(np.matrix_transpose, lambda x: np.matrix_transpose(x) @ x, X),
    row(np.linalg.matrix_transpose, lambda x: np.linalg.matrix_transpose(x), X3),
    row(np.linalg.matrix_transpose, lambda x: np.linalg.matrix_transpose(x), X),
    row(np.swapaxes, lambda x: np.swapaxes(x, 0, -1), X3),
    row(np.swapaxes, lambda x: np.swapaxes(x, 1, 2), X3),
    row(np.moveaxis, lambda x: np.moveaxis(x, 0, -1), X3),
    row(np.moveaxis, lambda x: np.moveaxis(x, (0, 1), (-1, 0)), X3),
    row(np.rollaxis, lambda x: np.rollaxis(x, 2), X3),
    row(np.rollaxis, lambda x: np.rollaxis(x, 0, 2), X3),
    row(np.rollaxis, lambda x: np.rollaxis(x, -2, -1), X3),
    row(np.flip, lambda x: np.flip(x), X),
    row(np.flip, lambda x: np.flip(x, (0, -1)), X3),
    row(np.fliplr, lambda x: np.fliplr(x), X),
    row(np.fliplr, lambda x: np.fliplr(x) * x, X3),
    row(np.flipud, lambda x: np.flipud(x), X),
    row(np.flipud, lambda x: np.flipud(x) * x, V),
    row(np.rot90, lambda x: np.rot90(x), X),
    row(np.rot90, lambda x: np.rot90(x, 3, (2, 1)), X3),
    row(np.roll, lambda x: np.roll(x, 2) * x, X),
    row(np.roll, lambda x: np.roll(x, (1, -2), axis=(0, -1)), X),
    row(np.roll, lambda x: np.roll(x, 1, axis=1), F32),
]

REPEAT_ROWS = [
    row(np.tile, lambda x: np.tile(x, 2), X),
    row(np.tile, lambda x: np.tile(x, (2, 1, 3)), X),
    row(np.tile, lambda x: np.tile(x, (2,)), X3),
    row(np.repeat, lambda x: np.repeat(x, 2), X),
    row(np.repeat, lambda x: np.repeat(x, 3, axis=-1), X),
    row(np.repeat, lambda x: np.repeat(x, [1, 0, 2], axis=1), X),
    row(np.repeat, lambda x: np.repeat(x, [2], axis=0), X),
    row(np.resize, lambda x: np.resize(x, (3, 4)), X),
    row(np.resize, lambda x: np.resize(x, (2, 2)), X),
    row(np.meshgrid, lambda x, y: np.meshgrid(x, y), V, normal(3)),
    row(np.meshgrid, lambda x, y: np.meshgrid(x, y, indexing="ij")[1] ** 2, V, normal(3)),
    row(
        np.meshgrid,
        lambda x, y, z: np.meshgrid(x, y, z, sparse=True),
        *(V, normal(3), normal(2)),
    ),
    row(np.delete, lambda x: np.delete(x, 1), X),
    row(np.delete, lambda x: np.delete(x, [0, -1], axis=1), X),
    row(np.delete, lambda x: np.delete(x, slice(0, 2), axis=-1), X3),
]

PAD_ROWS = [
    row(np.pad, lambda x: np.pad(x, 2), V),
    row(np.pad, lambda x: np.pad(x, ((1, 0), (0, 2))), X),
    row(np.pad, lambda x, c: np.pad(x, ((1, 2), (3, 1)), constant_values=c), X, SCALAR),
    row(np.pad, lambda x, c: np.pad(x, (1, 2), constant_values=(c, 2 * c)), X, SCALAR),
    row(
        np.pad,
        lambda x, c: np.pad(x, 1, constant_values=((c, 1.0), (c * c, c))),
        *(X, SCALAR),
    ),
    row(np.pad, lambda x: np.pad(x, (2, 1), mode="edge"), X),
    row(np.pad, lambda x: np.pad(x, ((1, 1), (2, 2)), mode="reflect"), X),
    row(np.pad, lambda x: np.pad(x, (3, 5), mode="reflect"), V),
    row(np.pad, lambda x: np.pad(x, (2, 5), mode="symmetric"), X),
    row(np.pad, lambda x: np.pad(x, ((1, 3), (4, 2)), mode="wrap"), X),
]

DIAGONAL_ROWS = [
    row(np.diag, lambda v: np.diag(v), V),
    row(np.diag, lambda v: np.diag(v, -2), V),
    row(np.diag, lambda a: np.diag(a), SQUARE),
    row(np.diag, lambda a: np.diag(a, 1) ** 2, SQUARE),
    row(np.diag, lambda a: np.diag(a, 1), normal(2, 4)),
    row(np.diag, lambda a: np.diag(a, -1), normal(2, 4)),
    row(np.diagflat, lambda a: np.diagflat(a, 1), X),
    row(np.diagflat, lambda a: np.diagflat(a), V),
    row(np.diagonal, lambda a: np.diagonal(a), SQUARE),
    row(np.diagonal, lambda a: np.diagonal(a, 1, 0, 2) ** 2, X3),
    row(np.diagonal, lambda a: np.diagonal(a, -1, -1, 0), X3),
    row(np.linalg.diagonal, lambda a: np.linalg.diagonal(a), X3),
    row(np.linalg.diagonal, lambda a: np.linalg.diagonal(a, offset=-1), X3),
    row(np.tril, lambda a: np.tril(a), SQUARE),
    row(np.tril, lambda a: np.tril(a, -1), X3),
    row(np.tril, lambda a: np.tril(a), V),
    row(np.triu, lambda a: np.triu(a) @ a, SQUARE),
    row(np.triu, lambda a: np.triu(a, 1), X3),
]

COPY_ROWS = [
    row(np.ndarray.copy, lambda x: x.copy() ** 2, X),
    row(np.copy, lambda x: np.copy(x) * x, X),
    row(np.copy, lambda x: x.copy(), Z),
    row(np.ndarray.astype, lambda x: x.astype(np.float32) * 2, F32),
    row(np.ndarray.astype, lambda x: x.astype(complex) * 1j, X),
    row(np.ndarray.astype, lambda x: x.astype(np.float64) ** 2, F32),
    row(np.ascontiguousarray, lambda x: np.ascontiguousarray(x.T), X),
    row(np.ascontiguousarray, lambda x: np.ascontiguousarray(x) ** 2, SCALAR),
    row(np.asfortranarray, lambda x: np.asfortranarray(x) * x, X),
    row(np.asfortranarray, lambda x: np.asfortranarray(x), Z),
    row(np.full_like, lambda x, c: np.full_like(x, c) * x, X, SCALAR),
    row(np.full_like, lambda x, c: np.full_like(x, c), X, normal(3)),
    row(np.zeros_like, lambda x: np.zeros_like(x) + x, X),
    row(np.zeros_like, lambda x: x * np.zeros_like(x), X),
    row(np.ones_like, lambda x: np.ones_like(x) * x, X),
    row(np.ones_like, lambda x: np.ones_like(x, shape=3) * x, X),
    row(np.full, lambda c: np.full((2, 3), c) ** 2, SCALAR),
    row(np.full, lambda c: np.full((2, 3), c), normal(3)),
]

ROWS = [*SHAPE_ROWS, *AXIS_ROWS, *REPEAT_ROWS, *PAD_ROWS, *DIAGONAL_ROWS, *COPY_ROWS]

if hasattr(np, "astype"):
    ROWS += [
        row(np.astype, lambda x: np.astype(x, np.complex128) ** 2, X),
        row(np.astype, lambda x: np.astype(x, np.float64), F32),
    ]


@table(ROWS)
def test_shapes(row):
    check(row)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (1, 1)])
def test_small_arrays(shape):
    for f in (np.ravel, np.flip, lambda x: np.tile(x, 2), lambda x: np.repeat(x, 2, axis=0)):
        check(row(f, f, np.ones(shape)))


def test_memory_orders():
    for x in (np.asfortranarray(X3), X3[:, ::-1], X3.T):
        check(row(np.reshape, lambda x: np.reshape(x, (4, 6)) ** 2, x))


def test_repeat_by_an_array():
    counts = np.array([2, 0, 1])
    check(row(np.repeat, lambda x: np.repeat(x, counts, axis=1) ** 2, X))
