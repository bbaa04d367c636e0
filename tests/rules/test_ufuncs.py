"""Rules of elementwise functions."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

from ..cases import check, complex_normal, normal, row, table, uniform

X, Y = normal(3), normal(3, seed=1)
M, COLUMN = normal(2, 3), normal(2, 1, seed=3)
P, Q = uniform(0.5, 2.0, 3), uniform(0.5, 2.0, 2, 3, seed=1)
U, U2 = uniform(-0.9, 0.9, 3), uniform(-0.9, 0.9, 2, 3, seed=1)
Z, Z2 = complex_normal(3), complex_normal(2, 3, seed=4)
ZERO_D = np.array(0.7)
F32 = P.astype(np.float32)
INTS = np.array([1, 2, 3])
WITH_NAN = np.array([0.5, np.nan, np.inf, -np.inf, -2.0])
INF = np.inf

UNARY_ROWS = [
    row(np.negative, lambda x: np.negative(x) ** 2, X),
    row(np.negative, lambda z: -z * z, Z),
    row(np.positive, lambda x: (+x) ** 2, X),
    row(np.positive, lambda z: np.positive(z), Z),
    row(np.reciprocal, lambda x: np.reciprocal(x), P),
    row(np.reciprocal, lambda z: np.reciprocal(z), Z),
    row(np.square, lambda x: np.square(x), M),
    row(np.square, lambda z: np.square(z), Z),
    row(np.sqrt, lambda x: np.sqrt(x), Q),
    row(np.sqrt, lambda x: np.sqrt(x), F32),
    row(np.sqrt, lambda z: np.sqrt(z), Z),
    row(np.cbrt, lambda x: np.cbrt(x), X),
    row(np.cbrt, lambda x: np.cbrt(x), Q),
    row(np.fabs, lambda x: np.fabs(x) * x, X),
    row(np.fabs, lambda x: np.fabs(x), ZERO_D),
    row(np.exp, lambda x: np.exp(x), M),
    row(np.exp, lambda z: np.exp(z), Z),
    row(np.exp, lambda x: np.exp(x), F32),
    row(np.exp2, lambda x: np.exp2(x), M),
    row(np.exp2, lambda z: np.exp2(z), Z),
    row(np.expm1, lambda x: np.expm1(x), M),
    row(np.expm1, lambda z: np.expm1(z), Z),
    row(np.log, lambda x: np.log(x), P),
    row(np.log, lambda z: np.log(z), Z),
    row(np.log2, lambda x: np.log2(x), P),
    row(np.log2, lambda z: np.log2(z), Z),
    row(np.log10, lambda x: np.log10(x), P),
    row(np.log10, lambda z: np.log10(z), Z),
    row(np.log1p, lambda x: np.log1p(x), U),
    row(np.log1p, lambda z: np.log1p(z), Z),
    row(np.sin, lambda x: np.sin(x), X),
    row(np.sin, lambda x: np.sin(x), 0.3),
    row(np.sin, lambda z: np.sin(z), Z),
    row(np.cos, lambda x: np.cos(x), X),
    row(np.cos, lambda z: np.cos(z), Z),
    row(np.tan, lambda x: np.tan(x), U),
    row(np.tan, lambda z: np.tan(z), Z),
    row(np.arcsin, lambda x: np.arcsin(x), U),
    row(np.arcsin, lambda z: np.arcsin(z), Z),
    row(np.arccos, lambda x: np.arccos(x), U),
    row(np.arccos, lambda z: np.arccos(z), Z),
    row(np.arctan, lambda x: np.arctan(x), M),
    row(np.arctan, lambda z: np.arctan(z), Z),
    row(np.sinh, lambda x: np.sinh(x), X),
    row(np.sinh, lambda z: np.sinh(z), Z),
    row(np.cosh, lambda x: np.cosh(x), X),
    row(np.cosh, lambda z: np.cosh(z), Z),
    row(np.tanh, lambda x: np.tanh(x), M),
    row(np.tanh, lambda z: np.tanh(z), Z),
    row(np.arcsinh, lambda x: np.arcsinh(x), M),
    row(np.arcsinh, lambda z: np.arcsinh(z), Z),
    row(np.arccosh, lambda x: np.arccosh(1 + x), Q),
    row(np.arccosh, lambda z: np.arccosh(z), np.array([1 + 2j, -1 + 0.5j, -0.3 - 2j])),
    row(np.arctanh, lambda x: np.arctanh(x), U2),
    row(np.arctanh, lambda z: np.arctanh(z), Z),
    row(np.degrees, lambda x: np.degrees(x) * x, X),
    row(np.degrees, lambda x: np.degrees(x), ZERO_D),
    row(np.rad2deg, lambda x: np.rad2deg(x) * x, X),
    row(np.rad2deg, lambda x: np.rad2deg(x), F32),
    row(np.radians, lambda x: np.radians(x) * x, X),
    row(np.radians, lambda x: np.radians(x), ZERO_D),
    row(np.deg2rad, lambda x: np.deg2rad(x) * x, X),
    row(np.deg2rad, lambda x: np.deg2rad(x), M),
    row(np.sinc, lambda x: np.sinc(x), M),
    row(np.sinc, lambda x: np.sinc(x), np.array([0.0, 0.01, -0.02, 0.035])),
    row(np.sinc, lambda z: np.sinc(z), Z),
    row(np.i0, lambda x: np.i0(x), M),
    row(np.i0, lambda x: np.i0(x), ZERO_D),
]

BINARY_ROWS = [
    row(np.add, lambda x, y: (x + y) ** 2, M, X),
    row(np.add, lambda x, y: np.add(x, y) * y, COLUMN, X),
    row(np.add, lambda x: 2 + x, Z),
    row(np.subtract, lambda x, y: (x - y) ** 2, M, COLUMN),
    row(np.subtract, lambda x: (1.0 - x) ** 2, X),
    row(np.subtract, lambda x, y: (x - y) ** 2, ZERO_D, X),
    row(np.multiply, lambda x, y: x * y, M, X),
    row(np.multiply, lambda x, y: x * y, M, ZERO_D),
    row(np.multiply, lambda x, y: x * y, Z, X),
    row(np.multiply, lambda x: x * x * -1 * 1, X),
    row(np.divide, lambda x, y: x / y, M, P),
    row(np.divide, lambda x, y: x / y, X, Z2),
    row(np.divide, lambda x: 1 / x + x / 2, P),
    row(np.divide, lambda x, y: np.true_divide(x, y), F32, F32 + 1),
    row(np.power, lambda x, y: x**y, Q, X),
    row(np.power, lambda x: x**2 + x**1 + x**0 + x**3, X),
    row(np.power, lambda x: x**0.5 + x**-1 + x**-1.5, P),
    row(np.power, lambda x: x**-1 + x**3.0, F32),
    row(np.power, lambda y: 2**y + 1.5**y, X),
    row(np.power, lambda x: x**INTS, X),
    row(np.power, lambda z, y: z**y, Z, X),
    row(np.power, lambda x, z: x**z, P, Z2),
    row(np.power, lambda z: z**2 + z**-1.5 + 2**z + (1 + 1j) ** z + z ** (1 - 2j), Z),
    row(np.power, lambda x: x ** (1 - 2j), P),
    row(np.float_power, lambda x, y: np.float_power(x, y), Q, X),
    row(np.float_power, lambda x: np.float_power(x, 2) + np.float_power(x, 1.5), P),
    row(np.float_power, lambda x, y: np.float_power(x, y), F32, F32),
    row(np.remainder, lambda x, y: x * np.mod(x, y), M * 4, P),
    row(np.remainder, lambda x, y: y * (x % -y), X * 5, P),
    row(np.remainder, lambda x: x % 2 + 7.5 % x, P),
    row(np.fmod, lambda x, y: x * np.fmod(x, y), M * 4, P),
    row(np.fmod, lambda x: np.fmod(x, 2) + np.fmod(7.5, x), P),
    row(np.hypot, lambda x, y: np.hypot(x, y), M, X),
    row(np.hypot, lambda x: np.hypot(x, 2.0), X),
    row(np.hypot, lambda x, y: np.hypot(x, y), COLUMN, ZERO_D),
    row(np.arctan2, lambda x, y: np.arctan2(x, y), M, X),
    row(np.arctan2, lambda x: np.arctan2(x, 2.0) + np.arctan2(1.0, x), X),
    row(np.copysign, lambda x, y: np.copysign(x, y) * x, M, X),
    row(np.copysign, lambda x: np.copysign(x, -1.0), X),
    row(np.nextafter, lambda x: np.nextafter(x, 9.0) * x, X),
    row(np.nextafter, lambda x, y: np.nextafter(x, y), M, X),
    row(np.heaviside, lambda x, y: np.heaviside(x, y) * x, X, Y),
    row(np.heaviside, lambda y: np.heaviside(np.array([0.0, -1.0, 1.0]), y) * y, Y),
    row(np.logaddexp, lambda x, y: np.logaddexp(x, y), M, X),
    row(np.logaddexp, lambda x: np.logaddexp(0.0, x) + np.logaddexp(x, 1), X),
    row(np.logaddexp, lambda x, y: np.logaddexp(x, y), X, X.copy()),
    row(np.logaddexp, lambda x, y: np.logaddexp(x, y), X, np.array([0.3, -INF, 1.0])),
    row(np.logaddexp2, lambda x, y: np.logaddexp2(x, y), M, X),
    row(np.logaddexp2, lambda x: np.logaddexp2(0.0, x), X),
    row(np.maximum, lambda x, y: np.maximum(x, y) ** 2, M, X),
    row(np.maximum, lambda x: np.maximum(x, 0) ** 2 + np.maximum(0.5, x), X),
    row(np.maximum, lambda x: np.maximum(x, -INF) * x, X),
    row(np.maximum, lambda x: np.maximum(x, 1) ** 2, F32),
    row(np.minimum, lambda x, y: np.minimum(x, y) ** 2, M, COLUMN),
    row(np.minimum, lambda x: np.minimum(x, 0) ** 2 + np.minimum(0.5, x), X),
    row(np.fmax, lambda x, y: np.fmax(x, y) ** 2, M, X),
    row(np.fmax, lambda x: np.fmax(x, 0.1) ** 2, X),
    row(np.fmin, lambda x, y: np.fmin(x, y) ** 2, M, X),
    row(np.fmin, lambda x: np.fmin(x, 0.1) ** 2, X),
    row(np.clip, lambda x: np.clip(x, -0.5, 0.5) * x, M),
    row(np.clip, lambda x, lo, hi: np.clip(x, lo, hi) ** 2, M * 3, -P, ZERO_D),
    row(np.clip, lambda x, lo: np.clip(x, lo, None) ** 2, M, X),
    row(np.clip, lambda x, hi: np.clip(x, None, hi) ** 2, M, X),
    row(np.clip, lambda x, hi: x.clip(max=hi) ** 2, M, X),
    row(np.clip, lambda x, lo: np.clip(x, a_min=lo, a_max=0.2) ** 2, X, Y - 1),
    row(np.clip, lambda x, lo, hi: np.clip(x, lo, hi) ** 2, X, Y + 2, Y - 2),
    row(np.ldexp, lambda x: np.ldexp(x, INTS) * x, X),
    row(np.ldexp, lambda x: np.ldexp(x, 3) * x, M),
    row(np.frexp, lambda x: np.frexp(x)[0] * x, X),
    row(np.frexp, lambda x: np.frexp(x)[0], M),
]

COMPLEX_ROWS = [
    row(np.absolute, lambda x: abs(x) * x, X),
    row(np.absolute, lambda x: np.abs(x), ZERO_D),
    row(np.absolute, lambda z: np.abs(z), Z),
    row(np.absolute, lambda z: np.abs(z) * z, Z2),
    row(np.conjugate, lambda z: np.conj(z) * z * z, Z),
    row(np.conjugate, lambda x: np.conj(x) * x, X),
    row(np.conjugate, lambda z: z.conj() ** 2, Z2),
    row(np.real, lambda z: np.real(z) * z, Z),
    row(np.real, lambda z: z.real**2, Z),
    row(np.real, lambda x: np.real(x) ** 2, X),
    row(np.imag, lambda z: np.imag(z) * z, Z),
    row(np.imag, lambda z: z.imag**2, Z),
    row(np.imag, lambda x: np.imag(x) + x, X),
    row(np.angle, lambda z: np.angle(z), Z),
    row(np.angle, lambda z: np.angle(z, deg=True) * z, Z),
    row(np.angle, lambda x: np.angle(x) * x, X),
    row(np.real_if_close, lambda z: np.real_if_close(z) ** 2, Z),
    row(np.real_if_close, lambda z: np.real_if_close(z * np.conj(z)) * z, Z),
    row(np.real_if_close, lambda x: np.real_if_close(x, 10) ** 2, X),
    row(np.nan_to_num, lambda x: np.nan_to_num(x) * x, M),
    row(np.nan_to_num, lambda z: np.nan_to_num(z) * z, Z),
    row(np.nan_to_num, lambda t: np.nan_to_num(WITH_NAN, nan=t, posinf=2 * t, neginf=0.0), 1.5),
]


@table(UNARY_ROWS)
def test_unary(row):
    check(row)


@table(BINARY_ROWS)
def test_binary(row):
    check(row)


@table(COMPLEX_ROWS)
def test_complex(row):
    check(row)


def gradient(f, *args):
    """Return the gradients of the sum of `f` with respect to all arguments."""
    argnums = tuple(range(len(args)))
    return srcgrad.grad(lambda *args: np.sum(np.real(f(*args))), argnums)(*map(np.array, args))


def edge_table(names, edges):
    """Parametrize a test with `edges`, each with its title in front."""
    return pytest.mark.parametrize(names, [e[1:] for e in edges], ids=[e[0] for e in edges])


EDGES = [
    ("abs at 0", np.abs, ([0.0, -0.0, 2.0],), ([0, 0, 1],)),
    ("abs at 0j", np.abs, ([0j, 3 + 4j],), ([0, 0.6 + 0.8j],)),
    ("angle at 0j", np.angle, ([0j],), ([0],)),
    ("hypot at 0", np.hypot, ([0.0, 3.0], [0.0, 4.0]), ([0, 0.6], [0, 0.8])),
    ("arctan2 at 0", np.arctan2, ([0.0], [0.0]), ([0], [0])),
    ("arctan2, tiny", lambda x: np.arctan2(x, 1e-200), ([0.0],), ([1e200],)),
    ("sinc at 0", np.sinc, ([0.0],), ([0],)),
    ("copysign at 0", lambda x: np.copysign(x, -2.0), ([0.0, 3.0],), ([0, -1],)),
    ("x**0", lambda x: x**0, ([0.0, 2.0],), ([0, 0],)),
    ("x**1", lambda x: x**1, ([0.0, 2.0],), ([1, 1],)),
    ("x**2", lambda x: x**2, ([0.0, 2.0],), ([0, 4],)),
    ("x**2.5", lambda x: x**2.5, ([0.0, 1.0],), ([0, 2.5],)),
    ("x**y at x = 0", np.power, ([0.0] * 4, [0.0, 1.0, 2.0, 3.5]), ([0, 1, 0, 0], [0] * 4)),
    ("0**y", lambda y: 0.0**y, ([1.0, 2.0],), ([0, 0],)),
    ("(-2)**y", lambda x, y: x**y, ([-2.0], [3.0]), ([12], [0])),
    ("tie, max", np.maximum, ([1.0, 2.0], [1.0, 3.0]), ([0.5, 0], [0.5, 1])),
    ("tie, min", np.minimum, ([1.0, 2.0], [1.0, 3.0]), ([0.5, 1], [0.5, 0])),
    ("tie, fmax", np.fmax, ([1.0, 2.0], [1.0, 3.0]), ([0.5, 0], [0.5, 1])),
    ("tie, fmin", np.fmin, ([1.0, 2.0], [1.0, 3.0]), ([0.5, 1], [0.5, 0])),
    ("tie, literal 0", lambda x: np.maximum(x, 0), ([0.0, 2.0],), ([0.5, 1],)),
    ("tie, literal 1", lambda x: np.minimum(1.0, x), ([1.0, 2.0],), ([0.5, 0],)),
    ("tie, infinite", np.maximum, ([-INF], [-INF]), ([0.5], [0.5])),
    ("fmax of nan", np.fmax, ([np.nan, 1.0], [2.0, np.nan]), ([0, 1], [1, 0])),
    ("fmin of nan", np.fmin, ([np.nan, 1.0], [2.0, np.nan]), ([0, 1], [1, 0])),
    ("clip at bounds", lambda x: np.clip(x, 0, 1), ([-1.0, 0.0, 1.0, 2.0],), ([0, 1, 1, 0],)),
    (
        "nan_to_num",
        np.nan_to_num,
        ([1.0, np.nan, INF, -INF],),
        ([1, 0, 0, 0],),
    ),
    (
        "nan_to_num, complex",
        np.nan_to_num,
        ([complex(1, np.nan), complex(INF, 1), 1 + 1j],),
        ([1, 0, 1],),
    ),
    (
        "logaddexp, infinite",
        np.logaddexp,
        ([INF, INF, 1.0], [1.0, INF, INF]),
        ([1, 0.5, 0], [0, 0.5, 1]),
    ),
    ("logaddexp, -infinite", np.logaddexp, ([-INF, -INF], [-INF, 1.0]), ([0.5, 0], [0.5, 1])),
    ("logaddexp2, infinite", np.logaddexp2, ([-INF], [1.0]), ([0], [1])),
    ("softplus at -inf", lambda x: np.logaddexp(0.0, x), ([-INF],), ([0],)),
]


@pytest.mark.parametrize(
    ("f", "args", "expected"), [e[1:] for e in EDGES], ids=[e[0] for e in EDGES]
)
def test_edge(f, args, expected):
    for found, value in zip(gradient(f, *args), expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-12)


ROOTS = [(lambda x: np.sqrt(x), 0.0), (lambda x: x**0.5, 0.0), (lambda x: np.cbrt(x), 0.0)]


@pytest.mark.parametrize(("f", "x"), ROOTS)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_root_at_zero_is_infinitely_steep(f, x):
    assert srcgrad.grad(f)(x) == INF
    assert gradient(lambda x, p: x**p, [0.0], [0.5])[0] == INF


SECOND = [
    ("sinc", np.sinc, 0.0, -(np.pi**2) / 3),
    ("logaddexp", lambda x: np.logaddexp(x, 0.0), 0.0, 0.25),
    ("x**2", lambda x: x**2, 0.0, 2),
    ("x**1", lambda x: x**1, 0.0, 0),
    ("x**3", lambda x: x**3, 0.0, 0),
    ("abs", abs, 0.0, 0),
    ("hypot", lambda x: np.hypot(x, 0.0), 0.0, 0),
    ("relu squared", lambda x: np.maximum(x, 0.0) ** 2, 0.0, 0.5),
]


@pytest.mark.parametrize(
    ("f", "x", "expected"), [e[1:] for e in SECOND], ids=[e[0] for e in SECOND]
)
def test_second_derivative_at_an_edge(f, x, expected):
    found = srcgrad.grad(srcgrad.grad(lambda x: f(x) + 0 * x * x))(x)
    np.testing.assert_allclose(found, expected, atol=1e-12)


fix = pytest.param(np.fix, marks=pytest.mark.filterwarnings("ignore:numpy.fix:DeprecationWarning"))
STEPS = [
    *(np.floor, np.ceil, np.trunc, fix, np.rint, np.round, np.around, np.sign, np.spacing),
    *(lambda x: x // 0.7, lambda x: np.heaviside(x, 0.5), lambda x: x > 0, np.argsort),
    *(lambda x: np.count_nonzero(x), np.isfinite, lambda x: np.searchsorted(np.sort(x), 0.1)),
]


@pytest.mark.parametrize("f", STEPS)
def test_step_functions_add_nothing(f):
    found = srcgrad.grad(lambda x: np.sum(f(x)) + np.sum(3.0 * x))(X)
    np.testing.assert_array_equal(found, [3.0, 3.0, 3.0])


@pytest.mark.parametrize("f", [np.unique, lambda x: np.histogram(x)[1]])
def test_floats_without_a_rule_are_refused(f):
    with pytest.raises(srcgrad.NoDerivativeError):
        srcgrad.grad(lambda x: np.sum(f(x)))(X)
