"""Why a gradient is None: what the record says of a target and a source."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .capture.recorder import Handle
from .differentiate import at, rule_kind
from .trace import Call, Guard, Step, Var


def reason(tape: Any, targets: list[Handle], source: Handle) -> str:
    """Say why no target depends on `source`, and what to do."""
    recorder = tape.recorder
    known = recorder.known
    handles = tape.versions(recorder, source)
    if not handles:
        return unknown_source(tape, source)
    steps = [n.step for n in recorder.node.path() if n.step is not None]
    made_by = {v: s for s in steps for v in s.outs}
    var = known[handles[0].id]
    reached = reached_from(steps, var)
    between = reached & needed_by(steps, [known[t.id] for t in targets if t.id in known])
    cuts = [at(s) for s in steps if rule_kind(s) == "cut" and any(v in between for v in s.outs)]
    if cuts:
        return f"stop_gradient lies between source and target{cuts[0]}"
    if any(np.result_type(t.value).kind in "biu" for t in targets):
        return "the target is an int or a bool, which has no derivative: compute with floats"
    if any(v.dtype.kind in "biu" for v in between):
        return "integers or comparisons lie between source and target: compute with floats"
    left = places_left(steps, reached)
    if left:
        return (
            f"a value that depends on the source left the record as a plain number: {left}. "
            "Use np.* on it"
        )
    if all(t.id not in known for t in targets):
        return unknown_target(tape, targets, source)
    if is_slice(made_by.get(var)):
        return (
            "the source is a fresh slice, which the target was not computed from: "
            "take the slice first and use it, or differentiate by the whole array"
        )
    if source.id in recorder.seen:
        return "the source was used before it was watched: call t.watch(source) first"
    return "the target was not computed from the source"


def unknown_source(tape: Any, source: Handle) -> str:
    if tape.stopped_at is not None and source.id > tape.stopped_at:
        if source.base is not None:
            return (
                "the source is a fresh slice, made after the tape stopped: "
                "differentiate by the whole array, or take the slice in the block"
            )
        return "the source was made after the tape stopped recording"
    return "the source was not watched: call t.watch(source) in the block, before it is used"


def unknown_target(tape: Any, targets: list[Handle], source: Handle) -> str:
    if tape.stopped_at is not None and all(t.id > tape.stopped_at for t in targets):
        return "the target was recorded after the tape stopped: compute it inside the block"
    if source.id in tape.recorder.seen:
        return "the source was used before it was watched: call t.watch(source) first"
    return "the target does not depend on anything that was watched"


def reached_from(steps: list[Step], source: Var) -> set[Var]:
    """Return the variables that depend on `source`."""
    reached = {source}
    for step in steps:
        if any(v in reached for v in step.reads()):
            reached.update(step.outs)
    return reached


def needed_by(steps: list[Step], targets: list[Var]) -> set[Var]:
    """Return the variables that `targets` depend on."""
    needed = set(targets)
    for step in reversed(steps):
        if any(v in needed for v in step.outs):
            needed.update(step.reads())
    return needed


def places_left(steps: list[Step], reached: set[Var]) -> str:
    """Say where a value that depends on the source became a plain number."""
    return "; ".join(
        f"{step.observe.__name__}(){at(step)}"
        for step in steps
        if type(step) is Guard and step.value is None and step.var in reached
    )


def is_slice(step: Step | None) -> bool:
    return type(step) is Call and step.function is operator.getitem
