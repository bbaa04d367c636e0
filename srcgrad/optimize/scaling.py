"""Factors of derivatives: what a person would have drawn together on paper.

These rules may round otherwise than the steps they replace (once instead of twice, for most), so
they see only what depends on a seed: the user's own values keep every bit.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.trace import Call, Var

from .rewrite import DIVIDE, MULTIPLY, NEGATIVE, SCALARS, is_float, twin

if TYPE_CHECKING:
    from .algebra import Algebra

Rule = Callable[["Algebra", Call], "Call | None"]
NUMBERS = (int, float)
LITERAL = 8  # a folded constant has at most so many characters


def _derivative(rule: Rule) -> Rule:
    """Let a rule see steps without keywords whose result is a real derivative."""

    def only(a: Algebra, step: Call) -> Call | None:
        fitting = step.out in a.derivatives and is_float(step) and not step.kwargs
        fitting = fitting and step.outs[0].dtype.itemsize <= 8  # a folded number is a double
        return rule(a, step) if fitting else None

    return only


def _literal(a: Algebra, value: Any) -> Any:
    """Return the NumPy scalar that `value` is written as, a Python number as itself, or None."""
    if type(value) in NUMBERS:
        return value
    made = a.made.get(value) if type(value) is Var else None
    if made is None or made.function not in SCALARS or type(made.args[0]) not in NUMBERS:
        return None
    return made.function(made.args[0])


@_derivative
def _folded(a: Algebra, step: Call) -> Call | None:
    """A seed times a number; not 1 / n, which belongs to what is divided."""
    values = [_literal(a, v) for v in step.args]
    if any(v is None for v in values) or all(type(v) in NUMBERS for v in values):
        return None
    if step.function in DIVIDE and a.is_one(step.args[0]):
        return None
    with np.errstate(all="ignore"):
        result = step.function(*values)
    number = _number_of(result, values)
    if type(result) not in SCALARS or number is None:
        return None
    return Call(type(result), (number,), {}, step.out, step.origin)


def _number_of(result: Any, values: list[Any]) -> float | None:
    """Return the short number that `result` is made from, or None."""
    for number in (float(result), *(float(v) for v in values if type(v) in NUMBERS)):
        short = len(repr(number)) <= LITERAL and math.isfinite(number)
        if short and type(result)(number) == result:
            return number
    return None


@_derivative
def _times_reciprocal(a: Algebra, step: Call) -> Call | None:
    """``y * (1 / n)``."""
    x, y = step.args
    for value, other in ((x, y), (y, x)):
        made = _made(a, other, DIVIDE)
        if made is not None and a.is_one(made.args[0]):
            return a.becomes(step, twin(step, np.divide, operator.truediv), value, made.args[1])
    return None


@_derivative
def _two_factors(a: Algebra, step: Call) -> Call | None:
    """``100.0 * (2 * x)``."""
    factor, value = _split(a, step)
    made = _made(a, value, MULTIPLY)
    if factor is None or made is None or not a.once(value):
        return None
    second, inner = _split(a, made)
    if second is None or len(repr(factor * second)) > LITERAL:
        return None
    return a.becomes(step, step.function, factor * second, inner)


@_derivative
def _negative_factor(a: Algebra, step: Call) -> Call | None:
    """``-(2 * x)``."""
    value = step.args[0]
    made = _made(a, value, MULTIPLY)
    if made is None or not a.once(value):
        return None
    factor, inner = _split(a, made)
    if factor is None:
        return None
    return a.becomes(step, twin(step, np.multiply, operator.mul), -factor, inner)


@_derivative
def _doubled(a: Algebra, step: Call) -> Call | None:
    """``x + x``."""
    x, y = step.args
    if x is not y:
        return None
    return a.becomes(step, twin(step, np.multiply, operator.mul), 2.0, x)


@_derivative
def _common_divisor(a: Algebra, step: Call) -> Call | None:
    """``x / n - y / n``, for a number n."""
    x, y = (_made(a, v, DIVIDE) for v in step.args)
    if x is None or y is None or not (a.once(step.args[0]) and a.once(step.args[1])):
        return None
    n, other = x.args[1], y.args[1]
    same = n is other if type(n) is Var else repr(n) == repr(other)
    if not same or (type(n) is Var and n.ndim) or not isinstance(x.args[0], Var):
        return None
    assert type(step.out) is Var
    above = step.out.like()
    total = a.becomes(Call(step.function, (), {}, above), step.function, x.args[0], y.args[0])
    divided = a.becomes(step, x.function, above, n)
    if total is None or divided is None or type(x.args[0]) is not type(y.args[0]):
        return None
    a.add(total)
    return divided


def _made(a: Algebra, value: Any, functions: tuple[Any, ...]) -> Call | None:
    """Return the step that made `value`, if its function is one of `functions`."""
    made = a.made.get(value) if type(value) is Var else None
    return made if made is not None and made.function in functions and not made.kwargs else None


def _split(a: Algebra, step: Call) -> tuple[Any, Any]:
    """Return the number and the other factor of a product; None where there is no number."""
    for value, other in (step.args, step.args[::-1]):
        number = _literal(a, value)
        if type(number) in NUMBERS:
            return number, other
        if number is not None and type(step.out) is Var and number.dtype == step.out.dtype:
            return float(number), other
    return None, None


_PRODUCT = (_folded, _times_reciprocal, _two_factors)
SCALING: dict[Any, tuple[Rule, ...]] = {
    **dict.fromkeys(MULTIPLY, _PRODUCT),
    **dict.fromkeys(DIVIDE, (_folded,)),
    **dict.fromkeys(NEGATIVE, (_folded, _negative_factor)),
    **dict.fromkeys((np.add, operator.add), (_folded, _doubled, _common_divisor)),
    **dict.fromkeys((np.subtract, operator.sub), (_folded, _common_divisor)),
}
