"""Rules of NumPy's elementwise functions: the ufuncs, and the Python functions that act like one.

They follow the chapters "Mathematical functions" and "Logic functions" of NumPy's manual. Where a
derivative does not exist: abs and hypot take 0 at 0, operands that tie for a maximum or minimum
share it equally, clip passes the cotangent on at its bounds.
"""

from __future__ import annotations

import cmath
import math

import numpy as np

from .shapes import unsupported
from .special import special
from .table import creation, defvjp, linear, nograd, partials

LN2 = math.log(2.0)
LN10 = math.log(10.0)
PER_RADIAN = 180.0 / math.pi
PER_DEGREE = math.pi / 180.0


def is_literal(x):
    """Tell whether an operand is a real number of the user's text."""
    return type(x) in (int, float, bool)


def is_number(x):
    """Tell whether an operand is a number of the user's text, real or complex."""
    return is_literal(x) or type(x) is complex


def is_complex(x):
    """Tell whether a value is complex."""
    return x.dtype.kind == "c"


def or_inf(x):
    """Return a divisor that makes of 0 / 0 a 0, in the second derivative too."""
    return np.where(x == 0, np.inf, x)


# Arithmetic ---------------------------------------------------------------------------------------


def _divide(out, x, y):
    return _reciprocal(y), -out / y


def _reciprocal(y):
    if is_number(y) and y == 0:  # NumPy divides by it, Python would raise
        return math.copysign(math.inf, y.real)
    return 1 / y


def _power(out, x, y):
    if is_number(y):
        return _power_to_number(out, x, y), None
    base = None if is_number(x) else _power_base(out, x, y)
    return base, out * _log_base(out, x)


def _power_to_number(out, x, y):
    if y == 0:
        return 0.0
    if y == 1:
        return 1
    if y == 2:
        return 2 * x
    if y == 0.5:
        return 0.5 / out
    if y == -1:
        return -out * out
    return y * _as_complex(out, x) ** (y - 1)


def _power_base(out, x, y):
    # The 1 makes x**0 give 0 at 0; elsewhere the formula stays whole for the second derivative.
    return y * np.where((x == 0) & (y == 0), 1, _as_complex(out, x)) ** (y - 1)


def _as_complex(out, x):
    """Return `x` made complex where Python's power of a negative number is."""
    return x + 0j if is_complex(out) and not is_complex(x) else x


def _log_base(out, x):
    """Return log(x), 0 where the power does not vary smoothly with its exponent."""
    if is_number(x):
        if is_complex(out):
            return cmath.log(x) if x else 0.0
        return math.log(x) if x > 0 else 0.0
    if is_complex(out):
        return np.log(np.where(x == 0, 1, x) + 0j)
    return np.log(np.where(x > 0, x, 1))


partials({
    np.add: lambda out, x, y: (1, 1),
    np.subtract: lambda out, x, y: (1, -1),
    np.multiply: lambda out, x, y: (y, x),
    np.divide: _divide,
    np.power: _power,
    np.float_power: _power,
    np.remainder: lambda out, x, y: (1, -(x // y)),
    np.fmod: lambda out, x, y: (1, -np.trunc(x / y)),
    np.negative: lambda out, x: -1,
    np.positive: lambda out, x: 1,
    np.reciprocal: lambda out, x: -out * out,
    np.square: lambda out, x: 2 * x,
    np.sqrt: lambda out, x: 0.5 / out,
    np.cbrt: lambda out, x: 1 / (3 * out * out),
    np.fabs: lambda out, x: np.sign(x),
    np.hypot: lambda out, x, y: (x / or_inf(out), y / or_inf(out)),
    np.copysign: lambda out, x, y: (np.sign(x) * np.sign(out), 0.0),
    np.nextafter: lambda out, x, y: (1, 0.0),
    np.heaviside: lambda out, x, y: (0.0, x == 0),
})  # fmt: skip


# Exponentials and logarithms ----------------------------------------------------------------------


def _logaddexp(exp):
    def weights(out, x, y):
        return _weight(exp, out, x, y), _weight(exp, out, y, x)

    return weights


def _weight(exp, out, x, y):
    """Return the share of `x` in a sum of exponentials; the larger infinity takes all."""
    if is_literal(x):
        return None
    if is_literal(y):
        return exp(x - out)
    infinite = np.isinf(out)
    share = exp(np.where(infinite, 0, x) - np.where(infinite, 0, out))
    return np.where(infinite, _larger(x, y), share)


partials({
    np.exp: lambda out, x: out,
    np.exp2: lambda out, x: LN2 * out,
    np.expm1: lambda out, x: out + 1,
    np.log: lambda out, x: 1 / x,
    np.log2: lambda out, x: 1 / (LN2 * x),
    np.log10: lambda out, x: 1 / (LN10 * x),
    np.log1p: lambda out, x: 1 / (1 + x),
    np.logaddexp: _logaddexp(np.exp),
    np.logaddexp2: _logaddexp(np.exp2),
})  # fmt: skip


# Trigonometric and hyperbolic functions -----------------------------------------------------------


def _arctan2(out, y, x):
    r = or_inf(np.hypot(y, x))  # x*x + y*y would vanish for a small vector
    return x / r / r, -y / r / r


def _sinc(out, x):
    # The difference of two numbers near 1 loses digits at small x: the series serves there.
    s = x * x
    c1, c2, c3, c4 = _SINC_SERIES
    series = x * (c1 + s * (c2 + s * (c3 + s * c4)))
    direct = (np.cos(math.pi * x) - out) / np.where(x == 0, 1, x)
    return np.where(np.abs(x) < 0.03, series, direct)


_SINC_SERIES = (-(math.pi**2) / 3, math.pi**4 / 30, -(math.pi**6) / 840, math.pi**8 / 45360)


def _i0(out, x):
    return special().i1(x)


partials({
    np.sin: lambda out, x: np.cos(x),
    np.cos: lambda out, x: -np.sin(x),
    np.tan: lambda out, x: 1 + out * out,
    np.arcsin: lambda out, x: 1 / np.sqrt(1 - x * x),
    np.arccos: lambda out, x: -1 / np.sqrt(1 - x * x),
    np.arctan: lambda out, x: 1 / (1 + x * x),
    np.arctan2: _arctan2,
    np.sinh: lambda out, x: np.cosh(x),
    np.cosh: lambda out, x: np.sinh(x),
    np.tanh: lambda out, x: 1 - out * out,
    np.arcsinh: lambda out, x: 1 / np.sqrt(1 + x * x),
    # The product of two roots lies on the branch of arccosh; one root of x*x - 1 does not.
    np.arccosh: lambda out, x: 1 / (np.sqrt(x - 1) * np.sqrt(x + 1)),
    np.arctanh: lambda out, x: 1 / (1 - x * x),
    np.degrees: lambda out, x: PER_RADIAN,
    np.rad2deg: lambda out, x: PER_RADIAN,
    np.radians: lambda out, x: PER_DEGREE,
    np.deg2rad: lambda out, x: PER_DEGREE,
    np.sinc: _sinc,
    np.i0: _i0,
})  # fmt: skip


# Extrema ------------------------------------------------------------------------------------------


def _larger(x, y):
    """Return 1 where x > y, one half where they are equal, else 0."""
    if is_literal(y) and math.isfinite(y) and x.dtype.kind == "f":
        return np.heaviside(x - y if y else x, 0.5)
    return np.where(x == y, 0.5, x > y)


def _smaller(x, y):
    if is_literal(y) and math.isfinite(y) and x.dtype.kind == "f":
        return np.heaviside(y - x if y else -x, 0.5)
    return np.where(x == y, 0.5, x < y)


def _ignoring_nan(chosen, x, y):
    """Return the share of `x` where fmax or fmin prefers a number to a nan."""
    return np.where(x == y, 0.5, chosen if is_literal(y) else chosen | np.isnan(y))


def _extremum(share):
    def shares(out, x, y):
        return None if is_literal(x) else share(x, y), None if is_literal(y) else share(y, x)

    return shares


partials({
    np.maximum: _extremum(_larger),
    np.minimum: _extremum(_smaller),
    np.fmax: _extremum(lambda x, y: _ignoring_nan(x > y, x, y)),
    np.fmin: _extremum(lambda x, y: _ignoring_nan(x < y, x, y)),
})  # fmt: skip


@defvjp(np.clip)
def clip_vjp(g, out, a, a_min=None, a_max=None, *, min=None, max=None):
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    a_bar = _clipped(g, a, low, high)
    low_bar, high_bar = _below(g, a, low, high), _above(g, a, low, high)
    return a_bar, low_bar, high_bar, low_bar, high_bar


def _clipped(g, a, low, high):
    if low is None:
        return g if high is None else np.where(a <= high, g, 0)
    if high is None:
        return np.where(a >= low, g, 0)
    return np.where((a >= low) & (a <= high), g, 0)


def _below(g, a, low, high):
    if low is None or is_literal(low):
        return None
    return np.where(a < low if high is None else (a < low) & (low <= high), g, 0)


def _above(g, a, low, high):
    if high is None or is_literal(high):
        return None
    return np.where(a > high if low is None else (a > high) | (low > high), g, 0)


# Floating point -----------------------------------------------------------------------------------


@defvjp(np.ldexp)
def ldexp_vjp(g, out, x1, x2):
    return np.ldexp(g, x2)


@defvjp(np.frexp)
def frexp_vjp(g, out, x):
    return np.ldexp(g[0], -out[1])


@defvjp(np.nan_to_num)
def nan_to_num_vjp(g, out, x, nan=0.0, posinf=None, neginf=None):
    if is_complex(x):
        if not all(v is None or is_literal(v) for v in (nan, posinf, neginf)):
            raise unsupported("np.nan_to_num of complex x with a varying nan=", "Use np.where.")
        real = np.where(np.isfinite(np.real(x)), np.real(g), 0)
        return real + 1j * np.where(np.isfinite(np.imag(x)), np.imag(g), 0)
    return (
        np.where(np.isfinite(x), g, 0),
        None if is_literal(nan) else np.where(np.isnan(x), g, 0),
        None if posinf is None or is_literal(posinf) else np.where(x == np.inf, g, 0),
        None if neginf is None or is_literal(neginf) else np.where(x == -np.inf, g, 0),
    )


# Complex numbers ----------------------------------------------------------------------------------


@defvjp(np.absolute)
def absolute_vjp(g, out, x):
    return g * np.conj(x) / or_inf(out) if is_complex(x) else g * np.sign(x)


@defvjp(np.conjugate)
def conjugate_vjp(g, out, x):
    return np.conj(g) if is_complex(x) else g


@defvjp(np.real)
def real_vjp(g, out, val):
    return g


@defvjp(np.imag)
def imag_vjp(g, out, val):
    return -1j * g if is_complex(val) else np.zeros_like(g)


@defvjp(np.angle)
def angle_vjp(g, out, z, deg=False):
    if not is_complex(z):
        return np.zeros_like(g)
    return (-1j * PER_RADIAN if deg else -1j) * g / or_inf(z)


@defvjp(np.real_if_close)
def real_if_close_vjp(g, out, a, tol=100):
    return g


linear(np.negative, np.positive, np.conjugate, np.real, np.imag, np.ldexp)


# Without a derivative -----------------------------------------------------------------------------


def _named(names):
    """Return the functions of these names that this NumPy has, each once."""
    return dict.fromkeys(getattr(np, name) for name in names.split() if hasattr(np, name))


nograd(*_named(
    "floor ceil trunc fix rint round around sign floor_divide spacing "
    "equal not_equal less less_equal greater greater_equal "
    "logical_and logical_or logical_xor logical_not "
    "isfinite isinf isnan isnat isneginf isposinf signbit "
    "isreal iscomplex isrealobj iscomplexobj isclose allclose array_equal array_equiv isin "
    "bitwise_and bitwise_or bitwise_xor invert bitwise_count left_shift right_shift gcd lcm "
    "all any argmax argmin nanargmax nanargmin argsort argpartition argwhere lexsort "
    "count_nonzero nonzero flatnonzero searchsorted digitize "
    "unravel_index ravel_multi_index ix_ "
    "diag_indices_from tril_indices_from triu_indices_from "
    "ndim shape size can_cast common_type min_scalar_type result_type "
    "may_share_memory shares_memory einsum_path"
))  # fmt: skip

# np.unique, np.histogram, np.union1d and their like are not named: what they give of floats varies
# with their arguments, and a gradient that reaches it has to be refused.

creation(*_named(
    "arange bartlett blackman broadcast_shapes diag_indices empty empty_like eye fromfunction "
    "fromiter full full_like hamming hanning identity indices kaiser mask_indices ones ones_like "
    "tri tril_indices triu_indices zeros zeros_like"
))  # fmt: skip
