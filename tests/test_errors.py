"""Errors: the class, and a message that says what, where in this file, and the way out."""

# ruff: noqa: E501  (a row is a line)

from __future__ import annotations

import ast
import math
import re
from pathlib import Path

import numpy as np
import pytest

import srcgrad
from srcgrad import GradientTape, Variable, constant, elementwise_grad, grad, value_and_grad, vjp
from srcgrad import errors as E

x2 = np.ones(2)


class Quantity(np.ndarray):
    """A subclass, as packages of units have them."""


q = np.ones((1, 1)).view(Quantity)
HERE = r"\(test_errors\.py:\d+\)"


def recorded(f, x=x2):
    """Return a run of `f` on a tape."""

    def run():
        x_ = constant(x)
        with GradientTape() as t:
            t.watch(x_)
            return f(x_, t)

    return run


def set_item(x):
    x[0] = 1.0
    return np.sum(x)


def add_in_place(x):
    x += 1.0
    return np.sum(x)


def set_row(x):
    y = x * 2.0
    y[0] = 3.0
    return np.sum(y)


def store(x):
    out = np.zeros(2)
    out[0] = x[0] * 2.0
    return np.sum(out)


GLOBAL = np.zeros(2)


def store_outside(x):
    GLOBAL[0] = x[0]
    return np.sum(GLOBAL)


def no_return(x):
    np.sum(x)


def generator(x):
    yield x


async def coroutine(x):
    return x


class Holder:
    def __init__(self):
        self.w = 3

    def method(self, x):
        return x * x


@grad
def recursive(x):
    return x * recursive(x - 1.0) if x > 1.0 else x


@srcgrad.primitive
def mystery(x):
    return x * 2


@srcgrad.primitive
def crooked(x):
    return x * 2


srcgrad.defvjp(crooked)(lambda g, out, x: np.sum(g))


@srcgrad.custom_vjp
def one_of_two(x, y):
    return x * y


one_of_two.defvjp(lambda x, y: (x * y, None), lambda r, g: (g,))


@srcgrad.custom_vjp
def bad_forward(x):
    return x * x


bad_forward.defvjp(lambda x: x * x, lambda r, g: (g,))


@srcgrad.custom_vjp
def bad_structure(p):
    return p["a"] * p["b"]


bad_structure.defvjp(lambda p: (p["a"] * p["b"], None), lambda r, g: ({"a": g},))


def second_gradient():
    v = Variable(1.0)
    with GradientTape() as t:
        y = v * v
    t.gradient(y, v)
    t.gradient(y, v)


def twice_entered():
    with GradientTape() as t, t:
        pass


def with_tape(f):
    """Return a run of ``f(tape, target, source)`` after a small recording."""

    def run():
        v = Variable(x2)
        with GradientTape() as t:
            y = v * v
        f(t, y, v)

    return run


# (what is done, class, builtin class, what it says, the way out)
ROWS = [
    # arguments
    (lambda: grad(lambda x: x * x)(3), E.ArgumentError, TypeError, r"'x' of <lambda>.* int 3", r"pass 3\.0"),
    (lambda: grad(lambda x: x)(True), E.ArgumentError, TypeError, "bool True", r"pass 1\.0"),
    (lambda: grad(lambda w: np.sum(w))(np.arange(3)), E.ArgumentError, TypeError, "dtype int64", r"w\.astype\(float\)"),
    (lambda: grad(lambda w: np.sum(w))(np.int64(3)), E.ArgumentError, TypeError, "dtype int64", r"w\.astype\(float\)"),
    (lambda: grad(lambda w: np.sum(w))(np.array([True])), E.ArgumentError, TypeError, "dtype bool", r"w\.astype\(float\)"),
    (lambda: grad(lambda w: 1.0)(np.array(["a"])), E.ArgumentError, TypeError, "dtype <U1", r"astype\(float\)"),
    (lambda: grad(lambda x: 1.0)("text"), E.ArgumentError, TypeError, "'text'", "Pass floats"),
    (lambda: grad(lambda x: 1.0)(None), E.ArgumentError, TypeError, "'x' .* is None", "Pass an array or a float"),
    (lambda: grad(lambda x: 1.0)([1, 2]), E.ArgumentError, TypeError, r"holds no floats: \[1, 2\]", "Pass floats"),
    (lambda: grad(lambda x: 1.0)({}), E.ArgumentError, TypeError, "holds no floats", "Pass floats"),
    (lambda: grad(lambda x: 1.0)(object()), E.ArgumentError, TypeError, "object, which is no container", "register_container.*argnums=1"),
    (lambda: grad(Holder.method)(Holder(), 2.0), E.ArgumentError, TypeError, "'self' of method", "argnums=1"),
    (lambda: grad(lambda x: 1.0)(np.array([1.0, None])), E.ArrayTypeError, TypeError, "'x' is an array of dtype object", r"x\.astype\(float\)"),
    (lambda: grad(lambda x: 1.0)(q), E.ArrayTypeError, TypeError, "'x' is a Quantity", r"np\.asarray\(x\)"),
    (lambda: grad(lambda x: 1.0)(np.ma.masked_array([1.0])), E.ArrayTypeError, TypeError, "MaskedArray", r"np\.asarray\(x\)"),
    (lambda: grad(lambda x: 1.0)([q]), E.ArrayTypeError, TypeError, "Quantity", r"np\.asarray"),
    (lambda: vjp(lambda x: x, 3), E.ArgumentError, TypeError, "int 3", r"pass 3\.0"),
    (lambda: grad(lambda x, y: x, 2)(1.0, 2.0), TypeError, TypeError, "argument 2 of <lambda>", "count from 0"),
    (lambda: grad(lambda x: x, "y")(1.0), TypeError, TypeError, "'y', which <lambda>", r"parameters are \(x\)"),
    (lambda: grad(lambda x: x, 1.5), TypeError, TypeError, "argnums is an int", "a name or a tuple of them, not 1.5"),
    # functions
    (lambda: grad(3.0), TypeError, TypeError, r"3\.0 is not callable", r"not grad\(f\(x\)\)"),
    (lambda: grad(generator), TypeError, TypeError, "generator .* is a generator", "Return a value"),
    (lambda: grad(coroutine), TypeError, TypeError, "coroutine .* is async", "def"),
    (lambda: recursive(3.0), RecursionError, RuntimeError, "calls its own name", r"drecursive = srcgrad\.grad\(recursive\)"),
    # outputs
    (lambda: grad(lambda x: x * 2)(x2), E.OutputError, TypeError, r"<lambda> .* array of shape \(2,\)", r"np\.sum.*jacobian.*vjp"),
    (lambda: grad(lambda x: np.ones(3))(x2), E.OutputError, TypeError, r"shape \(3,\)", r"np\.sum"),
    (lambda: value_and_grad(no_return)(x2), E.OutputError, TypeError, "no_return .* returned None", "return its value"),
    (lambda: vjp(no_return, x2), E.OutputError, TypeError, "no_return .* returned None", "return its value"),
    (lambda: grad(lambda x: (x[0], x[1]))(x2), E.OutputError, TypeError, "a tuple", "has_aux=True.*vjp"),
    (lambda: grad(lambda x: {"a": x[0]})(x2), E.OutputError, TypeError, "a dict", "vjp"),
    (lambda: grad(lambda x: "text")(x2), E.OutputError, TypeError, "a str", "vjp"),
    (lambda: grad(lambda x: x[0] * 1j)(x2), E.OutputError, TypeError, "complex number", r"np\.real.*vjp"),
    (lambda: elementwise_grad(lambda x: x * 1j)(x2), E.OutputError, TypeError, "complex", r"np\.real.*vjp"),
    (lambda: grad(lambda x: x[0], has_aux=True)(x2), E.OutputError, TypeError, "has_aux", r"\(value, aux\)"),
    # cotangents
    (lambda: vjp(lambda x: x * 2, x2)[1](np.ones(3)), E.CotangentError, ValueError, r"shape \(3,\), the output \(2,\)", "output's shape"),
    (lambda: vjp(lambda x: [x], x2)[1](x2), E.CotangentError, ValueError, r"structure \*, the output \[\*\]", "output's structure"),
    (lambda: vjp(lambda x: x, x2)[1](x2 * 1j), E.CotangentError, ValueError, "complex, the output real", r"np\.real"),
    (lambda: grad(lambda x: np.sum(crooked(x)))(x2), E.CotangentError, ValueError, r"rule of .*crooked gave .*shape \(\).*shape \(2,\)", "argument's shape"),
    (lambda: grad(one_of_two)(1.0, 2.0), E.CotangentError, ValueError, "one_of_two gave 1 cotangents for 2", "one for each"),
    (lambda: grad(bad_structure)({"a": 1.0, "b": 2.0}), E.CotangentError, ValueError, r"\{'a': \*\} .*\{'a': \*, 'b': \*\}", "argument's structure"),
    (lambda: grad(bad_forward)(1.0), E.OutputError, TypeError, "forward function of bad_forward", r"\(output, residuals\)"),
    # functions without a rule
    (lambda: grad(lambda x: np.poly(x)[0])(x2), E.NoDerivativeError, NotImplementedError, r"np\.poly has no derivative rule", "defvjp.*stop_gradient"),
    (lambda: grad(lambda x: np.sum(mystery(x)))(x2), E.NoDerivativeError, NotImplementedError, "mystery has no derivative rule", "defvjp"),
    (lambda: grad(lambda x: np.add.reduceat(x, [0]).sum())(x2), E.NoDerivativeError, NotImplementedError, "reduceat", "defvjp"),
    # writes
    (lambda: grad(set_item)(x2), E.InPlaceError, TypeError, r"x\[\.\.\.\] = ", r"np\.where"),
    (lambda: grad(add_in_place)(x2), E.InPlaceError, TypeError, r"x \+= \.\.\.", r"y = y \+ 1"),
    (lambda: grad(set_row)(x2), E.InPlaceError, TypeError, r"x\[\.\.\.\] = ", r"np\.concatenate"),
    (lambda: grad(store)(x2), TypeError, TypeError, "writes into|would store", r"np\.(where|stack)"),
    (lambda: grad(store_outside)(x2), TypeError, TypeError, "writes into|would store", r"np\.(where|stack)"),
    (lambda: grad(lambda x: np.sum(np.multiply(x, 2.0, out=np.empty(2))))(x2), E.InPlaceError, TypeError, r"np\.multiply\(out=", r"np\.where"),
    (lambda: grad(lambda x: np.sum(x.cumsum(out=np.empty(2))))(x2), E.InPlaceError, TypeError, r"cumsum\(out=", r"np\.where"),
    # conversions
    (recorded(lambda x, t: np.asarray(x)), E.ConversionError, TypeError, r"np\.asarray would turn", r"np\.stack"),
    (recorded(lambda x, t: np.array([x[0], x[1]])), E.ConversionError, TypeError, r"np\.array", r"np\.stack"),
    (lambda: grad(lambda x: np.vectorize(math.sin)(x).sum())(x2), Exception, Exception, "no derivative rule", "defvjp"),
    (lambda: grad(lambda x: np.sum(x.numpy()))(x2), E.ConversionError, TypeError, r"\.numpy\(\)", "as it is"),
    (lambda: grad(lambda x: np.sum(x.view(np.int64)))(x2), E.ConversionError, TypeError, r"x\.view", r"astype"),
    (recorded(lambda x, t: constant([x[0], x[1]])), E.ConversionError, TypeError, r"constant\(\)", r"np\.stack"),
    (lambda: grad(lambda x: np.sum(x * np.array([1.0, 2.0], dtype=object)))(x2), E.ArrayTypeError, TypeError, "dtype object", r"astype\(float\)"),
    (lambda: grad(lambda x: np.sum(x * np.ma.masked_array(x2)))(x2), TypeError, TypeError, "MaskedArray|plain array", r"np\.asarray|primitive"),
    # tapes
    (second_gradient, E.TapeError, RuntimeError, "A non-persistent GradientTape can only be used to compute one set of gradients", "persistent=True"),
    (twice_entered, E.TapeError, ValueError, "entered twice", r"GradientTape\(\)"),
    (lambda: GradientTape().watch(constant(1.0)), E.TapeError, RuntimeError, "outside of the tape's block", "inside"),
    (lambda: GradientTape().reset(), E.TapeError, ValueError, "not recording", "block"),
    (lambda: GradientTape().stop_recording().__enter__(), E.TapeError, RuntimeError, "not recording", "block"),
    (lambda: GradientTape().gradient(constant(1.0), constant(1.0)), E.TapeError, RuntimeError, "recorded nothing", "with tape"),
    (recorded(lambda x, t: t.watch(3)), E.ArgumentError, TypeError, "int 3", r"float: 3\.0"),
    (recorded(lambda x, t: t.watch(np.arange(3))), E.ArgumentError, TypeError, "dtype int64", r"x\.astype\(float\)"),
    (recorded(lambda x, t: t.watch("text")), E.ArgumentError, TypeError, "a str", "arrays or floats"),
    (recorded(lambda x, t: t.watch(q)), E.ArrayTypeError, TypeError, "Quantity", r"np\.asarray"),
    (with_tape(lambda t, y, v: t.gradient(y, x2)), E.UnwatchedError, TypeError, "source is a plain ndarray", r"x = t\.watch\(x\)"),
    (with_tape(lambda t, y, v: t.gradient(3.0, v)), E.UnwatchedError, TypeError, "target is a plain float", r"x = t\.watch\(x\)"),
    (with_tape(lambda t, y, v: t.gradient(y, None)), E.UnwatchedError, TypeError, "source is None", "recorded array"),
    (with_tape(lambda t, y, v: t.gradient(y, v, np.ones(3))), E.CotangentError, ValueError, r"output_gradients has shape \(3,\), the target \(2,\)", "target's shape"),
    (with_tape(lambda t, y, v: t.gradient([y], v, [x2, x2])), ValueError, ValueError, r"structure \[\*, \*\], the target \[\*\]", "None stands for ones"),
    (with_tape(lambda t, y, v: t.gradient(y, constant(1.0), unconnected_gradients="raise")), E.UnconnectedGradientError, ValueError, "after the tape stopped", ""),
    (with_tape(lambda t, y, v: t.gradient(y, v, unconnected_gradients="no")), ValueError, ValueError, "'no'", "'none', 'zero' or 'raise'"),
    (with_tape(lambda t, y, v: t.jacobian([y, y], v)), ValueError, ValueError, "one target is taken", ""),
    (with_tape(lambda t, y, v: t.batch_jacobian(np.sum(y), v)), ValueError, ValueError, "one batch size", "jacobian"),
    (with_tape(lambda t, y, v: v.assign(np.ones(3))), ValueError, ValueError, r"shape \(2,\) .*shape \(3,\)", "new Variable"),
    (with_tape(lambda t, y, v: v.assign(1j * x2)), E.ArgumentError, TypeError, "dtype float64 .*dtype complex128", r"astype\(float64\)"),
    (with_tape(lambda t, y, v: v.__iadd__(1.0)), E.InPlaceError, TypeError, r"x \+= ", "v.assign_add"),
    (lambda: Variable("text"), E.ArgumentError, TypeError, "dtype <U4", "Give numbers"),
    (lambda: constant(q), E.ArrayTypeError, TypeError, "Quantity", r"np\.asarray"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "cls", "builtin", "what", "way_out"), ROWS, ids=lambda v: "")
def test_error(run, cls, builtin, what, way_out):
    with pytest.raises(cls) as info:
        run()
    error = info.value
    if "setting an array element" in str(error):
        error = error.__cause__
    text = str(error)
    assert isinstance(error, builtin)
    assert re.search(what, text), text
    assert re.search(HERE, text), text
    assert re.search(way_out, text[re.search(what, text).start() :]), text
    assert text[-1] == "." or way_out == ""
    assert 20 < len(text) < 400


def test_the_line_is_that_of_the_mistake():
    first = set_item.__code__.co_firstlineno
    with pytest.raises(E.InPlaceError, match=rf"set_item \(test_errors.py:{first + 1}\)"):
        grad(set_item)(x2)
    with pytest.raises(
        E.NoDerivativeError, match=rf"in f \(test_errors.py:{f.__code__.co_firstlineno + 2}\)"
    ):
        grad(f)(x2)


def f(x):
    y = np.sin(x)
    z = np.unwrap(y)
    return np.sum(z)


def test_an_error_of_the_users_code_passes_unchanged():
    def f(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        grad(f)(2.0)
    with pytest.raises(ZeroDivisionError):
        grad(lambda x: x / 0.0)(2.0)
    with pytest.raises(ValueError, match="could not be broadcast"):
        grad(lambda x: np.sum(x * np.ones(3)))(x2)
    with pytest.raises(IndexError):
        grad(lambda x: x[5])(x2)


def test_after_an_error_everything_works_as_before():
    for run, *_ in ROWS[:60]:
        with pytest.raises(Exception):
            run()
    assert srcgrad.capture.recorder.live.recorders == ()
    assert grad(lambda x: x * x)(3.0) == 6.0


# The classes --------------------------------------------------------------------------------------

CLASSES = [
    c
    for c in vars(E).values()
    if isinstance(c, type) and issubclass(c, Exception) and c is not Warning
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_each_class_is_public_has_a_page_and_a_builtin_base(cls):
    assert getattr(srcgrad, cls.__name__) is cls
    assert ">>> " in cls.__doc__
    builtin = (TypeError, ValueError, RuntimeError, NotImplementedError, UserWarning)
    assert issubclass(cls, builtin)


def test_every_class_is_raised_by_a_row_or_is_a_warning():
    raised = {row[1] for row in ROWS}
    assert [c for c in CLASSES if c not in raised and not issubclass(c, Warning)] == []


def test_messages_do_not_shout():
    """No exclamation marks, no 'please', in any message of the package."""
    for path in Path(srcgrad.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise):
                assert not re.search(r"[Pp]lease|!['\"]", ast.unparse(node)), path
