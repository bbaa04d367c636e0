"""Algebra that changes no bit of a value, no shape and no dtype: ``x * 1`` is ``x``.

What rounds otherwise is in scaling.py, and happens to derivatives alone.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.trace import Branch, Call, Loop, Step, Trace, Var

from .rewrite import (
    DIVIDE,
    MULTIPLY,
    NEGATIVE,
    SCALARS,
    fits,
    inner,
    is_elementwise,
    is_float,
    rebuilt,
    renamed,
    same_result,
    twin,
)
from .scaling import SCALING

PRODUCTS = (*MULTIPLY, *DIVIDE, np.matmul, operator.matmul)

Result = Var | Call | None
Rule = Callable[["Algebra", Call], Result]


def algebra(trace: Trace, keep: Collection[Var] = (), derivatives: set[Var] | None = None) -> Trace:
    """Simplify the steps of a trace and of its inner traces.

    Parameters
    ----------
    trace : Trace
    keep : collection of Var
        These stay.
    derivatives : set of Var, optional
        What is known to be below a seed; what is found to be is added to it.
    """
    return Algebra(trace, keep, set() if derivatives is None else derivatives).run()


class Algebra:
    """One walk over the steps of a trace."""

    def __init__(self, trace: Trace, keep: Collection[Var], derivatives: set[Var]) -> None:
        self.trace = trace
        self.keep = keep
        self.made: dict[Var, Call] = {}
        self.units: set[Var] = set()  # what is 1.0 everywhere
        self.derivatives = derivatives
        self.derivatives.update(i.var for i in trace.inputs if i.kind == "seed")
        self.uses: Counter[Var] = Counter(trace.outputs)
        for step in trace.steps:
            self.uses.update(step.reads())
        self.new: dict[Var, Var] = {}
        self.steps: list[Step] = []

    def run(self) -> Trace:
        for step in self.trace.steps:
            if not self.derivatives.isdisjoint(step.reads()):
                self.derivatives.update(step.outs)
            self._enter(step)
            step = renamed(step, self.new)
            if isinstance(step, Call) and type(step.out) is Var:
                self._call(step)
            else:
                self._other(step)
        return rebuilt(self.trace, self.steps, self.new)

    def _call(self, step: Call) -> None:
        out = step.out
        assert type(out) is Var
        self._learn(step, out)
        result: Result = step
        for rule in _RULES.get(id(step.function), ()):
            found = rule(self, step)
            if found is not None:
                result = found
                break
        if type(result) is Var and out not in self.keep:
            self.new[out] = result
            return
        result = step if type(result) is Var else result
        assert isinstance(result, Call)
        self.made[out] = result
        self.steps.append(result)

    def _other(self, step: Step) -> None:
        """Take over a step that is no call; enter its inner traces."""
        self.steps.append(inner(step, lambda trace: algebra(trace, (), self.derivatives)))

    def _enter(self, step: Step) -> None:
        """Note which inputs of inner traces are derivatives."""
        pairs: list[tuple[Trace, Iterable[Var]]] = []
        if isinstance(step, Branch):
            pairs = [(step.then, step.args), (step.orelse, step.args)]
        elif isinstance(step, Loop):
            pairs = [(step.body, step.reads())]
        for trace, given in pairs:
            for i, var in zip(trace.inputs, given, strict=True):
                if var in self.derivatives:
                    self.derivatives.add(i.var)

    def _learn(self, step: Call, out: Var) -> None:
        """Note whether the result is one, and whether it is a derivative."""
        if is_unit(step):
            self.units.add(out)
            if out.kind == "scalar":
                self.derivatives.add(out)
        elif not self.derivatives.isdisjoint(step.reads()):
            self.derivatives.add(out)

    def add(self, step: Call) -> Var:
        """Put a step before the present one; return its result."""
        out = step.out
        assert type(out) is Var
        self._learn(step, out)
        self.steps.append(step)
        self.made[out] = step
        self.uses[out] = 1
        return out

    # What rules ask -------------------------------------------------------------------------------

    def is_one(self, value: Any) -> bool:
        if type(value) is Var:
            return value in self.units
        return type(value) in (int, float, *SCALARS) and value == 1

    def operand_of(self, value: Any, functions: Collection[Any]) -> Any:
        """Return the one operand of `value` if a function of `functions` made it, else None."""
        step = self.made.get(value) if type(value) is Var else None
        if step is None or step.kwargs or len(step.args) != 1 or step.function not in functions:
            return None
        return step.args[0]

    def once(self, value: Var) -> bool:
        return self.uses[value] == 1

    def becomes(self, step: Call, function: Any, *args: Any) -> Call | None:
        """Return the step with another function, if its result has the same type."""
        assert type(step.out) is Var
        if is_elementwise(function) and not same_result(function, args, step.out):
            return None
        return Call(function, args, {}, step.out, step.origin)


def is_unit(step: Call) -> bool:
    """Tell whether a step makes a one, or an array of ones, of float."""
    if step.function in SCALARS:
        return len(step.args) == 1 and type(step.args[0]) in (int, float) and step.args[0] == 1
    return step.function in (np.ones, runtime.ones, np.ones_like)


def _is_real(step: Call) -> bool:
    return type(step.out) is Var and step.out.dtype.kind != "c"


# Products -----------------------------------------------------------------------------------------


def _times_one(a: Algebra, step: Call) -> Result:
    """``x * 1``; a complex x has nan in it where it is infinite, so only as a derivative."""
    if step.kwargs:
        return None
    x, y = step.args
    for value, one in ((x, y), (y, x)):
        if a.is_one(one) and (_is_real(step) or value in a.derivatives or one in a.derivatives):
            return fits(step, value) or (_number(step, value) if one in a.derivatives else None)
    return None


def _number(step: Call, value: Any) -> Var | None:
    """Return a Python float that may stand for a NumPy one: the backward half takes them so."""
    if type(value) is not Var or type(step.out) is not Var or value.kind != "float":
        return None
    return value if step.out.kind == "scalar" and step.out.dtype == value.dtype else None


def _on_numbers(a: Algebra, step: Call) -> Result:
    """``np.multiply`` of two Python floats in the backward half, as ``*``: no bit differs."""
    if step.kwargs or step.out not in a.derivatives or step.function not in PYTHON_TWINS:
        return None
    if not all(type(v) is float or (type(v) is Var and v.kind == "float") for v in step.args):
        return None
    if type(step.out) is not Var or step.out.dtype != float:
        return None
    out = Var("float", step.out.dtype, ())
    return a.add(Call(PYTHON_TWINS[step.function], step.args, {}, out, step.origin))


PYTHON_TWINS: dict[Any, Any] = {
    np.multiply: operator.mul,
    np.add: operator.add,
    np.subtract: operator.sub,
    np.negative: operator.neg,
}


def _times_minus_one(a: Algebra, step: Call) -> Result:
    x, y = step.args
    for value, other in ((x, y), (y, x)):
        minus = type(other) in (int, float) and other == -1
        if minus and fits(step, value) and not step.kwargs and is_float(step):
            return a.becomes(step, twin(step, np.negative, operator.neg), value)
    return None


def _times_negatives(a: Algebra, step: Call) -> Result:
    """``-x * -y``."""
    x, y = (a.operand_of(v, NEGATIVE) for v in step.args)
    if x is None or y is None or step.kwargs or not is_float(step):
        return None
    return a.becomes(step, step.function, x, y)


def _by_one(a: Algebra, step: Call) -> Result:
    """``x / 1``, ``x ** 1``."""
    if step.kwargs or not a.is_one(step.args[1]):
        return None
    return fits(step, step.args[0]) if is_float(step) else None


# Signs --------------------------------------------------------------------------------------------


def _itself(a: Algebra, step: Call) -> Result:
    """``+x``, and the like: the operand, where it has the result's type."""
    return None if step.kwargs or len(step.args) != 1 else fits(step, step.args[0])


def _twice_negative(a: Algebra, step: Call) -> Result:
    return None if step.kwargs else fits(step, a.operand_of(step.args[0], NEGATIVE))


def _add_negative(a: Algebra, step: Call) -> Result:
    """``x + -y`` and ``-x + y``, and the same with a product in which one factor is negative."""
    if step.kwargs or not is_float(step):
        return None
    x, y = step.args
    minus = twin(step, np.subtract, operator.sub)
    for value, other in ((x, y), (y, x)):
        positive = a.operand_of(other, NEGATIVE)
        if positive is None:
            positive = _without_sign(a, other)
        if positive is not None:
            return a.becomes(step, minus, value, positive)
    return None


def _subtract_negative(a: Algebra, step: Call) -> Result:
    if step.kwargs or not is_float(step):
        return None
    x, y = step.args
    positive = a.operand_of(y, NEGATIVE)
    if positive is None:
        positive = _without_sign(a, y)
    if positive is None:
        return None
    return a.becomes(step, twin(step, np.add, operator.add), x, positive)


def _without_sign(a: Algebra, value: Any) -> Var | None:
    """Return minus `value`, if that is a product which loses a sign and is used here alone."""
    made = a.made.get(value) if type(value) is Var else None
    if made is None or made.function not in PRODUCTS or made.kwargs or not a.once(value):
        return None
    if not is_float(made):
        return None
    for i, factor in enumerate(made.args):
        positive = a.operand_of(factor, NEGATIVE)
        if positive is not None and a.once(factor):
            args = (*made.args[:i], positive, *made.args[i + 1 :])
            product = Call(made.function, args, {}, value.like(), made.origin)
            return a.add(product)
    return None


# Shapes and types ---------------------------------------------------------------------------------


def _same_shape(a: Algebra, step: Call) -> Result:
    """A reshape, a broadcast or a cast to what the operand is already."""
    return fits(step, step.args[0]) if "copy" not in step.kwargs else None


def _empty_sum(a: Algebra, step: Call) -> Result:
    """A sum of one element each."""
    if set(step.kwargs) - {"axis", "keepdims"} or len(step.args) > 2:
        return None
    value = step.args[0]
    if type(value) is not Var or type(step.out) is not Var or value.dtype.kind not in "fc":
        return None
    return fits(step, value)


def _transposed_back(a: Algebra, step: Call) -> Result:
    """The transpose of a transpose."""
    first = a.made.get(step.args[0]) if step.args and type(step.args[0]) is Var else None
    if first is None or first.function is not step.function or not first.args:
        return None
    order, before = _axes(step), _axes(first)
    if order is None or before is None or len(order) != len(before):
        return None
    if [before[i] for i in order] != list(range(len(order))):
        return None
    return fits(step, first.args[0])


def _axes(step: Call) -> list[int] | None:
    """Return the order of axes of a transpose."""
    ndim = step.args[0].ndim
    if step.function is np.transpose:
        axes = step.kwargs.get("axes", step.args[1] if len(step.args) > 1 else None)
        axes = range(ndim)[::-1] if axes is None else axes
        plain = type(axes) in (tuple, list, range) and all(type(i) is int for i in axes)
        return [i % ndim for i in axes] if plain else None
    order = list(range(ndim))
    pair = (-1, -2) if len(step.args) == 1 else step.args[1:]
    if len(pair) != 2 or step.kwargs or not all(type(i) is int for i in pair):
        return None
    i, j = pair
    order[i], order[j] = order[j], order[i]
    return order


def _real(a: Algebra, step: Call) -> Result:
    """``np.real`` and ``np.conj`` of a real."""
    return _itself(a, step) if _is_real(step) else None


_TABLE: dict[Any, tuple[Rule, ...]] = {
    np.multiply: (_times_one, _times_minus_one, _times_negatives),
    operator.mul: (_times_one, _times_minus_one, _times_negatives),
    np.divide: (_by_one,),
    operator.truediv: (_by_one,),
    np.power: (_by_one,),
    operator.pow: (_by_one,),
    np.positive: (_itself,),
    operator.pos: (_itself,),
    np.negative: (_twice_negative,),
    operator.neg: (_twice_negative,),
    np.add: (_add_negative,),
    operator.add: (_add_negative,),
    np.subtract: (_subtract_negative,),
    operator.sub: (_subtract_negative,),
    np.reshape: (_same_shape,),
    np.ravel: (_same_shape,),
    np.squeeze: (_same_shape,),
    np.broadcast_to: (_same_shape,),
    np.ndarray.astype: (_same_shape,),
    np.sum: (_empty_sum,),
    np.transpose: (_transposed_back,),
    np.swapaxes: (_transposed_back,),
    np.matrix_transpose: (_transposed_back,),
    np.linalg.matrix_transpose: (_transposed_back,),
    np.real: (_real,),
    np.conjugate: (_real,),
    np.ndarray.conj: (_real,),
}
_RULES = {id(f): (*rules, *SCALING.get(f, ()), _on_numbers) for f, rules in _TABLE.items()}
