"""Rules of np.linalg.norm, vector_norm, matrix_norm and cond.

At a norm of 0 the derivative is taken as 0; elements that tie for a maximum or minimum share it.
Dividing by ``np.where(out == 0, np.inf, out)`` does the first, in the second derivative too.
"""

from __future__ import annotations

import numpy as np

from .linalg import inv_vjp
from .products import conj
from .table import defvjp


@defvjp(np.linalg.norm)
def norm_vjp(g, out, x, ord=None, axis=None, keepdims=False):
    if axis is None and ord is None:
        return g * conj(x) / _or_inf(out)
    axes = _axes(axis, x.ndim)
    g, out = (g, out) if keepdims else (_expand(g, axes), _expand(out, axes))
    if ord is None or (len(axes) == 2 and ord in ("fro", "f")):
        return g * conj(x) / _or_inf(out)
    if len(axes) == 1:
        return _vector(g, out, x, ord, axes[0])
    return _matrix(g, out, x, ord, axes)


@defvjp(np.linalg.vector_norm)
def vector_norm_vjp(g, out, x, *, axis=None, keepdims=False, ord=2):
    axes = _axes(axis, x.ndim)
    g, out = (g, out) if keepdims else (_expand(g, axes), _expand(out, axes))
    return _vector(g, out, x, ord, axes)


@defvjp(np.linalg.matrix_norm)
def matrix_norm_vjp(g, out, x, *, keepdims=False, ord="fro"):
    return norm_vjp(g, out, x, ord, (-2, -1), keepdims)


@defvjp(np.linalg.cond)
def cond_vjp(g, out, x, p=None):
    if g.dtype.kind == "c":  # of a complex matrix NumPy 2.0 gives a complex number
        g, out = np.real(g), np.real(out)
    if p is None or p in (2, -2):
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        first, last = (-1, 0) if p == -2 else (0, -1)
        ends = [
            conj(u[..., :, i, None] * vh[..., i, None, :]) / s[..., i, None, None]
            for i in (first, last)
        ]
        return _expand(g * out, (-2, -1)) * (ends[0] - ends[1])
    inverse = np.linalg.inv(x)
    size, size_of_inverse = (np.linalg.norm(m, p, (-2, -1)) for m in (x, inverse))
    direct = norm_vjp(g * size_of_inverse, size, x, p, (-2, -1))
    through = norm_vjp(g * size, size_of_inverse, inverse, p, (-2, -1))
    return direct + inv_vjp(through, inverse, x)


def _axes(axis, ndim):
    if axis is None:
        return tuple(range(ndim))
    return tuple(i % ndim for i in axis) if type(axis) in (tuple, list) else (axis % ndim,)


def _expand(x, axes):
    return np.expand_dims(x, axes) if axes else x


def _or_inf(x):
    """Return a divisor that makes of 0 / 0 a 0."""
    return np.where(x == 0, np.inf, x)


def _direction(x):
    """Return what |x| grows by: the sign, of a complex number its conjugate."""
    return conj(x) / _or_inf(np.abs(x)) if x.dtype.kind == "c" else np.sign(x)


def _share(chosen, axis):
    """Return equal weights for the elements that are `chosen`."""
    return chosen / np.sum(chosen, axis=axis, keepdims=True)


def _vector(g, out, x, ord, axis):
    size = np.abs(x)
    if ord == 2:
        return g * conj(x) / _or_inf(out)
    if ord in (np.inf, -np.inf):
        return g * _share(size == out, axis) * _direction(x)
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return g * _direction(x)
    if ord < 1:  # a zero counts as infinitely far: no derivative there
        size = _or_inf(size)
    return g * (size / _or_inf(out)) ** (ord - 1) * _direction(x)


def _matrix(g, out, x, ord, axes):
    row, column = axes
    if ord in (1, -1, np.inf, -np.inf):
        along, over = (row, column) if ord in (1, -1) else (column, row)
        sums = np.sum(np.abs(x), axis=along, keepdims=True)
        return g * _share(sums == out, over) * _direction(x)
    a = np.moveaxis(x, axes, (-2, -1))
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    if ord == "nuc":
        weight = np.sign(s)
    else:
        best = np.max(s, axis=-1, keepdims=True) if ord == 2 else np.min(s, axis=-1, keepdims=True)
        weight = _share(s == best, -1) * np.sign(s)
    direction = conj((u * weight[..., None, :]) @ vh)
    return g * np.moveaxis(direction, (-2, -1), axes)
