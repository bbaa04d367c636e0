"""The reverse of a Branch is a Branch, the reverse of a Loop is a Loop.

Each arm or body is differentiated as a trace of its own: its pullback takes the inputs and the
cotangents of the outputs, and gives the cotangents of the inputs. It computes again what it needs
of the arm or pass; a loop remembers the carried values with which each pass began.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import runtime
from .capture.arrays import Traced, do
from .capture.recorder import Handle, Node, recording
from .differentiate import Reverse, active_variables
from .trace import Branch, Input, Loop, Trace, Var, var_of


def walk_region(reverse: Reverse, step: Branch | Loop) -> None:
    """Add the cotangents that a Branch or Loop gives its operands."""
    if type(step) is Branch:
        walk_branch(reverse, step)
    else:
        walk_loop(reverse, step)  # type: ignore[arg-type]


def walk_branch(reverse: Reverse, step: Branch) -> None:
    outs = [v for v in step.outs if v in reverse.cotangents]
    wanted = [i for i, v in enumerate(step.args) if v in reverse.active]
    places = [step.outs.index(v) for v in outs]
    values = [reverse.handle(v).value for v in step.args]
    seeds = [reverse.cotangents[v] for v in outs]
    arms = [
        pullback(arm, values, places, [s.value for s in seeds], wanted)
        for arm in (step.then, step.orelse)
    ]
    args = step.args + tuple(var_in(reverse, s) for s in seeds)
    results = arms[0].outputs
    handles = [reverse.handle(v) for v in step.args] + seeds
    taken = arms[0] if reverse.values[step.condition] else arms[1]
    reverse.handle(step.condition)
    out_vars = tuple(v.like() for v in results)
    made = Branch(step.condition, arms[0], arms[1], args, out_vars, step.origin)
    gs = append(reverse, made, taken.run(*(h.value for h in handles)))
    for i, g in zip(wanted, gs, strict=True):
        reverse.contribute(step.args[i], g)


def walk_loop(reverse: Reverse, step: Loop) -> None:
    n = len(step.carried)
    inputs = [i.var for i in step.body.inputs]
    remembering, memory = remembered(reverse, step)
    active = [i for i, v in enumerate(inputs) if v in body_active(reverse, step)]
    carried = [i for i in active if i < n]
    items = [i for i in active if n <= i < n + len(step.stacks)]
    constants = [i for i in active if i >= n + len(step.stacks)]
    first = pass_values(reverse, step, memory)
    if first is None:  # no pass was made: the carried values are the initial ones
        for i in carried:
            if step.outs_carried[i] in reverse.cotangents:
                reverse.contribute(step.carried[i], reverse.cotangents[step.outs_carried[i]])
        return
    given = carried_seeds(reverse, step, carried)
    stacked = [j for j, v in enumerate(step.stacked) if v in reverse.cotangents]
    places = carried + [n + j for j in stacked]
    item_seeds = [reverse.values_of_stack(step.stacked[j]) for j in stacked]
    seeds = [g.value for g in given] + [s.value[0] for s in item_seeds]
    body = pullback(step.body, first, places, seeds, active, len(constants))
    sums = [zeros_like(Var("array", inputs[i].dtype, inputs[i].shape)) for i in constants]
    loop = backward_loop(reverse, step, body, (memory, item_seeds, given, sums))
    gs = append(reverse, *loop)
    reverse.replaced[step] = remembering
    spread(reverse, step, gs, (carried, constants, items))


def spread(reverse: Reverse, step: Loop, gs: list[Any], places: Any) -> None:
    """Give each operand of a loop its cotangent."""
    carried, constants, items = places
    n = len(step.carried)
    operands = (
        [step.carried[i] for i in carried]
        + [step.constants[i - n - len(step.stacks)] for i in constants]
        + [step.stacks[i - n] for i in items]
    )
    for operand, g in zip(operands, gs, strict=True):
        if operand.kind == "stack":
            reverse.contribute_stack(operand, g)
        elif operand in reverse.active:
            reverse.contribute(operand, g)


def remembered(reverse: Reverse, step: Loop) -> tuple[Loop, list[Traced]]:
    """Return the loop that also stacks the carried values of each pass, and those stacks."""
    n = len(step.carried)
    extra = [i.var for i in step.body.inputs[:n]]
    body = Trace(step.body.inputs, step.body.steps, step.body.outputs + tuple(extra))
    values = [reverse.values[v] for v in (*step.carried, *step.stacks, *step.constants)]
    probe = Loop(
        body, step.carried, step.stacks, step.constants, step.outs_carried,
        step.stacked + tuple(Var("stack", np.dtype(object), ()) for _ in extra),
        step.count, step.condition, step.reverse, step.origin,
    )  # fmt: skip
    inputs = tuple(Input(v) for v in dict.fromkeys(probe.reads()))
    by_var = dict(zip(probe.reads(), values, strict=True))
    memory_vars = probe.stacked[len(step.stacked) :]
    stacks = Trace(inputs, (probe,), memory_vars).run(*(by_var[i.var] for i in inputs))
    handles = []
    for var, stack in zip(memory_vars, stacks, strict=True):
        reverse.values[var] = stack
        handles.append(reverse.handle(var))
    return probe, handles


def body_active(reverse: Reverse, step: Loop) -> set[Var]:
    """Return the body's inputs and values that depend on what is differentiated: a fixpoint over
    the carried values."""
    inputs = [i.var for i in step.body.inputs]
    outer = (*step.carried, *step.stacks, *step.constants)
    start = {i for i, o in zip(inputs, outer, strict=True) if o in reverse.active}
    while True:
        active = active_variables(step.body.steps, start)
        n = len(step.carried)
        more = {i for i, o in zip(inputs[:n], step.body.outputs[:n], strict=True) if o in active}
        if more <= start:
            return active
        start |= more


def pass_values(reverse: Reverse, step: Loop, memory: list[Traced]) -> list[Any] | None:
    """Return the values of the body's inputs in the last pass, None if there was none."""
    stacks = [reverse.values[v] for v in step.stacks]
    if any(len(m.value) == 0 for m in memory) or any(len(s) == 0 for s in stacks):
        return None
    end = 0 if step.reverse else -1
    constants = [reverse.values[v] for v in step.constants]
    return [m.value[-1] for m in memory] + [s[end] for s in stacks] + constants


def carried_seeds(reverse: Reverse, step: Loop, carried: list[int]) -> list[Any]:
    seeds = []
    for i in carried:
        out = step.outs_carried[i]
        g = reverse.cotangents.get(out)
        seeds.append(zeros_like(as_array(out)) if g is None else as_array_handle(g))
    return seeds


def backward_loop(reverse: Reverse, step: Loop, body: Trace, parts: Any) -> tuple[Loop, list[Any]]:
    """Return the Loop over the passes in reverse order, and the values it gives now."""
    memory, item_seeds, given, sums = parts
    carried = given + sums
    stacks = memory + [reverse.handle(v) for v in step.stacks] + item_seeds
    constants = [reverse.handle(v) for v in step.constants]
    read = [[var_in(reverse, h) for h in group] for group in (carried, stacks, constants)]
    n_carried = len(carried)
    outs = [v.like() for v in body.outputs[:n_carried]]
    stacked = [Var("stack", np.dtype(object), ()) for _ in body.outputs[n_carried:]]
    made = Loop(
        body, tuple(read[0]), tuple(read[1]), tuple(read[2]), tuple(outs), tuple(stacked),
        reverse=not step.reverse, origin=step.origin,
    )  # fmt: skip
    inputs = tuple(Input(v) for v in dict.fromkeys(made.reads()))
    value = {
        v: h.value
        for group, vs in zip((carried, stacks, constants), read, strict=True)
        for h, v in zip(group, vs, strict=True)
    }
    return made, list(Trace(inputs, (made,), made.outs).run(*(value[i.var] for i in inputs)))


def pullback(
    inner: Trace,
    values: list[Any],
    places: list[int],
    seeds: list[Any],
    wanted: list[int],
    constants: int = 0,
) -> Trace:
    """Return a trace from (inputs, seeds) to the cotangents of the `wanted` inputs.

    The last `constants` of them are sums over passes: their inputs so far stand after the seeds.
    """
    raise NotImplementedError


def as_array(var: Var) -> Var:
    return Var("array", var.dtype, var.shape)


def as_array_handle(g: Any) -> Any:
    return g if type(g.value) is np.ndarray else do(np.asarray, (g,))


def zeros_like(var: Var) -> Any:
    return runtime.zeros(var.shape, var.dtype)


def var_in(reverse: Reverse, handle: Handle) -> Var:
    return reverse.recorder.known[handle.id]


def append(reverse: Reverse, step: Branch | Loop, values: Any) -> list[Any]:
    """Put a step with inner traces behind the recorded ones, with its values of now."""
    recorder = reverse.recorder
    recorder.node = Node(recorder.node, step)
    handles = [Traced(v) for v in values]
    for handle, var in zip(handles, step.outs, strict=True):
        recorder.know(handle, var)
    return handles


__all__ = ["recording", "var_of", "walk_region"]
