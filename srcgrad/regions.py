"""The reverse of a Branch is a Branch, the reverse of a Loop is a Loop.

An arm or body is differentiated as a trace of its own. Its pullback takes the inputs and the
cotangents of the outputs, computes again what it needs, and gives the cotangents of the inputs. A
loop remembers the carried values with which each pass began.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import runtime
from .capture.arrays import Traced
from .capture.recorder import Handle, Node
from .differentiate import Reverse, active_variables
from .trace import Branch, Call, Input, Loop, Step, Trace, Var


def walk_region(reverse: Reverse, step: Step) -> None:
    """Add the cotangents that a Branch or Loop (or a sum of stacks) gives its operands."""
    if type(step) is Call:
        g = reverse.cotangents[step.outs[0]]
        for stack in step.reads():
            contribute_stack(reverse, stack, g)
    elif type(step) is Branch:
        walk_branch(reverse, step)
    else:
        LoopReverse(reverse, step).walk()  # type: ignore[arg-type]


# Branch -------------------------------------------------------------------------------------------


def walk_branch(reverse: Reverse, step: Branch) -> None:
    places = [i for i, v in enumerate(step.outs) if v in reverse.cotangents]
    wanted = [i for i, v in enumerate(step.args) if v in reverse.active]
    operands = [reverse.handle(v) for v in step.args]
    seeds = [reverse.cotangents[step.outs[i]] for i in places]
    values = [h.value for h in operands]
    given = [g.value for g in seeds]
    then, orelse = (
        pullback(arm, values, places, given, wanted) for arm in (step.then, step.orelse)
    )
    args = tuple(variable(reverse, h) for h in (*operands, *seeds))
    condition = variable(reverse, reverse.handle(step.condition))
    outs = tuple(v.like() for v in then.outputs)
    gs = append(reverse, Branch(condition, then, orelse, args, outs, step.origin))
    for i, g in zip(wanted, gs, strict=True):
        reverse.contribute(step.args[i], g)


# Loop ---------------------------------------------------------------------------------------------


class LoopReverse:
    """One loop's reverse: which of its values are active, and what its passes remember."""

    def __init__(self, reverse: Reverse, step: Loop) -> None:
        self.reverse = reverse
        self.step = step
        self.inputs = [i.var for i in step.body.inputs]
        self.n = len(step.carried)
        self.m = self.n + len(step.stacks)
        active = self.active()
        places = [i for i, v in enumerate(self.inputs) if v in active]
        self.carried = [i for i in places if i < self.n]
        self.items = [i for i in places if self.n <= i < self.m]
        self.constants = [i for i in places if i >= self.m]
        self.stacked = [j for j, v in enumerate(step.stacked) if v in reverse.cotangents]

    def active(self) -> set[Var]:
        """Return the body's variables that depend on what is differentiated: a fixpoint over the
        carried values.
        """
        step, n = self.step, self.n
        outer = (*step.carried, *step.stacks, *step.constants)
        start = {i for i, o in zip(self.inputs, outer, strict=True) if o in self.reverse.active}
        while True:
            active = active_variables(step.body.steps, start)
            pairs = zip(self.inputs[:n], step.body.outputs[:n], strict=True)
            more = {i for i, o in pairs if o in active}
            if more <= start:
                return active
            start |= more

    def walk(self) -> None:
        memory = self.remember()
        if not memory_of_a_pass(memory, self.stacks()):
            self.pass_through()
            return
        body = self.body(memory)
        gs = append(self.reverse, self.backward(body, memory))
        self.spread(gs)

    def pass_through(self) -> None:
        """No pass was made: the carried values are those that came in."""
        for i in self.carried:
            g = self.reverse.cotangents.get(self.step.outs_carried[i])
            if g is not None:
                self.reverse.contribute(self.step.carried[i], g)

    def stacks(self) -> list[Traced]:
        return [self.reverse.handle(v) for v in self.step.stacks]

    def remember(self) -> list[Traced]:
        """Let the forward loop stack its carried values, and return those stacks."""
        step, reverse = self.step, self.reverse
        extra = tuple(self.inputs[: self.n])
        body = Trace(step.body.inputs, step.body.steps, step.body.outputs + extra)
        memory = tuple(stack_variable() for _ in extra)
        made = Loop(
            body, step.carried, step.stacks, step.constants, step.outs_carried,
            step.stacked + memory, step.count, step.condition, step.reverse, step.origin,
        )  # fmt: skip
        reverse.replaced[step] = made
        reverse.values.update(zip(made.outs, run_step(made, reverse.values), strict=True))
        return [reverse.handle(v) for v in memory]

    def seeds(self) -> list[Any]:
        """Return the cotangents of the active carried values after the last pass."""
        outs = [self.step.outs_carried[i] for i in self.carried]
        gs = [self.reverse.cotangents.get(v) for v in outs]
        return [zeros(v) if g is None else g for v, g in zip(outs, gs, strict=True)]

    def stacked_seeds(self) -> list[Any]:
        return [self.reverse.cotangents[self.step.stacked[j]] for j in self.stacked]

    def body(self, memory: list[Traced]) -> Trace:
        """Return the backward loop's body: the pullback of a pass, its inputs in a loop's order."""
        step = self.step
        passing = [m.value[0] for m in memory] + [s.value[0] for s in self.stacks()]
        values = passing + [self.reverse.handle(v).value for v in step.constants]
        seeds = [g.value for g in self.seeds()] + [g.value[0] for g in self.stacked_seeds()]
        places = self.carried + [self.n + j for j in self.stacked]
        wanted = self.carried + self.constants + self.items
        pull = pullback(step.body, values, places, seeds, wanted)
        inner, k = pull.inputs, len(self.inputs)
        g_carried = inner[k : k + len(self.carried)]
        g_stacked = inner[k + len(self.carried) :]
        sums = tuple(Input(self.inputs[i].like()) for i in self.constants)
        inputs = g_carried + sums + inner[: self.m] + g_stacked + inner[self.m : k]
        return add_up(Trace(inputs, pull.steps, pull.outputs), sums, len(self.carried))

    def backward(self, body: Trace, memory: list[Traced]) -> Loop:
        step, reverse = self.step, self.reverse
        carried = self.seeds() + [zeros(self.inputs[i]) for i in self.constants]
        stacks = memory + self.stacks() + self.stacked_seeds()
        constants = [reverse.handle(v) for v in step.constants]
        n = len(carried)
        groups = (carried, stacks, constants)
        read = [tuple(variable(reverse, h) for h in group) for group in groups]
        return Loop(
            body,
            carried=read[0],
            stacks=read[1],
            constants=read[2],
            outs_carried=tuple(v.like() for v in body.outputs[:n]),
            stacked=tuple(stack_variable() for _ in body.outputs[n:]),
            reverse=not step.reverse,
            origin=step.origin,
        )

    def spread(self, gs: list[Any]) -> None:
        """Give each active operand of the loop its cotangent."""
        step, reverse = self.step, self.reverse
        outer = (*step.carried, *step.stacks, *step.constants)
        ends = zip(self.carried + self.constants, gs, strict=False)
        for i, g in ends:
            operand = outer[i] if i < self.n else step.constants[i - self.m]
            if operand in reverse.active:
                reverse.contribute(operand, g)
        for i, g in zip(self.items, gs[len(self.carried) + len(self.constants) :], strict=True):
            contribute_stack(reverse, outer[i], g)


def memory_of_a_pass(memory: list[Traced], stacks: list[Traced]) -> bool:
    return all(len(s.value) > 0 for s in (*memory, *stacks))


def add_up(pull: Trace, sums: tuple[Input, ...], start: int) -> Trace:
    """Let the outputs after `start` be sums over the passes."""
    outputs, steps = list(pull.outputs), list(pull.steps)
    for k, total in enumerate(sums, start):
        out = total.var.like()
        steps.append(Call(np.add, (total.var, outputs[k]), {}, out))
        outputs[k] = out
    return Trace(pull.inputs, tuple(steps), tuple(outputs))


# Both ---------------------------------------------------------------------------------------------


def pullback(
    inner: Trace, values: list[Any], places: list[int], seeds: list[Any], wanted: list[int]
) -> Trace:
    """Return a trace from (inputs, cotangents of the outputs at `places`) to those of `wanted`."""
    env = inner.values(*values)
    targets = tuple(inner.outputs[p] for p in places)
    sources = tuple(inner.inputs[i].var for i in wanted)
    adjoint = Reverse(inner.steps, env).run(targets, sources, tuple(seeds))
    steps: list[Step] = [adjoint.replaced.get(s, s) for s in inner.steps]
    steps += adjoint.steps
    outputs = []
    for source, cotangent in zip(sources, adjoint.cotangents, strict=True):
        if cotangent is None:
            cotangent = source.like()
            steps.append(Call(np.zeros, (source.shape, source.dtype), {}, cotangent))
        outputs.append(cotangent)
    inputs = inner.inputs + tuple(Input(v, "seed") for v in adjoint.seeds)
    return Trace(inputs, tuple(steps), tuple(outputs))


def run_step(step: Step, values: dict[Var, Any]) -> tuple[Any, ...]:
    read = tuple(dict.fromkeys(step.reads()))
    return Trace(tuple(map(Input, read)), (step,), step.outs).run(*(values[v] for v in read))


def append(reverse: Reverse, step: Step) -> list[Any]:
    """Put a step behind the recorded ones, and return its results of now."""
    recorder = reverse.recorder
    values = {v: recorder.values[v].value for v in step.reads()}
    recorder.node = Node(recorder.node, step)
    handles = [Traced(v) for v in run_step(step, values)]
    for handle, var in zip(handles, step.outs, strict=True):
        recorder.know(handle, var)
    return handles


def variable(reverse: Reverse, handle: Handle) -> Var:
    return reverse.recorder.known[handle.id]


def stack_variable() -> Var:
    return Var("stack", np.dtype(object), ())


def zeros(var: Var) -> Any:
    return runtime.zeros(var.shape, var.dtype)


def contribute_stack(reverse: Reverse, stack: Var, g: Any) -> None:
    """Add the cotangent of a stack, item by item."""
    before = reverse.cotangents.get(stack)
    if before is not None:
        read = (variable(reverse, before), variable(reverse, g))
        (g,) = append(reverse, Call(add_stacks, read, {}, stack_variable()))
    reverse.put(stack, g)


def add_stacks(a: list[Any], b: list[Any]) -> list[Any]:
    """Add two stacks item by item."""
    return [x + y for x, y in zip(a, b, strict=True)]
