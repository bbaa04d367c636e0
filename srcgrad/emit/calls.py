"""One call step as an expression: ``np.add(a, b)`` is ``a + b``, ``np.transpose(x)`` is ``x.T``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.trace import Call, Var, variables

from .expressions import Expr, atom, attribute, binary, compare, item, number, tight, unary
from .functions import PLAIN_SCALARS, Functions, container

NUMPY_KINDS = ("array", "scalar")

_BINARY: dict[str, tuple[ast.operator, str]] = {
    "add": (ast.Add(), "+"),
    "sub": (ast.Sub(), "-"),
    "mul": (ast.Mult(), "*"),
    "truediv": (ast.Div(), "/"),
    "floordiv": (ast.FloorDiv(), "//"),
    "mod": (ast.Mod(), "%"),
    "pow": (ast.Pow(), "**"),
    "matmul": (ast.MatMult(), "@"),
    "lshift": (ast.LShift(), "<<"),
    "rshift": (ast.RShift(), ">>"),
    "and_": (ast.BitAnd(), "&"),
    "or_": (ast.BitOr(), "|"),
    "xor": (ast.BitXor(), "^"),
}
_COMPARE: dict[str, tuple[ast.cmpop, str]] = {
    "lt": (ast.Lt(), "<"),
    "le": (ast.LtE(), "<="),
    "gt": (ast.Gt(), ">"),
    "ge": (ast.GtE(), ">="),
    "eq": (ast.Eq(), "=="),
    "ne": (ast.NotEq(), "!="),
    "is_": (ast.Is(), "is"),
    "is_not": (ast.IsNot(), "is not"),
}
_UNARY: dict[str, tuple[ast.unaryop, str]] = {
    "neg": (ast.USub(), "-"),
    "pos": (ast.UAdd(), "+"),
    "invert": (ast.Invert(), "~"),
    "not_": (ast.Not(), "not "),
}
_UFUNCS: dict[np.ufunc, str] = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.divide: "truediv",
    np.floor_divide: "floordiv",
    np.remainder: "mod",
    np.power: "pow",
    np.matmul: "matmul",
    np.left_shift: "lshift",
    np.right_shift: "rshift",
    np.bitwise_and: "and_",
    np.bitwise_or: "or_",
    np.bitwise_xor: "xor",
    np.less: "lt",
    np.less_equal: "le",
    np.greater: "gt",
    np.greater_equal: "ge",
    np.equal: "eq",
    np.not_equal: "ne",
    np.negative: "neg",
    np.positive: "pos",
    np.invert: "invert",
}
_LOGICAL: dict[np.ufunc, str] = {
    np.logical_and: "and_",
    np.logical_or: "or_",
    np.logical_xor: "xor",
    np.logical_not: "invert",
}

Printer = Callable[["Calls", Call], Expr | None]


class Calls:
    """Writes call steps; `expr_of` gives the expression of a variable.

    `literals` holds the NumPy scalars that are made from a number of the text: they are that
    number beside an operand of their dtype.
    """

    def __init__(self, functions: Functions, expr_of: Callable[[Var], Expr]) -> None:
        self.functions = functions
        self.expr_of = expr_of
        self.literals: dict[Var, float] = {}

    def express(self, step: Call) -> Expr:
        """Return the expression of a step."""
        special = _SPECIAL.get(id(step.function)) or _method_printer(step.function)
        if special is not None:
            written = special(self, step)
            if written is not None:
                return written
        return self.call(self.functions.name(step.function), step.args, step.kwargs)

    def call(self, name: str, args: tuple[Any, ...], kwargs: Any) -> Expr:
        """Return ``name(args, kwargs)``."""
        texts = [self.text(a) for a in args]
        texts += [f"{k}={self.text(a)}" for k, a in kwargs.items()]
        return tight(f"{name}({', '.join(texts)})", self.parts((args, kwargs)))

    def parts(self, tree: Any) -> list[Expr]:
        return [self.expr_of(v) for v in variables(tree)]

    def text(self, tree: Any) -> str:
        """Return an argument's text."""
        t = type(tree)
        if t is Var:
            return self.expr_of(tree).text
        if t is tuple or t is list or t is dict or t is slice:
            return container(tree, self.text)
        return self.functions.static(tree)

    def operand(self, value: Any, beside: Any = None) -> Expr:
        """Return an operand of an operator that has `beside` on its other side."""
        if type(value) is Var:
            plain = value in self.literals and self._takes_literal(beside, value)
            return number(self.literals[value]) if plain else self.expr_of(value)
        if type(value) in (int, float, complex):
            return number(value)
        return atom(self.text(value))

    def _takes_literal(self, beside: Any, value: Var) -> bool:
        """Tell whether a number beside `beside` is worth what the NumPy scalar `value` is."""
        if type(beside) is not Var or beside in self.literals:
            return False
        return beside.kind in NUMPY_KINDS and beside.dtype == value.dtype

    def index(self, index: Any) -> str:
        """Return what stands between the brackets of a subscript."""
        if type(index) is tuple and index:
            text = ", ".join([self._index_item(i) for i in index])
            return text + "," if len(index) == 1 else text
        return self._index_item(index)

    def _index_item(self, index: Any) -> str:
        if type(index) is not slice:
            return self.text(index)
        start, stop, step = (
            "" if part is None else self.text(part)
            for part in (index.start, index.stop, index.step)
        )
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"


def _with_operator(name: str) -> Printer:
    """Return a printer that writes the operator `name` of Python's operator module."""

    def write(calls: Calls, step: Call) -> Expr | None:
        if step.kwargs:
            return None
        if name in _UNARY and len(step.args) == 1:
            return unary(*_UNARY[name], calls.operand(step.args[0]))
        if len(step.args) != 2:
            return None
        a, b = step.args
        left, right = calls.operand(a, b), calls.operand(b, a)
        if name in _BINARY:
            return binary(*_BINARY[name], left, right)
        return compare(*_COMPARE[name], left, right)

    return write


def _with_ufunc(name: str) -> Printer:
    """Return the same for a ufunc: the operator means it beside a NumPy operand only."""
    write = _with_operator(name)

    def write_ufunc(calls: Calls, step: Call) -> Expr | None:
        if not any(type(a) is Var and a.kind in NUMPY_KINDS for a in step.args):
            return None
        if name == "pow" and not _power_is_operator(*step.args):
            return None
        return write(calls, step)

    return write_ufunc


def _power_is_operator(base: Any, exponent: Any) -> bool:
    """Tell whether ``base ** exponent`` is ``np.power``.

    An array's ``** 0.5`` is np.sqrt, which differs at -inf and -0.0.
    """
    if type(base) is not Var or base.kind != "array":
        return True
    if type(exponent) is Var:
        return exponent.kind == "array" and exponent.ndim > 0
    return exponent != 0.5


def _with_logical(name: str) -> Printer:
    """Return the same for a logical ufunc: ``&`` and its kin mean it on bools."""
    write = _with_operator(name)

    def write_logical(calls: Calls, step: Call) -> Expr | None:
        if all(type(a) is Var and a.kind in NUMPY_KINDS and a.dtype == bool for a in step.args):
            return write(calls, step)
        return None

    return write_logical


def _getitem(calls: Calls, step: Call) -> Expr | None:
    value, index = step.args
    return item(calls.operand(value), calls.index(index), calls.parts(index))


def _transpose(calls: Calls, step: Call) -> Expr | None:
    value = step.args[0] if step.args else None
    if len(step.args) > 1 or step.kwargs or type(value) is not Var or value.ndim != 2:
        return None
    return attribute(calls.operand(value), "T")


def _size(calls: Calls, step: Call) -> Expr | None:
    """Write ``np.size(x, 0)`` as ``x.shape[0]``."""
    value = step.args[0] if step.args else None
    if type(value) is not Var or value.kind not in NUMPY_KINDS or step.kwargs:
        return None
    if len(step.args) == 1:
        return attribute(calls.operand(value), "size")
    if type(step.args[1]) is not int:
        return None
    return item(attribute(calls.operand(value), "shape"), calls.text(step.args[1]), [])


def _shape(calls: Calls, step: Call) -> Expr | None:
    value = step.args[0] if step.args else None
    if type(value) is not Var or value.kind not in NUMPY_KINDS:
        return None
    return attribute(calls.operand(value), "shape")


def _maker(calls: Calls, step: Call) -> Expr:
    """Write ``np.zeros((3,), np.float64)`` as ``np.zeros(3)``."""
    args, kwargs = list(step.args), dict(step.kwargs)
    if len(args) == 2 and _is_float64(args[1]):
        del args[1]
    if "dtype" in kwargs and _is_float64(kwargs["dtype"]):
        del kwargs["dtype"]
    if args and type(args[0]) is tuple and len(args[0]) == 1:
        args[0] = args[0][0]
    return calls.call(calls.functions.name(step.function), tuple(args), kwargs)


def _is_float64(dtype: Any) -> bool:
    return dtype is np.float64 or dtype is float or (type(dtype) is type(_F8) and dtype == _F8)


def _reduction(calls: Calls, step: Call) -> Expr:
    """Write ``axis=(1,)`` as ``axis=1``."""
    kwargs = dict(step.kwargs)
    axis = kwargs.get("axis")
    if type(axis) is tuple and len(axis) == 1:
        kwargs["axis"] = axis[0]
    return calls.call(calls.functions.name(step.function), step.args, kwargs)


def _scalar(calls: Calls, step: Call) -> Expr | None:
    """Write the scalar type's name as that of a dtype."""
    dtype: np.dtype = np.dtype(step.function)  # type: ignore[call-overload]
    return calls.call(calls.functions.static(dtype), step.args, step.kwargs)


def _method_printer(function: Any) -> Printer | None:
    """Return the printer of a method descriptor: ``np.ndarray.astype(x, t)`` is ``x.astype(t)``."""
    return _method if type(function).__name__ == "method_descriptor" else None


def _method(calls: Calls, step: Call) -> Expr | None:
    value, *args = step.args
    method = attribute(calls.operand(value), step.function.__name__)
    called = calls.call(method.text, tuple(args), step.kwargs)
    return tight(called.text, [calls.operand(value), *calls.parts((args, step.kwargs))])


_F8 = np.dtype(np.float64)
_MAKERS = (np.zeros, np.ones, np.empty, runtime.zeros, runtime.ones)
_REDUCTIONS = (np.sum, np.prod, np.mean, np.max, np.min, np.any, np.all)
_SPECIAL: dict[int, Printer] = {
    **{id(getattr(operator, name)): _with_operator(name) for name in _BINARY},
    **{id(getattr(operator, name)): _with_operator(name) for name in _COMPARE},
    **{id(getattr(operator, name)): _with_operator(name) for name in _UNARY},
    **{id(ufunc): _with_ufunc(name) for ufunc, name in _UFUNCS.items()},
    **{id(ufunc): _with_logical(name) for ufunc, name in _LOGICAL.items()},
    **{id(scalar): _scalar for scalar in PLAIN_SCALARS},
    **{id(function): _maker for function in _MAKERS},
    **{id(function): _reduction for function in _REDUCTIONS},
    id(operator.getitem): _getitem,
    id(operator.abs): lambda calls, step: calls.call("abs", step.args, step.kwargs),
    id(operator.truth): lambda calls, step: calls.call("bool", step.args, step.kwargs),
    id(np.transpose): _transpose,
    id(np.matrix_transpose): _transpose,
    id(np.linalg.matrix_transpose): _transpose,
    id(np.size): _size,
    id(np.shape): _shape,
}
