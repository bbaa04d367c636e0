"""Rules of Python's operators on Python numbers, and of the conversions between kinds of numbers.

A derivative is that of the ufunc; what differs is what Python calls it.
"""

from __future__ import annotations

import operator

import numpy as np

from .table import RULES, Function, defvjp, nograd, partials, stated
from .ufuncs import absolute_vjp

UFUNCS: dict[Function, Function] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.pow: np.power,
    operator.mod: np.remainder,
    operator.neg: np.negative,
    operator.pos: np.positive,
}
partials({function: stated(ufunc) for function, ufunc in UFUNCS.items()})


@defvjp(operator.abs)
def operator_abs_vjp(g, out, a):
    return absolute_vjp(g, out, a)


@defvjp(abs)
def abs_vjp(g, out, x):
    return absolute_vjp(g, out, x)


@defvjp(pow)
def pow_vjp(g, out, base, exp):
    parts = RULES[np.power].body(out, base, exp)
    return tuple(None if part is None else g * part for part in parts)


nograd(
    *(operator.floordiv, operator.eq, operator.ne, operator.lt, operator.le),
    *(operator.gt, operator.ge, operator.and_, operator.or_, operator.xor, operator.invert),
    *(operator.lshift, operator.rshift, operator.not_, operator.truth, operator.index),
    *(round, int, bool),
)


# Conversions --------------------------------------------------------------------------------------

partials(dict.fromkeys(
    {float, np.float16, np.float32, np.float64, np.longdouble},
    lambda out, x: 1,
))  # fmt: skip


@defvjp(complex)
def complex_vjp(g, out, real=0, imag=0):
    return g, 1j * g


partials(dict.fromkeys({np.complex64, np.complex128, np.clongdouble}, lambda out, *parts: 1))
