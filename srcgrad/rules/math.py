"""Rules of Python's math module: those of the ufuncs, and what NumPy does not have."""

from __future__ import annotations

import math

import numpy as np

from .special import special
from .table import Function, defvjp, nograd, partials, stated
from .ufuncs import is_literal, or_inf

TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)

UFUNCS: dict[Function, Function] = {
    math.sin: np.sin, math.cos: np.cos, math.tan: np.tan,
    math.asin: np.arcsin, math.acos: np.arccos, math.atan: np.arctan, math.atan2: np.arctan2,
    math.sinh: np.sinh, math.cosh: np.cosh, math.tanh: np.tanh,
    math.asinh: np.arcsinh, math.acosh: np.arccosh, math.atanh: np.arctanh,
    math.exp: np.exp, math.exp2: np.exp2, math.expm1: np.expm1,
    math.log2: np.log2, math.log10: np.log10, math.log1p: np.log1p,
    math.sqrt: np.sqrt, math.cbrt: np.cbrt, math.pow: np.power, math.fabs: np.fabs,
    math.copysign: np.copysign, math.fmod: np.fmod,
    math.degrees: np.degrees, math.radians: np.radians,
}  # fmt: skip
partials({function: stated(ufunc) for function, ufunc in UFUNCS.items()})


def _log(out, x, base=None):
    if base is None:
        return 1 / x
    log_base = math.log(base) if is_literal(base) else np.log(base)
    return 1 / (x * log_base), -out / (base * log_base)


def _gamma(out, x):
    return out * _digamma(x)


def _digamma(x):
    return special().digamma(x)


partials({
    math.log: _log,
    math.hypot: lambda out, *coordinates: tuple(x / or_inf(out) for x in coordinates),
    math.remainder: lambda out, x, y: (1, -np.rint(x / y)),
    math.erf: lambda out, x: TWO_OVER_SQRT_PI * np.exp(-x * x),
    math.erfc: lambda out, x: -TWO_OVER_SQRT_PI * np.exp(-x * x),
    math.gamma: _gamma,
    math.lgamma: lambda out, x: _digamma(x),
})  # fmt: skip
if hasattr(math, "fma"):  # Python 3.13
    partials({math.fma: lambda out, x, y, z: (y, x, 1)})


@defvjp(math.ldexp)
def ldexp_vjp(g, out, x, i):
    return np.ldexp(g, i)


# Sequences ----------------------------------------------------------------------------------------


def _items(sequence):
    """Return the numbers of a list, a tuple or a vector."""
    if type(sequence) in (list, tuple):
        return list(sequence)
    return [sequence[i] for i in range(sequence.shape[0])]


def _like(sequence, items):
    """Return `items` as a list for a list, as a vector for a vector."""
    return items if type(sequence) in (list, tuple) else np.stack(items)


@defvjp(math.fsum)
def fsum_vjp(g, out, seq):
    return [g] * len(seq) if type(seq) in (list, tuple) else g


@defvjp(math.prod)
def prod_vjp(g, out, iterable, *, start=1):
    factors = [start, *_items(iterable)]
    start_bar, *bars = [g * others for others in _products_of_others(factors)]
    return _like(iterable, bars), start_bar


def _products_of_others(factors):
    """Return for each factor the product of all others: no division, so exact with zeros."""
    before, after = [1], [1]
    for x in factors[:-1]:
        before.append(_times(before[-1], x))
    for x in factors[:0:-1]:
        after.append(_times(after[-1], x))
    return [_times(b, a) for b, a in zip(before, reversed(after), strict=True)]


def _times(x, y):
    """Return ``x * y`` without a step for a factor of 1."""
    if type(x) is int and x == 1:
        return y
    return x if type(y) is int and y == 1 else x * y


@defvjp(math.dist)
def dist_vjp(g, out, p, q):
    weight = g / or_inf(out)
    if type(p) not in (list, tuple) and type(q) not in (list, tuple):
        return weight * (p - q), weight * (q - p)
    bars = [weight * (x - y) for x, y in zip(_items(p), _items(q), strict=True)]
    return _like(p, bars), _like(q, [-bar for bar in bars])


if hasattr(math, "sumprod"):  # Python 3.12

    @defvjp(math.sumprod)
    def sumprod_vjp(g, out, p, q):
        of_p, of_q = [g * y for y in _items(q)], [g * x for x in _items(p)]
        return _like(p, of_p), _like(q, of_q)


nograd(
    *(math.floor, math.ceil, math.trunc, math.isfinite, math.isinf, math.isnan, math.isclose),
    *(math.gcd, math.lcm, math.factorial, math.comb, math.perm, math.isqrt),
)
