"""Broadcasts that an elementwise step does by itself.

The cotangent of a sum is ``np.broadcast_to(g, x.shape)``; times x it is ``g * x``.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from srcgrad import runtime
from srcgrad.trace import Call, Step, Trace, Var

from .rewrite import inner, is_elementwise, rebuilt, same_result

# Where a contiguous operand and a broadcast one give the same bits.
ARITHMETIC = (
    *(np.add, np.subtract, np.multiply, np.divide, np.negative, np.maximum, np.minimum),
    *(np.absolute, np.conjugate),
)


def broadcasts(trace: Trace) -> Trace:
    """Let elementwise steps read what was broadcast for them; move other broadcasts down."""
    made: dict[Var, Call] = {}
    steps: list[Step] = []
    for step in trace.steps:
        new = [inner(step, broadcasts)]
        if isinstance(step, Call) and type(step.out) is Var:
            new = _elementwise(step, made) if is_elementwise(step.function) else [step]
            made.update((s.out, s) for s in new if isinstance(s, Call))  # type: ignore[misc]
        steps += new
    return rebuilt(trace, steps, {})


def _elementwise(step: Call, made: dict[Var, Call]) -> list[Step]:
    """Return what an elementwise step becomes."""
    out = step.out
    assert type(out) is Var
    if step.kwargs or out.ndim == 0:
        return [step]
    args, function = step.args, cast(np.ufunc, step.function)
    for i in range(len(args)):
        source = _source(args[i], made, step.function)
        if source is not None:
            tried = (*args[:i], source, *args[i + 1 :])
            if same_result(function, tried, out):
                args = tried
    if args is not step.args:
        return [Call(step.function, args, {}, out, step.origin)]
    return _moved_down(step, made) or [step]


def _source(value: Any, made: dict[Var, Call], function: Any) -> Any:
    """Return what `value` was broadcast from, or None."""
    step = made.get(value) if type(value) is Var else None
    if step is None:
        return None
    if step.function is np.broadcast_to and len(step.args) == 2 and not step.kwargs:
        return _numpy_operand(step.args[0], value)
    filled = step.function in (np.full, runtime.full) and function in ARITHMETIC
    if filled and len(step.args) == 2 and set(step.kwargs) <= {"dtype"}:
        return _numpy_operand(step.args[1], value)
    return None


def _numpy_operand(source: Any, value: Var) -> Any:
    """Return a source that has the dtype of what was made of it; a Python float is float64."""
    kinds = ("array", "scalar", "float")
    if type(source) is Var and source.kind in kinds and source.dtype == value.dtype:
        return source
    return None


def _moved_down(step: Call, made: dict[Var, Call]) -> list[Step] | None:
    """Compute on what was broadcast, then broadcast the result."""
    out = step.out
    assert type(out) is Var
    if step.function not in ARITHMETIC:
        return None
    sources = [_source(a, made, step.function) for a in step.args]
    args = tuple(a if s is None else s for a, s in zip(step.args, sources, strict=True))
    shapes = [a.shape for a in args if type(a) is Var]
    if all(s is None for s in sources) or out.shape in shapes or not shapes:
        return None
    shape = np.broadcast_shapes(*shapes)
    inner_out = Var("array" if shape else "scalar", out.dtype, shape)
    if not same_result(step.function, args, inner_out):
        return None
    computed = Call(step.function, args, {}, inner_out, step.origin)
    return [computed, Call(np.broadcast_to, (inner_out, out.shape), {}, out, step.origin)]
