"""Rules of what selects elements of an array: subscripts, np.take, np.where, sorting."""

from __future__ import annotations

import operator

import numpy as np

from ..runtime import add_at, arange, set_at, zeros
from .shapes import at, shape_of
from .table import defvjp, linear

linear(operator.getitem, np.take, np.take_along_axis, np.compress, np.extract)

# Subscripts ---------------------------------------------------------------------------------------


@defvjp(operator.getitem)
def getitem_vjp(g, out, a, b):
    return _put(zeros(a.shape, a.dtype), b, g)


def _put(blank, index, g):
    """Put `g` into zeros, adding up where the index may name an element twice."""
    return add_at(blank, index, g) if may_repeat(index) else set_at(blank, index, g)


def may_repeat(index):
    """Tell whether an index may name an element twice: numbers in a list or an array can.

    One mask can not, but a mask beside a list of numbers is broadcast with it.
    """
    parts = index if type(index) is tuple else (index,)
    lists = [p for p in parts if type(p) in (list, tuple) or getattr(p, "ndim", 0) > 0]
    masks = [p for p in lists if getattr(getattr(p, "dtype", None), "kind", "") == "b"]
    return len(lists) > 1 or len(lists) > len(masks)


@defvjp(set_at)
def set_at_vjp(g, out, a, index, value):
    return set_at(g, index, 0), None, _fit(_written(g, index), value)


@defvjp(add_at)
def add_at_vjp(g, out, a, index, value):
    return g, None, _fit(g[index], value)


def _written(g, index):
    """Return ``g[index]``, zero for what a later value at the same place has overwritten."""
    part = g[index]
    if not may_repeat(index):
        return part
    number = np.reshape(arange(part.size), part.shape)
    last = set_at(zeros(g.shape, int), index, number)[index]
    return np.where(last == number, part, 0)


def _fit(part, value):
    """Give `part` the leading axes of size 1 that NumPy drops from a value."""
    extra = len(shape_of(value)) - len(part.shape)
    return part[(None,) * extra] if extra > 0 else part


# Taking -------------------------------------------------------------------------------------------


@defvjp(np.take)
def take_vjp(g, out, a, indices, axis=None, mode="raise"):
    if axis is None:
        flat = zeros(a.size, a.dtype)
        return np.reshape(_put(flat, _wrapped(indices, a.size, mode), g), a.shape)
    axis = axis % a.ndim
    index = at(axis, _wrapped(indices, a.shape[axis], mode))
    return _put(zeros(a.shape, a.dtype), index, g)


def _wrapped(indices, n, mode):
    """Return the indices as a subscript: inside the bounds, and no tuple."""
    if type(indices) in (list, tuple):
        return [_wrapped(i, n, mode) for i in indices]
    if mode == "raise":
        return indices
    if type(indices) is int:
        return indices % n if mode == "wrap" else min(max(indices, 0), n - 1)
    return np.mod(indices, n) if mode == "wrap" else np.clip(indices, 0, n - 1)


@defvjp(np.take_along_axis)
def take_along_axis_vjp(g, out, arr, indices, axis=-1):
    if axis is None:
        return np.reshape(add_at(zeros(arr.size, arr.dtype), indices, g), arr.shape)
    return add_at(zeros(arr.shape, arr.dtype), _along(arr.shape, indices, axis % arr.ndim), g)


def _along(shape, indices, axis):
    """Return the full index that take_along_axis stands for."""
    n = len(shape)
    places = [np.reshape(arange(shape[i]), (-1,) + (1,) * (n - 1 - i)) for i in range(n)]
    return (*places[:axis], indices, *places[axis + 1 :])


@defvjp(np.compress)
def compress_vjp(g, out, condition, a, axis=None):
    kept = _numbers_of(condition)
    if axis is None:
        return None, np.reshape(set_at(zeros(a.size, a.dtype), kept, g), a.shape)
    return None, set_at(zeros(a.shape, a.dtype), at(axis % a.ndim, kept), g)


@defvjp(np.extract)
def extract_vjp(g, out, condition, arr):
    kept = np.flatnonzero(condition)
    return None, np.reshape(set_at(zeros(arr.size, arr.dtype), kept, g), arr.shape)


def _numbers_of(condition):
    """Return the places where a condition, an array or a list, holds."""
    if type(condition) in (list, tuple):
        return [i for i, holds in enumerate(condition) if holds]
    return np.flatnonzero(condition)


@defvjp(np.trim_zeros)
def trim_zeros_vjp(g, out, filt, trim="fb", axis=None):
    """The part that is left begins at the first element that is not zero."""
    n, index = filt.ndim, []
    axes = range(n) if axis is None else [i % n for i in (axis if type(axis) is tuple else (axis,))]
    for i in range(n):
        place = arange(out.shape[i])
        if i in axes and "f" in trim.lower():
            others = tuple(k for k in range(n) if k != i)
            place = np.argmax(np.any(filt != 0, axis=others)) + place
        index.append(np.reshape(place, (-1,) + (1,) * (n - 1 - i)))
    return set_at(zeros(filt.shape, filt.dtype), tuple(index), g)


# Choosing -----------------------------------------------------------------------------------------


@defvjp(np.where)
def where_vjp(g, out, condition, x, y):
    return None, np.where(condition, g, 0), np.where(condition, 0, g)


@defvjp(np.select)
def select_vjp(g, out, condlist, choicelist, default=0):
    parts = []
    for condition in condlist:
        parts.append(np.where(condition, g, 0))
        g = np.where(condition, 0, g)
    return None, parts, g


@defvjp(np.choose)
def choose_vjp(g, out, a, choices, mode="raise"):
    n = len(choices) if type(choices) in (list, tuple) else choices.shape[0]
    options = {} if mode == "raise" else {"mode": mode}
    parts = [np.choose(a, [g if i == j else 0 for j in range(n)], **options) for i in range(n)]
    return None, parts if type(choices) in (list, tuple) else np.stack(parts)


# Sorting ------------------------------------------------------------------------------------------


@defvjp(np.sort_complex)
def sort_complex_vjp(g, out, a):
    return _unsort(g, a, -1)


@defvjp(np.sort)
def sort_vjp(g, out, a, axis=-1, kind=None, *, stable=None):
    if axis is None:
        return np.reshape(_unsort(g, np.ravel(a), 0), a.shape)
    return _unsort(g, a, axis)


def _unsort(g, a, axis):
    """Carry `g` back from sorted places; equal elements are in stable order."""
    rank = np.argsort(np.argsort(a, axis, kind="stable"), axis)
    return np.take_along_axis(g, rank, axis)


@defvjp(np.partition)
def partition_vjp(g, out, a, kth, axis=-1, kind="introselect"):
    if axis is None:
        a, shape, axis = np.ravel(a), a.shape, 0
    else:
        shape = a.shape
    # np.argpartition may order the rest in another way than np.partition: match by sorting both.
    ordered = np.take_along_axis(g, np.argsort(out, axis, kind="stable"), axis)
    return np.reshape(_unsort(ordered, a, axis), shape)
