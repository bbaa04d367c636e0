"""What the passes share: substituting results, entering inner traces, types of results."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from srcgrad.trace import Branch, Call, Guard, Loop, Step, Trace, Var, substitute

Pass = Callable[[Trace], Trace]


def renamed(step: Step, new: Mapping[Var, Var]) -> Step:
    """Return the step with the variables that it reads replaced; the step itself if there is none.

    Parameters
    ----------
    step : Step
    new : mapping of Var to Var
    """
    if not new or not any(v in new for v in step.reads()):
        return step

    def of(var: Var) -> Var:
        return new.get(var, var)

    if isinstance(step, Call):
        kwargs = substitute(step.kwargs, of) if step.kwargs else step.kwargs
        return Call(step.function, substitute(step.args, of), kwargs, step.out, step.origin)
    if isinstance(step, Guard):
        return replace(step, var=of(step.var))
    if isinstance(step, Branch):
        return replace(step, condition=of(step.condition), args=tuple(map(of, step.args)))
    return replace(
        step,
        carried=tuple(map(of, step.carried)),
        stacks=tuple(map(of, step.stacks)),
        constants=tuple(map(of, step.constants)),
    )


def inner(step: Step, change: Pass) -> Step:
    """Return the step with `change` made in its inner traces; the step itself if none changes."""
    if type(step) is Call:
        return step
    if isinstance(step, Branch):
        then, orelse = change(step.then), change(step.orelse)
        same = then is step.then and orelse is step.orelse
        return step if same else replace(step, then=then, orelse=orelse)
    if isinstance(step, Loop):
        body = change(step.body)
        condition = None if step.condition is None else change(step.condition)
        same = body is step.body and condition is step.condition
        return step if same else replace(step, body=body, condition=condition)
    return step


def rebuilt(trace: Trace, steps: list[Step], new: Mapping[Var, Var]) -> Trace:
    """Return the trace with other steps; the trace itself if they are its own."""
    outputs = tuple(new.get(v, v) for v in trace.outputs)
    same = len(steps) == len(trace.steps) and all(a is b for a, b in zip(steps, trace.steps))
    if same and outputs == trace.outputs:
        return trace
    return Trace(trace.inputs, tuple(steps), outputs)


def alike(a: Var, b: Var) -> bool:
    """Tell whether two variables have one kind, dtype and shape: a scalar is no 0-d array."""
    return (a.kind, a.dtype, a.shape) == (b.kind, b.dtype, b.shape)


# Steps ------------------------------------------------------------------------------------------

SCALARS = (np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128)
MULTIPLY = (np.multiply, operator.mul)
DIVIDE = (np.divide, operator.truediv)
NEGATIVE = (np.negative, operator.neg)


def fits(step: Call, value: Any) -> Var | None:
    """Return `value` if it may stand for the result of `step`."""
    if type(value) is Var and type(step.out) is Var and alike(value, step.out):
        return value
    return None


def is_float(step: Call) -> bool:
    return type(step.out) is Var and step.out.dtype.kind == "f"


def twin(step: Call, ufunc: Any, python: Any) -> Any:
    """Return the ufunc where the step is one, else Python's operator."""
    return ufunc if isinstance(step.function, np.ufunc) else python


# Elementwise steps --------------------------------------------------------------------------------

PYTHON = {"float": float, "int": int, "complex": complex, "bool": bool}


def is_elementwise(function: Any) -> bool:
    """Tell whether a function is a ufunc with one result that works element by element."""
    return isinstance(function, np.ufunc) and function.signature is None and function.nout == 1


def same_result(function: np.ufunc, args: tuple[Any, ...], out: Var) -> bool:
    """Tell whether ``function(*args)`` gives a value of the type of `out`."""
    shapes = [a.shape if type(a) is Var else () for a in args]
    return (
        broadcast_shape(*shapes) == out.shape
        and result_dtype(function, *map(_operand_type, args)) == out.dtype
        and (out.kind == "array") == (out.ndim > 0)
    )


def _operand_type(value: Any) -> Any:
    """Return the dtype of an operand, or Python's type: those do not promote."""
    if type(value) is not Var:
        return type(value) if type(value) in (int, float, complex) else np.dtype(type(value))
    python = PYTHON.get(value.kind)
    return python if python in (int, float, complex) else value.dtype


@lru_cache(maxsize=4096)
def result_dtype(function: np.ufunc, *types: Any) -> np.dtype[Any] | None:
    """Return the dtype of a ufunc's result; Python's int, float and complex are weak."""
    try:
        return function.resolve_dtypes((*types, None))[-1]  # type: ignore[no-any-return]
    except (TypeError, ValueError):
        return None


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the shape that `shapes` broadcast to, or None."""
    first = shapes[0]
    if all(s == first or s == () for s in shapes[1:]):
        return first
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None
