"""Rules of NumPy's functions that rearrange, repeat, pad and copy an array.

They follow the chapters "Array manipulation" and "Array creation" of NumPy's manual. Most are
linear: the cotangent is the opposite rearrangement of `g`.
"""

from __future__ import annotations

import numpy as np

from ..errors import NoDerivativeError, place
from ..runtime import add_at, arange, set_at, zeros
from .table import defvjp, linear, nograd

linear(
    *(np.reshape, np.ravel, np.transpose, np.permute_dims),
    *(np.matrix_transpose, np.linalg.matrix_transpose, np.swapaxes, np.moveaxis, np.rollaxis),
    *(np.expand_dims, np.squeeze, np.broadcast_to, np.flip, np.fliplr, np.flipud, np.rot90),
    *(np.roll, np.tile, np.repeat, np.diag, np.diagonal, np.linalg.diagonal, np.diagflat),
    *(np.tril, np.triu, np.copy, np.ndarray.copy, np.ndarray.astype, np.ascontiguousarray),
    *(np.asfortranarray, np.delete, np.resize),
)
nograd(np.zeros_like, np.ones_like, np.empty_like)


def shape_of(x):
    """Return the shape of an array, a number, or a nested list of these."""
    if type(x) in (list, tuple):
        return (len(x), *shape_of(x[0])) if x else (0,)
    return getattr(x, "shape", ())


def at(axis, index):
    """Return the index that applies `index` along `axis` (0 or more)."""
    return index if axis == 0 else (*(slice(None),) * axis, index)


def unsupported(what, way_out):
    """Return the error of an argument that has no rule."""
    return NoDerivativeError(f"{what} has no derivative rule, used in {place()}. {way_out}")


# Shapes -------------------------------------------------------------------------------------------


@defvjp(np.reshape)
def reshape_vjp(g, out, a, shape=None, order="C", **other):  # newshape (NumPy 2.0), copy
    return _reshape_back(g, a, order, "np.reshape")


@defvjp(np.ravel)
def ravel_vjp(g, out, a, order="C"):
    return _reshape_back(g, a, order, "np.ravel")


def _reshape_back(g, a, order, name):
    if order == "C":
        return np.reshape(g, a.shape)
    if order == "F":
        return np.reshape(g, a.shape, order="F")
    raise unsupported(f"{name} with order={order!r}", "Say order='C' or order='F'.")


@defvjp(np.expand_dims, np.squeeze)
def expand_dims_vjp(g, out, a, axis=None):
    return np.reshape(g, a.shape)


@defvjp(np.atleast_1d, np.atleast_2d, np.atleast_3d)
def atleast_vjp(g, out, *arys):
    if len(arys) == 1:
        return np.reshape(g, shape_of(arys[0]))
    return tuple(
        None if one is None else np.reshape(one, shape_of(a))
        for one, a in zip(g, arys, strict=True)
    )


@defvjp(np.broadcast_to)
def broadcast_to_vjp(g, out, array, shape):
    return g


@defvjp(np.broadcast_arrays)
def broadcast_arrays_vjp(g, out, *args):
    return tuple(g)


# Axes ---------------------------------------------------------------------------------------------


@defvjp(*dict.fromkeys((np.transpose, np.permute_dims)))
def transpose_vjp(g, out, a, axes=None):
    if axes is None:
        return g.T
    axes = [axis % a.ndim for axis in axes]
    return np.transpose(g, tuple(axes.index(i) for i in range(a.ndim)))


@defvjp(*dict.fromkeys((np.matrix_transpose, np.linalg.matrix_transpose)))
def matrix_transpose_vjp(g, out, x):
    return mT(g)


def mT(a):
    """Return the transpose of a matrix or of a stack of matrices."""
    return a.T if a.ndim == 2 else np.matrix_transpose(a)


@defvjp(np.swapaxes)
def swapaxes_vjp(g, out, a, axis1, axis2):
    return np.swapaxes(g, axis1, axis2)


@defvjp(np.moveaxis)
def moveaxis_vjp(g, out, a, source, destination):
    return np.moveaxis(g, destination, source)


@defvjp(np.rollaxis)
def rollaxis_vjp(g, out, a, axis, start=0):
    axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
    return np.moveaxis(g, start - 1 if axis < start else start, axis)


@defvjp(np.flip)
def flip_vjp(g, out, m, axis=None):
    return np.flip(g, axis)


@defvjp(np.fliplr)
def fliplr_vjp(g, out, m):
    return np.fliplr(g)


@defvjp(np.flipud)
def flipud_vjp(g, out, m):
    return np.flipud(g)


@defvjp(np.rot90)
def rot90_vjp(g, out, m, k=1, axes=(0, 1)):
    return np.rot90(g, -k, axes)


@defvjp(np.roll)
def roll_vjp(g, out, a, shift, axis=None):
    back = tuple(-s for s in shift) if type(shift) in (tuple, list) else -shift
    return np.roll(g, back, axis)


# Repeats ------------------------------------------------------------------------------------------


@defvjp(np.tile)
def tile_vjp(g, out, A, reps):
    reps = tuple(reps) if shape_of(reps) else (reps,)
    n = max(A.ndim, len(reps))
    sizes = (1,) * (n - A.ndim) + A.shape
    reps = (1,) * (n - len(reps)) + reps
    blocks = np.reshape(g, [size for pair in zip(reps, sizes, strict=True) for size in pair])
    return np.reshape(np.sum(blocks, axis=tuple(range(0, 2 * n, 2))), A.shape)


@defvjp(np.repeat)
def repeat_vjp(g, out, a, repeats, axis=None):
    if axis is None:
        return np.reshape(_unrepeat(g, (a.size,), a.dtype, repeats, 0), a.shape)
    return _unrepeat(g, a.shape, a.dtype, repeats, axis % a.ndim)


def _unrepeat(g, shape, dtype, repeats, axis):
    if shape_of(repeats) == ():
        blocks = np.reshape(g, (*shape[: axis + 1], repeats, *shape[axis + 1 :]))
        return np.sum(blocks, axis=axis + 1)
    source = np.repeat(arange(shape[axis]), repeats)
    return add_at(zeros(shape, dtype), at(axis, source), g)


@defvjp(np.resize)
def resize_vjp(g, out, a, new_shape):
    if a.size == 0:
        return zeros(a.shape, a.dtype)
    source = arange(out.size) % a.size
    return np.reshape(add_at(zeros(a.size, a.dtype), source, np.ravel(g)), a.shape)


@defvjp(np.meshgrid)
def meshgrid_vjp(g, out, *xi, copy=True, sparse=False, indexing="xy"):
    axes = list(range(len(xi)))
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    return tuple(
        None if one is None else _sum_other_axes(one, axis, shape_of(x))
        for one, axis, x in zip(g, axes, xi, strict=True)
    )


def _sum_other_axes(g, axis, shape):
    others = tuple(i for i in range(g.ndim) if i != axis)
    return np.reshape(np.sum(g, axis=others), shape)


@defvjp(np.delete)
def delete_vjp(g, out, arr, obj, axis=None):
    if axis is None:
        kept = np.delete(arange(arr.size), obj)
        return np.reshape(set_at(zeros(arr.size, arr.dtype), kept, g), arr.shape)
    axis = axis % arr.ndim
    kept = np.delete(arange(arr.shape[axis]), obj)
    return set_at(zeros(arr.shape, arr.dtype), at(axis, kept), g)


# Padding ------------------------------------------------------------------------------------------


@defvjp(np.pad)
def pad_vjp(g, out, array, pad_width, mode="constant", constant_values=0, reflect_type="even"):
    widths = _pairs(pad_width, array.ndim)
    if mode in ("constant", "empty"):
        inner = _unpad(g, widths, array.shape)
        return inner, None, None, _pad_values(g, widths, array.shape, constant_values)
    if mode not in ("edge", "reflect", "symmetric", "wrap") or reflect_type != "even":
        raise unsupported(
            f"np.pad with mode={mode!r}, reflect_type={reflect_type!r}",
            "Pad with np.concatenate, or with mode='constant', 'edge', 'reflect', "
            "'symmetric' or 'wrap'.",
        )
    for axis, width in enumerate(widths):
        if not _is_zero(width):
            shape = (*array.shape[: axis + 1], *g.shape[axis + 1 :])
            source = np.pad(arange(array.shape[axis]), width, mode)
            g = add_at(zeros(shape, array.dtype), at(axis, source), g)
    return g


def _pairs(pad_width, ndim):
    """Return the (before, after) of each axis, as np.pad reads its argument."""
    if type(pad_width) is dict:
        given = {axis % ndim: width for axis, width in pad_width.items()}
        return [_pairs(given.get(axis, 0), 1)[0] for axis in range(ndim)]
    shape = shape_of(pad_width)
    rows = [pad_width] * ndim
    if len(shape) == 2:
        rows = [pad_width[i if shape[0] > 1 else 0] for i in range(ndim)]
    columns = shape[-1] if shape else 0
    return [(row, row) if columns == 0 else (row[0], row[columns - 1]) for row in rows]


def _is_zero(width):
    return all(type(w) is int and w == 0 for w in width)


def _unpad(g, widths, shape):
    if all(_is_zero(width) for width in widths):
        return g
    return g[tuple(slice(b, b + n) for (b, _), n in zip(widths, shape, strict=True))]


def _pad_values(g, widths, shape, constant_values):
    """Return the cotangent of the constants; np.pad fills axis after axis, corners last."""
    if len(shape_of(constant_values)) == 0:
        return np.sum(g) - np.sum(_unpad(g, widths, shape))
    sums = []
    for axis in reversed(range(g.ndim)):
        before, after = widths[axis][0], widths[axis][0] + shape[axis]
        ends = g[at(axis, slice(None, before))], g[at(axis, slice(after, None))]
        sums.insert(0, [np.sum(end) for end in ends])
        g = g[at(axis, slice(before, after))]
    table = np.stack([np.stack(pair) for pair in sums])
    if type(constant_values) not in (list, tuple):
        return table
    return _sum_to_nest(table, shape_of(constant_values))


def _sum_to_nest(table, shape):
    if shape[-1] == 1:
        table = np.sum(table, axis=1, keepdims=True)
    if len(shape) == 1 or shape[0] == 1:
        table = np.sum(table, axis=0, keepdims=True)
    rows = [[table[i, j] for j in range(table.shape[1])] for i in range(table.shape[0])]
    return rows if len(shape) == 2 else rows[0]


# Diagonals and triangles --------------------------------------------------------------------------


def diagonal_index(offset, length):
    """Return the row and column numbers of a diagonal of `length`."""
    i = arange(length)
    return (i - offset, i) if offset < 0 else (i, i + offset) if offset > 0 else (i, i)


@defvjp(np.diag)
def diag_vjp(g, out, v, k=0):
    if v.ndim == 1:
        return np.diag(g, k)
    if v.shape[0] == v.shape[1] and out.shape[0] > 0:
        return np.diag(g, k)
    return set_at(zeros(v.shape, v.dtype), diagonal_index(k, out.shape[0]), g)


@defvjp(np.diagflat)
def diagflat_vjp(g, out, v, k=0):
    return np.reshape(np.diag(g, k), shape_of(v))


@defvjp(np.diagonal)
def diagonal_vjp(g, out, a, offset=0, axis1=0, axis2=1):
    return onto_diagonal(g, a, offset, axis1, axis2)


@defvjp(np.linalg.diagonal)
def linalg_diagonal_vjp(g, out, x, *, offset=0):
    return onto_diagonal(g, x, offset, -2, -1)


def onto_diagonal(g, a, offset, axis1, axis2):
    """Return an array like `a` with `g`, whose last axis runs along the diagonal, put there."""
    axis1, axis2 = axis1 % a.ndim, axis2 % a.ndim
    rest = tuple(a.shape[i] for i in range(a.ndim) if i not in (axis1, axis2))
    blank = zeros((*rest, a.shape[axis1], a.shape[axis2]), a.dtype)
    full = set_at(blank, (Ellipsis, *diagonal_index(offset, g.shape[-1])), g)
    if (axis1, axis2) == (a.ndim - 2, a.ndim - 1):
        return full
    return np.moveaxis(full, (-2, -1), (axis1, axis2))


@defvjp(np.tril)
def tril_vjp(g, out, m, k=0):
    return np.tril(g, k)


@defvjp(np.triu)
def triu_vjp(g, out, m, k=0):
    return np.triu(g, k)


# Copies and values --------------------------------------------------------------------------------


@defvjp(np.copy)
def copy_vjp(g, out, a, order="K", subok=False):
    return g


@defvjp(np.ndarray.copy)
def ndarray_copy_vjp(g, out, self, order="C"):
    return g


@defvjp(np.ndarray.astype)
def ndarray_astype_vjp(g, out, self, dtype, order="K", casting="unsafe", subok=True, copy=True):
    return g


@defvjp(np.ascontiguousarray, np.asfortranarray)
def ascontiguousarray_vjp(g, out, a, dtype=None):
    return np.reshape(g, shape_of(a))


@defvjp(np.full_like)
def full_like_vjp(
    g, out, a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None
):
    return None, _unfilled(g, fill_value)


@defvjp(np.full)
def full_vjp(g, out, shape, fill_value, dtype=None, order="C", *, device=None):
    return None, _unfilled(g, fill_value)


def _unfilled(g, fill_value):
    return g if shape_of(fill_value) else np.sum(g)


if hasattr(np, "astype"):
    linear(np.astype)

    @defvjp(np.astype)
    def astype_vjp(g, out, x, dtype, *, copy=True, device=None):
        return g
