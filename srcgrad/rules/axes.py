"""What the rules of reductions share: axes, masks, and arguments that may be nested lists."""

from __future__ import annotations

import math

import numpy as np

from ..runtime import full
from ..trace import leaves
from .shapes import shape_of
from .ufuncs import is_literal


def axes_of(axis, ndim):
    """Return the axes of a reduction, each 0 or more, in their order."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(i % ndim for i in axis) if type(axis) is tuple else (axis % ndim,)


def expanded(g, axis, keepdims):
    """Return a reduced array with its lost axes back, each of size 1."""
    if keepdims or axis is None or axis == ():
        return g
    return np.expand_dims(g, axis)


def kept(axis):
    """Return the arguments of a reduction over `axis` whose result broadcasts with its operand."""
    return {} if axis is None else {"axis": axis, "keepdims": True}


def as_rows(a, axis):
    """Return `a` with the axes of a reduction as one last axis, and the way back."""
    axes = axes_of(axis, a.ndim) if a.ndim else ()
    if len(axes) == a.ndim:
        return np.ravel(a), lambda rows: np.reshape(rows, a.shape)
    if not axes:
        return a[..., None], lambda rows: rows[..., 0]
    if axes == (a.ndim - 1,):
        return a, lambda rows: rows
    last = tuple(range(-len(axes), 0))
    moved = np.moveaxis(a, axes, last)
    rows = np.reshape(moved, (*moved.shape[: a.ndim - len(axes)], -1)) if len(axes) > 1 else moved
    return rows, lambda rows: np.moveaxis(np.reshape(rows, moved.shape), last, axes)


def count(a, axis, where=None):
    """Return over how many elements a reduction runs."""
    if where is not None:
        return np.sum(np.broadcast_to(where, a.shape), **kept(axis))
    if axis is None:
        return a.size
    if type(axis) is tuple:
        return math.prod(a.shape[i] for i in axis)
    return a.shape[axis] if a.ndim else 1


def masked(g, where):
    """Return `g` where an element took part, else 0."""
    return g if where is None else np.where(where, g, 0)


def given(where):
    """Return `where`, None for the plain True that says nothing."""
    return None if where is True else where


def numbers(a, where=None):
    """Return where `a` is a number and not a nan."""
    number = ~np.isnan(a)
    return number if given(where) is None else number & where


def array_of(x):
    """Return an argument as an array, where it may be a nested list of numbers."""
    if type(x) not in (list, tuple):
        return x
    if all(is_literal(item) for item in leaves(x)):
        return full(shape_of(x), x)
    return np.stack([array_of(item) for item in x])


def items_like(x, bar):
    """Return the cotangent of an argument that may be a nested list."""
    if type(x) not in (list, tuple):
        return bar
    return [items_like(item, bar[i]) for i, item in enumerate(x)]
