"""Rules of NumPy's sums, products, extrema, averages and differences along axes.

They follow the chapters "Sums, products, differences" and "Statistics" of NumPy's manual. Elements
that tie for a maximum or minimum share its cotangent equally; products are differentiated without a
division, so that zeros are exact.
"""

from __future__ import annotations

import numpy as np

from ..runtime import ones, zeros
from .axes import (
    array_of,
    as_rows,
    axes_of,
    count,
    expanded,
    given,
    items_like,
    kept,
    masked,
    numbers,
)
from .shapes import at, shape_of, unsupported
from .table import defvjp, linear
from .ufuncs import is_complex, is_literal, or_inf

linear(np.sum, np.mean, np.cumsum)


def _initial_bar(g, initial):
    return None if initial is None or is_literal(initial) else np.sum(g)


# Sums and means -----------------------------------------------------------------------------------


@defvjp(np.sum)
def sum_vjp(g, out, a, axis=None, dtype=None, keepdims=False, initial=None, where=None):
    a_bar = masked(expanded(g, axis, keepdims), given(where))
    return a_bar, None, None, None, _initial_bar(g, initial)


@defvjp(np.nansum)
def nansum_vjp(g, out, a, axis=None, dtype=None, keepdims=False, initial=None, where=None):
    return sum_vjp(g, out, a, axis, dtype, keepdims, initial, numbers(a, where))


@defvjp(np.mean)
def mean_vjp(g, out, a, axis=None, dtype=None, keepdims=False, *, where=None):
    where = given(where)
    return masked(expanded(g, axis, keepdims) / count(a, axis, where), where)


@defvjp(np.nanmean)
def nanmean_vjp(g, out, a, axis=None, dtype=None, keepdims=False, *, where=None):
    return mean_vjp(g, out, a, axis, dtype, keepdims, where=numbers(a, where))


@defvjp(np.average)
def average_vjp(g, out, a, axis=None, weights=None, returned=False, *, keepdims=False):
    g_average, g_total = g if returned else (g, None)
    average = out[0] if returned else out
    if weights is None:
        return None if g_average is None else mean_vjp(g_average, average, a, axis, None, keepdims)
    given_weights, weights = weights, array_of(weights)
    w = _over_axes(weights, a, axis)
    total = np.sum(w, **kept(axis))
    a_bar, w_bar = None, 0
    if g_average is not None:
        share = expanded(g_average, axis, keepdims) / total
        a_bar = share * w
        w_bar = share * (a - expanded(average, axis, keepdims))
    if g_total is not None:
        w_bar = w_bar + expanded(g_total, axis, keepdims)
    w_bar = _from_axes(w_bar, w, axis) if w is not weights else w_bar
    return a_bar, None, items_like(given_weights, w_bar)


def _over_axes(weights, a, axis):
    """Return weights that are given for the reduced axes alone as they broadcast with `a`."""
    if weights.shape == a.shape:
        return weights
    axes = axes_of(axis, a.ndim)
    ordered = np.transpose(weights, tuple(axes.index(i) for i in sorted(axes)))
    return np.expand_dims(ordered, tuple(i for i in range(a.ndim) if i not in axes))


def _from_axes(w_bar, w, axis):
    """Return the cotangent of weights that `_over_axes` has spread to `w`."""
    axes = axes_of(axis, w.ndim)
    w_bar = np.sum(w_bar, axis=tuple(i for i in range(w.ndim) if i not in axes))
    return np.transpose(w_bar, tuple(sorted(axes).index(i) for i in axes))


# Spread -------------------------------------------------------------------------------------------


@defvjp(np.var)
def var_vjp(
    g, out, a, axis=None, dtype=None, ddof=0, keepdims=False,
    *, where=None, mean=None, correction=None,
):  # fmt: skip
    g = 2 * expanded(g, axis, keepdims)
    return _spread(g, a, axis, ddof if correction is None else correction, given(where), mean)


@defvjp(np.std)
def std_vjp(
    g, out, a, axis=None, dtype=None, ddof=0, keepdims=False,
    *, where=None, mean=None, correction=None,
):  # fmt: skip
    g = expanded(g, axis, keepdims) / or_inf(expanded(out, axis, keepdims))
    return _spread(g, a, axis, ddof if correction is None else correction, given(where), mean)


def _spread(g, a, axis, ddof, where, mean):
    """Return the cotangents of `a` and of a given `mean`: `g` deviations over their count."""
    options = {} if where is None else {"where": where}
    center = np.mean(a, **kept(axis), **options) if mean is None else mean
    deviation = masked(np.conj(a - center) if is_complex(a) else a - center, where)
    n = count(a, axis, where)
    a_bar = g / (n - ddof if ddof else n) * deviation
    mean_bar = None if mean is None else -a_bar
    return a_bar, None, None, None, None, None, mean_bar, None


@defvjp(np.nanvar)
def nanvar_vjp(
    g, out, a, axis=None, dtype=None, ddof=0, keepdims=False,
    *, where=None, mean=None, correction=None,
):  # fmt: skip
    where = numbers(a, where)
    return var_vjp(
        g, out, a, axis, dtype, ddof, keepdims, where=where, mean=mean, correction=correction
    )


@defvjp(np.nanstd)
def nanstd_vjp(
    g, out, a, axis=None, dtype=None, ddof=0, keepdims=False,
    *, where=None, mean=None, correction=None,
):  # fmt: skip
    where = numbers(a, where)
    return std_vjp(
        g, out, a, axis, dtype, ddof, keepdims, where=where, mean=mean, correction=correction
    )


# Extrema ------------------------------------------------------------------------------------------


@defvjp(*dict.fromkeys((np.max, np.min, np.amax, np.amin, np.nanmax, np.nanmin)))
def max_vjp(g, out, a, axis=None, keepdims=False, initial=None, where=None):
    g, best = expanded(g, axis, keepdims), expanded(out, axis, keepdims)
    chosen = a == best if given(where) is None else (a == best) & where
    ties = np.sum(chosen, **kept(axis))
    if initial is None:
        return np.where(chosen, g / ties, 0)
    at_initial = best == initial
    g = g / (ties + at_initial)
    return np.where(chosen, g, 0), None, None, _initial_bar(np.where(at_initial, g, 0), initial)


@defvjp(np.ptp)
def ptp_vjp(g, out, a, axis=None, keepdims=False):
    g = expanded(g, axis, keepdims)
    highest, lowest = np.max(a, **kept(axis)), np.min(a, **kept(axis))
    return max_vjp(g, highest, a, axis, True) - max_vjp(g, lowest, a, axis, True)


@defvjp(np.median)
def median_vjp(g, out, a, axis=None, keepdims=False):
    rows, back = as_rows(a, axis)
    g = expanded(g, axis, keepdims)
    n = rows.shape[-1]
    rank = np.argsort(np.argsort(rows, -1, kind="stable"), -1)
    if n % 2:
        return np.where(back(rank == n // 2), g, 0)
    return np.where(back((rank == n // 2 - 1) | (rank == n // 2)), 0.5 * g, 0)


# Products -----------------------------------------------------------------------------------------


@defvjp(np.prod)
def prod_vjp(g, out, a, axis=None, dtype=None, keepdims=False, initial=None, where=None):
    where = given(where)
    factors = a if where is None else np.where(where, a, 1)
    lead = expanded(g, axis, keepdims)
    scaled = lead if initial is None else lead * initial
    a_bar = masked(scaled * products_of_others(factors, axis), where)
    if initial is None or is_literal(initial):
        return a_bar
    product = np.prod(factors, **kept(axis))
    return a_bar, None, None, None, np.sum(lead * product)


@defvjp(np.nanprod)
def nanprod_vjp(g, out, a, axis=None, dtype=None, keepdims=False, initial=None, where=None):
    return prod_vjp(g, out, a, axis, dtype, keepdims, initial, numbers(a, where))


def products_of_others(a, axis):
    """Return for each element the product of the others along `axis`, without a division."""
    rows, back = as_rows(a, axis)
    if rows.shape[-1] < 2:
        return np.ones_like(a)
    last = rows.ndim - 1
    lead, tail = rows[at(last, slice(None, -1))], rows[at(last, slice(1, None))]
    one = ones((*rows.shape[:-1], 1), rows.dtype)
    before = np.concatenate([one, np.cumprod(lead, last)], last)
    after = np.concatenate([one, np.cumprod(np.flip(tail, last), last)], last)
    return back(before * np.flip(after, last))


# Running sums and products ------------------------------------------------------------------------


@defvjp(np.cumsum)
def cumsum_vjp(g, out, a, axis=None, dtype=None):
    if axis is None:
        return np.reshape(_sum_from(g, 0), a.shape)
    return _sum_from(g, axis)


def _sum_from(g, axis):
    """Return the sums of each element and all after it."""
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


@defvjp(np.cumprod)
def cumprod_vjp(g, out, a, axis=None, dtype=None):
    if axis is None:
        return np.reshape(_cumprod_back(g, out, np.ravel(a), 0), a.shape)
    return _cumprod_back(g, out, a, axis % a.ndim)


def _cumprod_back(g, out, a, axis):
    """Return the cotangent of `a`, the product of what stands before an element and of the tail.

    The tails obey ``r[i] = g[i] + a[i + 1] * r[i + 1]``; doubling the reach solves that in log2(n)
    whole-array steps (Blelloch 1990, "Prefix sums and their applications"), with no division.
    """
    n = a.shape[axis]
    if n < 2:
        return g

    def part(x, start, stop):
        return x[at(axis, slice(start, stop))]

    r, reach, factor = g, 1, part(a, 1, None)
    while reach < n:
        near, far = part(r, None, n - reach), part(r, reach, None)
        r = np.concatenate([near + factor * far, part(r, n - reach, None)], axis)
        if 2 * reach < n:
            factor = part(factor, None, n - 2 * reach) * part(factor, reach, None)
        reach *= 2
    first = ones((*a.shape[:axis], 1, *a.shape[axis + 1 :]), a.dtype)
    return r * np.concatenate([first, part(out, None, -1)], axis)


@defvjp(np.nancumsum)
def nancumsum_vjp(g, out, a, axis=None, dtype=None):
    return np.where(np.isnan(a), 0, cumsum_vjp(g, out, a, axis))


@defvjp(np.nancumprod)
def nancumprod_vjp(g, out, a, axis=None, dtype=None):
    nan = np.isnan(a)
    return np.where(nan, 0, cumprod_vjp(g, out, np.where(nan, 1, a), axis))


if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    linear(np.cumulative_sum)

    @defvjp(np.cumulative_sum)
    def cumulative_sum_vjp(g, out, x, *, axis=None, dtype=None, include_initial=False):
        axis = 0 if axis is None else axis % x.ndim
        return _sum_from(g[at(axis, slice(1, None))] if include_initial else g, axis)

    @defvjp(np.cumulative_prod)
    def cumulative_prod_vjp(g, out, x, *, axis=None, dtype=None, include_initial=False):
        axis = 0 if axis is None else axis % x.ndim
        if include_initial:
            g, out = g[at(axis, slice(1, None))], out[at(axis, slice(1, None))]
        return _cumprod_back(g, out, x, axis)


# Differences --------------------------------------------------------------------------------------


@defvjp(np.diff)
def diff_vjp(g, out, a, n=1, axis=-1, prepend=None, append=None):
    axis = axis % a.ndim
    sizes = [_size_along(x, axis) for x in (prepend, a, append)]
    if n > 0 and out.shape[axis] == 0:
        return np.zeros_like(a)
    for _ in range(n):
        g = _diff_back(g, axis)
    first, last = sizes[0], sizes[0] + sizes[1]
    if sizes == [0, last, 0]:
        return g
    parts = [g[at(axis, s)] for s in (slice(first), slice(first, last), slice(last, None))]
    return parts[1], None, None, parts[0] if sizes[0] else None, parts[2] if sizes[2] else None


def _size_along(x, axis):
    """Return how many elements np.diff puts in front or at the end for `x`."""
    if x is None:
        return 0
    return shape_of(x)[axis] if shape_of(x) else 1


def _diff_back(g, axis):
    return -np.diff(g, axis=axis, prepend=0, append=0)


@defvjp(np.trapezoid)
def trapezoid_vjp(g, out, y, x=None, dx=1.0, axis=-1):
    axis = axis % y.ndim
    g = 0.5 * np.expand_dims(g, axis)
    points = array_of(x)
    step = array_of(dx) if x is None else _steps(points, y.ndim, axis)
    y_bar = _at_both_ends(g * step, y.shape, axis)
    if x is None and is_literal(dx):
        return y_bar
    step_bar = g * (y[at(axis, slice(None, -1))] + y[at(axis, slice(1, None))])
    if x is None:
        return y_bar, None, step_bar
    return y_bar, items_like(x, _steps_back(step_bar, points, axis))


def _at_both_ends(part, shape, axis):
    """Return for each point the sum of `part` over the intervals that it ends."""
    none = zeros((*shape[:axis], 1, *shape[axis + 1 :]), part.dtype)
    intervals = (*shape[:axis], shape[axis] - 1, *shape[axis + 1 :])
    part = part if part.shape == intervals else np.broadcast_to(part, intervals)
    return np.concatenate([part, none], axis) + np.concatenate([none, part], axis)


def _steps(x, ndim, axis):
    if x.ndim == ndim:
        return np.diff(x, axis=axis)
    if x.ndim != 1:
        raise unsupported("np.trapezoid with x of another rank than y", "Broadcast x to y.")
    return np.reshape(np.diff(x), (-1,) + (1,) * (ndim - 1 - axis))


def _steps_back(step_bar, x, axis):
    if x.ndim == step_bar.ndim:
        return _diff_back(step_bar, axis)
    return _diff_back(np.sum(step_bar, axis=tuple(i for i in range(step_bar.ndim) if i != axis)), 0)
