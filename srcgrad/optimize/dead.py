"""Dead code: what nobody reads is not computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from srcgrad.trace import Branch, Guard, Loop, Step, Trace, Var

T = TypeVar("T")


def dead(trace: Trace, keep: Iterable[Var] = (), guards: bool = False) -> Trace:
    """Remove the steps whose results are not among, or below, the outputs and `keep`.

    Guards stay only if `guards`.
    """
    needed = {*trace.outputs, *keep}
    steps: list[Step] = []
    for step in reversed(trace.steps):
        left = _left(step, needed, guards)
        if left is not None:
            steps.append(left)
            needed.update(left.reads())
    steps.reverse()
    same = len(steps) == len(trace.steps) and all(a is b for a, b in zip(steps, trace.steps))
    return trace if same else Trace(trace.inputs, tuple(steps), trace.outputs)


def _left(step: Step, needed: set[Var], guards: bool) -> Step | None:
    """Return what is left of a step, or None."""
    if isinstance(step, Guard):
        return step if guards else None
    if needed.isdisjoint(step.outs) and not (guards and _has_guards(step)):
        return None
    if isinstance(step, Branch):
        return _branch(step, needed, guards)
    if isinstance(step, Loop):
        return _loop(step, needed, guards)
    return step


def _has_guards(step: Step) -> bool:
    if isinstance(step, Guard):
        return True
    inner = [step.then, step.orelse] if isinstance(step, Branch) else []
    inner += [step.body] if isinstance(step, Loop) else []
    return any(_has_guards(s) for trace in inner for s in trace.steps)


def _branch(step: Branch, needed: set[Var], guards: bool) -> Branch:
    """Remove the results that nobody reads, then the arguments that no arm reads."""
    wanted = [v in needed for v in step.outs]
    arms = [
        dead(_with_outputs(arm, _pick(arm.outputs, wanted)), guards=guards)
        for arm in (step.then, step.orelse)
    ]
    read = [_reads(arm) for arm in arms]
    used = [
        any(arm.inputs[i].var in r for arm, r in zip(arms, read, strict=True))
        for i in range(len(step.args))
    ]
    if all(wanted) and all(used) and arms[0] is step.then and arms[1] is step.orelse:
        return step
    then, orelse = (Trace(_pick(a.inputs, used), a.steps, a.outputs) for a in arms)
    return replace(
        step, then=then, orelse=orelse, args=_pick(step.args, used), outs=_pick(step.outs, wanted)
    )


def _loop(step: Loop, needed: set[Var], guards: bool) -> Loop:
    """Remove what the passes remember or carry for nobody, and what they do not read."""
    n = len(step.carried)
    carried = _wanted_carried(step, needed)
    stacked = [v in needed for v in step.stacked]
    outputs = _pick(step.body.outputs, carried + stacked)
    body = dead(_with_outputs(step.body, outputs), guards=guards)
    condition = step.condition and dead(step.condition, guards=guards)
    read = _reads(body)
    inner = [i.var for i in body.inputs]
    stacks = [v in read for v in inner[n : n + len(step.stacks)]]
    if condition is None and step.count is None and not any(stacks):
        stacks[0] = True  # it says how many passes there are
    if condition is not None:  # its inputs are the carried values and the constants
        asked = _reads(condition)
        also = [i.var in asked for i in condition.inputs[n:]]
    else:
        also = [False] * len(step.constants)
    own = [v in read for v in inner[n + len(step.stacks) :]]
    constants = [a or b for a, b in zip(own, also, strict=True)]
    if all(carried + stacked + stacks + constants) and body is step.body:
        return step if condition is step.condition else replace(step, condition=condition)
    return replace(
        step,
        body=Trace(_pick(body.inputs, carried + stacks + constants), body.steps, body.outputs),
        carried=_pick(step.carried, carried),
        stacks=_pick(step.stacks, stacks),
        constants=_pick(step.constants, constants),
        outs_carried=_pick(step.outs_carried, carried),
        stacked=_pick(step.stacked, stacked),
        condition=condition and _with_inputs(condition, carried + constants),
        count=step.count,
    )


def _wanted_carried(step: Loop, needed: set[Var]) -> list[bool]:
    """Tell which carried values are read, after the loop or by a pass for what is."""
    n = len(step.carried)
    wanted = [v in needed for v in step.outs_carried]
    stacked = [v in needed for v in step.stacked]
    asked = _reads(step.condition) if step.condition is not None else set()
    if step.condition is not None:
        pairs = zip(wanted, step.condition.inputs, strict=False)
        wanted = [w or i.var in asked for w, i in pairs]
    while True:
        outputs = _pick(step.body.outputs, wanted + stacked)
        read = _reads(dead(_with_outputs(step.body, outputs)))
        more = [w or i.var in read for w, i in zip(wanted, step.body.inputs[:n], strict=True)]
        if more == wanted:
            return wanted
        wanted = more


def _reads(trace: Trace) -> set[Var]:
    """Return the variables that a trace reads, its outputs included."""
    return {*trace.outputs, *(v for step in trace.steps for v in step.reads())}


def _pick(items: Sequence[T], wanted: Sequence[bool]) -> tuple[T, ...]:
    return tuple(item for item, w in zip(items, wanted, strict=True) if w)


def _with_outputs(trace: Trace, outputs: tuple[Var, ...]) -> Trace:
    return trace if outputs == trace.outputs else Trace(trace.inputs, trace.steps, outputs)


def _with_inputs(trace: Trace, wanted: Sequence[bool]) -> Trace:
    return Trace(_pick(trace.inputs, wanted), trace.steps, trace.outputs)
