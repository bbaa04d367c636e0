"""The text of a program: its header, its functions loaded, its page in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .emit import Program as Emitted
from .emit import emit
from .load import load
from .naming import operation, place
from .optimize import dead
from .trace import Call, Input, Trace, Var


def joint_text(
    program: Any, name: str, title: str, with_value: bool
) -> tuple[str, Callable[..., Any]]:
    """Return the text of forward and backward in one function, and that function.

    Its parameters are the inputs in order; it gives the gradient (a tuple for several sources), or
    the value and the gradient.
    """
    places, conjugates = conjugated(program)
    gradient: Any = places[0] if len(places) == 1 else places
    targets = program.joint.outputs[: len(program.forward.outputs)]
    returns = (targets[0], gradient) if with_value else gradient
    wanted = [*(targets if with_value else ()), *(v for v in places if v is not None)]
    steps = program.joint.steps + conjugates
    trace = Trace(program.joint.inputs, steps, tuple(dict.fromkeys(wanted)))
    trace = trace if with_value else dead(trace)
    known = {v for s in program.forward.steps for v in s.outs}
    header = [f"srcgrad: {title}", *table(program.joint.inputs, program.sources)]
    text = emit(Emitted(name, trace, returns, frozenset(known), program.bars, header=header))
    return text.source, load(text, name)


def conjugated(program: Any) -> tuple[tuple[Var | None, ...], tuple[Call, ...]]:
    """Return the gradients as the public calls give them, and the steps that conjugate them."""
    new: dict[Var, Call] = {}
    for v in program.places:
        if v is not None and v.dtype.kind == "c":
            new[v] = Call(np.conj, (v,), {}, v.like())
    places = tuple(new[v].outs[0] if v in new else v for v in program.places)
    return places, tuple(new.values())


def load_adjoint(program: Any) -> tuple[str, Callable[..., Any]]:
    """Return the text of the backward half, and the function."""
    places = program.places
    returns = places[0] if len(places) == 1 else places
    header = ["srcgrad: the backward half, of the values that the forward run kept"]
    outputs = tuple(dict.fromkeys(program.outputs))
    trace = Trace(named(program), program.trace.steps, outputs)
    bars, context = program.bars, program.forward
    text = emit(Emitted("adjoint", trace, returns, bars=bars, header=header, context=context))
    return text.source, load(text, "adjoint")


def named(program: Any) -> tuple[Input, ...]:
    """Return the inputs of the backward half, called as in the forward half."""
    made_by = {v: s for s in program.forward.steps for v in s.outs}
    names = {i.var: i.name for i in program.forward.inputs}
    return tuple(
        Input(i.var, i.kind, names.get(i.var) or i.name or name_of_result(made_by.get(i.var)))
        for i in program.trace.inputs
    )


def name_of_result(step: Any) -> str | None:
    """Return the user's name of what a step gives, else that of the operation."""
    if type(step) is not Call:
        return None
    found = place(step.origin)
    return (found.target if found else None) or operation(step.function)


def table(inputs: tuple[Input, ...], sources: tuple[Var, ...]) -> list[str]:
    """Return a line for each input: its name, its type, and whether it is differentiated."""
    rows = [
        (i.name or "", repr(i.var), "differentiated" if i.var in sources else i.kind)
        for i in inputs
    ]
    width = [max((len(row[k]) for row in rows), default=0) for k in range(2)]
    return [f"  {a:<{width[0]}}   {b:<{width[1]}}   {c}".rstrip() for a, b, c in rows]


def highlighted(source: str) -> str:
    """Return a page part that shows Python text in colour."""
    from .highlight import page

    return page(source)
