"""Rules of NumPy's functions that join arrays and split them.

The cotangent of a sequence of arrays is a list of parts of `g`.
"""

from __future__ import annotations

import math

import numpy as np

from ..runtime import arange
from .shapes import at, shape_of, unsupported
from .table import defvjp, linear

linear(
    *(np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.block),
    *(np.array, np.asarray, np.asanyarray),
    *(np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit),
)


def parts_of(g, shapes, axis):
    """Cut `g` along `axis` into pieces for arrays of `shapes`, in order."""
    parts, start = [], 0
    for i, shape in enumerate(shapes):
        stop = start + shape[axis]
        cut = slice(start if i else None, stop if i < len(shapes) - 1 else None)
        parts.append(g[at(axis, cut)] if len(shapes) > 1 else g)
        start = stop
    return parts


def shapes_in(arrays):
    """Return the shapes of the arrays of a sequence, or of the items of an array."""
    if type(arrays) in (list, tuple):
        return [shape_of(a) for a in arrays]
    return [arrays.shape[1:]] * arrays.shape[0]


def like_sequence(parts, arrays):
    """Return the cotangents of `arrays` in the form of `arrays`: a list, or one array."""
    if type(arrays) not in (list, tuple):
        return np.stack(parts) if parts else np.zeros_like(arrays)
    return [nest(part, a) for part, a in zip(parts, arrays, strict=True)]


def nest(g, a, index=()):
    """Return `g` in the form of `a`, where that is a nested list of numbers and arrays."""
    if type(a) in (list, tuple):
        return [nest(g, item, (*index, i)) for i, item in enumerate(a)]
    return g[index if len(index) > 1 else index[0]] if index else g


def reshaped(parts, shapes):
    return [
        part if len(part.shape) == len(shape) else np.reshape(part, shape)
        for part, shape in zip(parts, shapes, strict=True)
    ]


# Joining ------------------------------------------------------------------------------------------


@defvjp(*dict.fromkeys((np.concatenate, np.concat)))
def concatenate_vjp(g, out, arrays, axis=0, *, dtype=None, casting="same_kind"):
    shapes = shapes_in(arrays)
    if axis is None:
        flat = [(math.prod(shape),) for shape in shapes]
        return like_sequence(reshaped(parts_of(g, flat, 0), shapes), arrays)
    return like_sequence(parts_of(g, shapes, axis % out.ndim), arrays)


@defvjp(np.append)
def append_vjp(g, out, arr, values, axis=None):
    return tuple(concatenate_vjp(g, out, [arr, values], axis))


@defvjp(np.insert)
def insert_vjp(g, out, arr, obj, values, axis=None):
    """Insert numbers in the same way: they tell where each element of `out` came from."""
    n = arr.size if axis is None else arr.shape[axis]
    axis = 0 if axis is None else axis % arr.ndim
    count = out.shape[axis] - n
    block = arange(n, n + count)
    origin = np.insert(arange(n), obj, block[0] if count == 1 else block)
    place = np.argsort(origin)
    values_bar = np.take(g, place[n:], axis)
    if shape_of(obj) == () and type(obj) is not slice and axis > 0 and shape_of(values):
        values_bar = np.moveaxis(values_bar, axis, 0)  # NumPy's rule for a single place
    return np.reshape(np.take(g, place[:n], axis), arr.shape), None, values_bar


@defvjp(np.stack)
def stack_vjp(g, out, arrays, axis=0, *, dtype=None, casting="same_kind"):
    axis = axis % out.ndim
    if type(arrays) not in (list, tuple):
        return np.moveaxis(g, axis, 0)
    return like_sequence([g[at(axis, i)] for i in range(len(arrays))], arrays)


@defvjp(np.vstack)
def vstack_vjp(g, out, tup, *, dtype=None, casting="same_kind"):
    return _join_back(g, tup, [_two_d(shape) for shape in shapes_in(tup)], 0)


@defvjp(np.hstack)
def hstack_vjp(g, out, tup, *, dtype=None, casting="same_kind"):
    shapes = [shape or (1,) for shape in shapes_in(tup)]
    return _join_back(g, tup, shapes, 0 if len(shapes[0]) == 1 else 1)


@defvjp(np.dstack)
def dstack_vjp(g, out, tup):
    shapes = [_two_d(shape) for shape in shapes_in(tup)]
    return _join_back(g, tup, [s if len(s) > 2 else (*s, 1) for s in shapes], 2)


@defvjp(np.column_stack)
def column_stack_vjp(g, out, tup):
    shapes = [s if len(s) > 1 else (*(s or (1,)), 1) for s in shapes_in(tup)]
    return _join_back(g, tup, shapes, 1)


def _two_d(shape):
    return (1,) * (2 - len(shape)) + shape


def _join_back(g, tup, shapes, axis):
    """Cut `g` for arrays that were given more axes, of `shapes`, before they were joined."""
    parts = parts_of(g, shapes, axis)
    return like_sequence(reshaped(parts, shapes_in(tup)), tup)


@defvjp(np.block)
def block_vjp(g, out, arrays):
    return _unblock(g, arrays, out.ndim - _depth(arrays), out.ndim)


def _depth(arrays):
    return 1 + max(map(_depth, arrays)) if type(arrays) is list else 0


def _unblock(g, arrays, axis, ndim):
    """Cut `g` along `axis` for the items of a list, those along the next one, and so on."""
    if type(arrays) is not list:
        return g if g.ndim == len(shape_of(arrays)) else np.reshape(g, shape_of(arrays))
    shapes = [_block_shape(item, axis + 1, ndim) for item in arrays]
    parts = parts_of(g, shapes, axis)
    return [_unblock(p, item, axis + 1, ndim) for p, item in zip(parts, arrays, strict=True)]


def _block_shape(arrays, axis, ndim):
    """Return the shape of a nested list whose own items are joined along `axis`."""
    if type(arrays) is not list:
        shape = shape_of(arrays)
        return (1,) * (ndim - len(shape)) + shape
    shapes = [_block_shape(item, axis + 1, ndim) for item in arrays]
    return (*shapes[0][:axis], sum(s[axis] for s in shapes), *shapes[0][axis + 1 :])


@defvjp(np.array)
def array_vjp(g, out, object, dtype=None, *, copy=True, order="K", ndmin=0):
    shape = shape_of(object)
    return nest(g if out.ndim == len(shape) else np.reshape(g, shape), object)


@defvjp(np.asarray, np.asanyarray)
def asarray_vjp(g, out, a, dtype=None, order=None):
    return nest(g, a)


# Splitting ----------------------------------------------------------------------------------------


@defvjp(np.split, np.array_split)
def split_vjp(g, out, ary, indices_or_sections, axis=0):
    return _unsplit(g, out, ary, axis % ary.ndim)


@defvjp(np.hsplit)
def hsplit_vjp(g, out, ary, indices_or_sections):
    return _unsplit(g, out, ary, 1 if ary.ndim > 1 else 0)


@defvjp(np.vsplit)
def vsplit_vjp(g, out, ary, indices_or_sections):
    return _unsplit(g, out, ary, 0)


@defvjp(np.dsplit)
def dsplit_vjp(g, out, ary, indices_or_sections):
    return _unsplit(g, out, ary, 2)


def _unsplit(g, out, ary, axis):
    if sum(part.shape[axis] for part in out) != ary.shape[axis]:
        raise unsupported("a split into parts that overlap", "Take the parts with slices.")
    return np.concatenate(_filled(g, out), axis)


def _filled(g, out):
    return [np.zeros_like(o) if one is None else one for one, o in zip(g, out, strict=True)]


if hasattr(np, "unstack"):  # NumPy 2.1
    linear(np.unstack)

    @defvjp(np.unstack)
    def unstack_vjp(g, out, x, *, axis=0):
        return np.stack(_filled(g, out), axis)
