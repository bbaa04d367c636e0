"""Rules of NumPy's products of vectors, matrices and arrays.

`g` stands where `out` stood: each cotangent is the product of `g` and the other operand. Sums over
the axes of a batch that an operand does not have are the engine's business.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..runtime import eye, set_at, zeros
from .shapes import mT, unsupported
from .table import defvjp, linear, multilinear

multilinear(
    *(np.dot, np.matmul, np.linalg.matmul, np.inner, np.outer, np.linalg.outer),
    *(np.tensordot, np.linalg.tensordot, np.kron, np.cross, np.linalg.cross, np.convolve),
)
linear(np.trace, np.linalg.trace)


def conj(x):
    """Return the conjugate of complex `x`, real `x` as it is."""
    return np.conj(x) if x.dtype.kind == "c" else x


# Matrix products ----------------------------------------------------------------------------------


MATMULS: dict[Any, None] = dict.fromkeys((np.matmul, np.linalg.matmul))  # one in NumPy 2.0


@defvjp(*MATMULS)
def matmul_vjp(g, out, x1, x2):
    match x1.ndim, x2.ndim:
        case 1, 1:
            return g * x2, g * x1
        case 2, 1:
            return np.outer(g, x2), g @ x1
        case 1, 2:
            return x2 @ g, np.outer(x1, g)
        case _, 1:
            return g[..., None] * x2, np.tensordot(g, x1, g.ndim)
        case 1, _:
            return (x2 @ g[..., None])[..., 0], x1[:, None] * g[..., None, :]
        case n, 2 if n > 2:
            rows = list(range(n - 1))
            return g @ x2.T, np.tensordot(x1, g, (rows, rows))
    return g @ mT(x2), mT(x1) @ g


@defvjp(np.dot)
def dot_vjp(g, out, a, b):
    if a.ndim == 0 or b.ndim == 0:
        return g * b, g * a
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul_vjp(g, out, a, b)
    return tensordot_vjp(g, out, a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)]))


@defvjp(np.inner)
def inner_vjp(g, out, a, b):
    if a.ndim == 0 or b.ndim == 0 or (a.ndim == 1 and b.ndim == 1):
        return g * b, g * a
    if a.ndim == 2 and b.ndim == 2:
        return g @ b, g.T @ a
    rows = list(range(a.ndim - 1))
    return np.tensordot(g, b, b.ndim - 1), np.tensordot(g, a, (rows, rows))


@defvjp(np.vdot)
def vdot_vjp(g, out, a, b):
    return np.reshape(conj(g * b), a.shape), np.reshape(g * conj(a), b.shape)


@defvjp(np.outer)
def outer_vjp(g, out, a, b):
    if a.ndim == 1 and b.ndim == 1:
        return g @ b, a @ g
    return np.reshape(g @ np.ravel(b), a.shape), np.reshape(np.ravel(a) @ g, b.shape)


@defvjp(np.linalg.outer)
def linalg_outer_vjp(g, out, x1, x2):
    return g @ x2, x1 @ g


@defvjp(np.linalg.multi_dot)
def multi_dot_vjp(g, out, arrays):
    last = len(arrays) - 1
    matrices = list(arrays)
    if arrays[0].ndim == 1:
        matrices[0], g = arrays[0][None, :], g[None]
    if arrays[last].ndim == 1:
        matrices[last], g = arrays[last][:, None], g[..., None]
    turned = [m.T for m in matrices]
    parts = [_chain([*turned[:i][::-1], g, *turned[i + 1 :][::-1]]) for i in range(last + 1)]
    return [np.reshape(p, a.shape) for p, a in zip(parts, arrays, strict=True)]


def _chain(matrices):
    return matrices[0] @ matrices[1] if len(matrices) == 2 else np.linalg.multi_dot(matrices)


# Products of NumPy 2 that conjugate their first operand -------------------------------------------


@defvjp(np.vecdot)
def vecdot_vjp(g, out, x1, x2, axis=-1):
    if axis == -1:
        g = g[..., None]
        return conj(g * x2), g * conj(x1)
    axis1 = axis if axis < 0 else axis - x1.ndim  # each operand counts its own axes
    axis2 = axis if axis < 0 else axis - x2.ndim
    x1_bar, x2_bar = vecdot_vjp(g, out, np.moveaxis(x1, axis1, -1), np.moveaxis(x2, axis2, -1))
    return np.moveaxis(x1_bar, -1, axis1), np.moveaxis(x2_bar, -1, axis2)


@defvjp(np.linalg.vecdot)
def linalg_vecdot_vjp(g, out, x1, x2, *, axis=-1):
    return vecdot_vjp(g, out, x1, x2, axis)


if hasattr(np, "matvec"):  # NumPy 2.2
    multilinear(np.matvec)

    @defvjp(np.matvec)
    def matvec_vjp(g, out, x1, x2):
        if x1.ndim == 2 and x2.ndim == 1:
            return np.outer(g, x2), g @ x1
        return g[..., None] * x2[..., None, :], np.matvec(mT(x1), g)


if hasattr(np, "vecmat"):

    @defvjp(np.vecmat)
    def vecmat_vjp(g, out, x1, x2):
        if x1.ndim == 1 and x2.ndim == 2:
            return conj(x2 @ g), np.outer(conj(x1), g)
        x1_bar = (x2 @ g[..., None])[..., 0]
        return conj(x1_bar), conj(x1)[..., None] * g[..., None, :]


# Products over given axes -------------------------------------------------------------------------


@defvjp(np.tensordot)
def tensordot_vjp(g, out, a, b, axes=2):
    summed_a, summed_b = _pairs_of_axes(a, b, axes)
    free_a = [i for i in range(a.ndim) if i not in summed_a]
    free_b = [i for i in range(b.ndim) if i not in summed_b]
    m, n = len(free_a), len(free_b)
    a_bar = np.tensordot(g, b, (list(range(m, m + n)), free_b))
    b_bar = np.tensordot(a, g, (free_a, list(range(m))))
    a_axes = [*free_a, *(summed_a[summed_b.index(i)] for i in sorted(summed_b))]
    b_axes = [*(summed_b[summed_a.index(i)] for i in sorted(summed_a)), *free_b]
    return _placed(a_bar, a_axes), _placed(b_bar, b_axes)


@defvjp(np.linalg.tensordot)
def linalg_tensordot_vjp(g, out, x1, x2, *, axes=2):
    return tensordot_vjp(g, out, x1, x2, axes)


def _pairs_of_axes(a, b, axes):
    if type(axes) not in (tuple, list):
        return list(range(a.ndim - axes, a.ndim)), list(range(axes))
    first, second = ([one] if type(one) is int else list(one) for one in axes)
    return [i % a.ndim for i in first], [i % b.ndim for i in second]


def _placed(x, axes):
    """Return `x` with its axis number k as axis ``axes[k]``."""
    order = tuple(axes.index(i) for i in range(len(axes)))
    return x if order == tuple(range(len(axes))) else np.transpose(x, order)


@defvjp(np.kron)
def kron_vjp(g, out, a, b):
    n = max(a.ndim, b.ndim)
    a_shape = (1,) * (n - a.ndim) + a.shape
    b_shape = (1,) * (n - b.ndim) + b.shape
    blocks = np.reshape(g, [size for pair in zip(a_shape, b_shape, strict=True) for size in pair])
    of_a, of_b = list(range(0, 2 * n, 2)), list(range(1, 2 * n, 2))
    a_bar = np.tensordot(blocks, np.reshape(b, b_shape), (of_b, list(range(n))))
    b_bar = np.tensordot(blocks, np.reshape(a, a_shape), (of_a, list(range(n))))
    return np.reshape(a_bar, a.shape), np.reshape(b_bar, b.shape)


@defvjp(np.trace)
def trace_vjp(g, out, a, offset=0, axis1=0, axis2=1, dtype=None):
    axis1, axis2 = axis1 % a.ndim, axis2 % a.ndim
    diagonal = eye(a.shape[axis1], a.shape[axis2], offset, bool)
    full = np.where(diagonal, g[..., None, None] if a.ndim > 2 else g, 0)
    in_place = (axis1, axis2) == (a.ndim - 2, a.ndim - 1)
    return full if in_place else np.moveaxis(full, (-2, -1), (axis1, axis2))


@defvjp(np.linalg.trace)
def linalg_trace_vjp(g, out, x, *, offset=0, dtype=None):
    return trace_vjp(g, out, x, offset, -2, -1)


@defvjp(np.cross)
def cross_vjp(g, out, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    axisa = axisa if axisa < 0 else axisa - a.ndim
    axisb = axisb if axisb < 0 else axisb - b.ndim
    if a.shape[axisa] != 3 or b.shape[axisb] != 3:
        raise unsupported(
            "np.cross of vectors of length 2", "Write a[0] * b[1] - a[1] * b[0] out, or append 0."
        )
    if axisa == axisb == -1 and axisc in (-1, g.ndim - 1):
        return np.cross(b, g), np.cross(g, a)
    return np.cross(b, g, axisb, axisc, axisa), np.cross(g, a, axisc, axisa, axisb)


@defvjp(np.linalg.cross)
def linalg_cross_vjp(g, out, x1, x2, *, axis=-1):
    return cross_vjp(g, out, x1, x2, axis=axis)


# Convolution --------------------------------------------------------------------------------------


@defvjp(np.convolve)
def convolve_vjp(g, out, a, v, mode="full"):
    n, m = a.shape[0], v.shape[0]
    if mode != "full":  # "same" and "valid" are the middle of "full"
        start = (min(n, m) - 1) // 2 if mode == "same" else min(n, m) - 1
        g = set_at(zeros(n + m - 1, g.dtype), slice(start, start + out.shape[0]), g)
    return np.convolve(g, v[::-1], "valid"), np.convolve(g, a[::-1], "valid")


@defvjp(np.correlate)
def correlate_vjp(g, out, a, v, mode="valid"):
    if a.shape[0] < v.shape[0] and mode == "same":
        raise unsupported("np.correlate(a, v, 'same') with v the longer", "Use mode='full'.")
    a_bar, turned = convolve_vjp(g, out, a, conj(v)[::-1], mode)
    return a_bar, conj(turned)[::-1]
