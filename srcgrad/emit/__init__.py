"""From a program to the text of a function that a person might have written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcgrad.naming import Names
from srcgrad.trace import Call, Origin, Step, Trace, Var, variables

from .body import Body
from .expressions import attribute
from .functions import container
from .page import Page, wrap
from .plan import Plan

__all__ = ["Program", "Text", "emit"]


@dataclass(frozen=True)
class Program:
    """What becomes a function.

    Attributes
    ----------
    name : str
        The name of the function.
    trace : Trace
        Its steps; the inputs are the parameters.
    returns : nested tuple, list or dict
        What it returns: variables among `trace.outputs`, None, numbers.
    forward : frozenset of Var
        The results of the forward steps; all other steps are the backward half.
    bars, dots : dict
        For each cotangent (tangent) the variable that it belongs to.
    header : list of str
        Comment lines above the imports, without the ``#``.
    context : Trace, optional
        The forward half, where it is not part of the trace: cotangents are named after it.
    output : Var, optional
        What is differentiated; by default what is returned first, if that is a forward value.
    """

    name: str
    trace: Trace
    returns: Any
    forward: frozenset[Var] = frozenset()
    bars: Mapping[Var, Var] = field(default_factory=dict)
    dots: Mapping[Var, Var] = field(default_factory=dict)
    header: tuple[str, ...] | list[str] = ()
    context: Trace | None = None
    output: Var | None = None


@dataclass(frozen=True)
class Text:
    """The text of a function.

    Attributes
    ----------
    source : str
    lines : dict
        For each number of an emitted line the user's operation it comes from.
    namespace : dict
        The private globals that the text needs beyond its imports.
    """

    source: str
    lines: dict[int, Origin]
    namespace: dict[str, Any]


def emit(program: Program) -> Text:
    """Return the text of `program`.

    Examples
    --------
    >>> import numpy as np
    >>> from srcgrad.trace import Call, Input
    >>> x, y = (Var("array", np.dtype(float), (3,)) for _ in range(2))
    >>> trace = Trace((Input(x, name="x"),), (Call(np.multiply, (x, x), {}, y),), (y,))
    >>> print(emit(Program("square", trace, y)).source)
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def square(x):
        return x * x
    <BLANKLINE>
    """
    page = Page()
    page.indent = 1
    body = Body(page, Names([program.name]), program.forward, program.bars, program.dots)
    if program.context is not None:
        body.labels.learn(program.context, forward=True)
        body.labels.titles.update((i.var, i.name) for i in program.context.inputs if i.name)
    parameters = _parameters(body, program.trace)
    body.has_halves = bool(program.forward) and bool(program.bars)
    body.output = program.output or _output(program)
    trace = _for_text(program)
    plan = body.trace(trace)
    _return(body, program.returns, trace, plan)
    head = _head(program, parameters, body.functions.imports)
    lines = {number + len(head): origin for number, origin in page.origins.items()}
    return Text("\n".join(head) + "\n" + page.text(), lines, body.functions.namespace)


def _parameters(body: Body, trace: Trace) -> list[str]:
    """Name the inputs: arguments keep their names, whatever else is called so."""
    for given in trace.inputs:
        if given.kind == "argument" and given.name not in (None, "np", "math"):
            assert given.name is not None
            body.names.take(given.name)
            body.call(given.var, given.name)
    for given in trace.inputs:
        if given.var not in body.named:
            body.name(given.var, base=given.name or given.kind)
    return [body.named[given.var] for given in trace.inputs]


def _output(program: Program) -> Var | None:
    """Return what is differentiated, if it is returned, first of all."""
    first = next(variables(program.returns), None)
    return first if first in program.forward else None


def _for_text(program: Program) -> Trace:
    """Return the trace whose outputs are what the function returns, in order.

    A scalar that is broadcast and then returned is an array full of it.
    """
    outputs = tuple(variables(program.returns))
    if not set(outputs) <= set(program.trace.outputs):
        raise ValueError("a returned variable is no output; passes keep the outputs' places only")
    uses = Counter(outputs)
    for step in program.trace.steps:
        uses.update(step.reads())
    returned = {v for v in outputs if uses[v] == 1}
    steps = tuple(_filled(step, returned) for step in program.trace.steps)
    return Trace(program.trace.inputs, steps, outputs)


def _filled(step: Step, returned: set[Var]) -> Step:
    if type(step) is not Call or step.function is not np.broadcast_to or step.out not in returned:
        return step
    value, *shape = step.args
    if type(value) is not Var or value.kind != "scalar" or len(shape) != 1 or step.kwargs:
        return step
    return Call(np.full, (shape[0], value), {}, step.out, step.origin)


def _return(body: Body, returns: Any, trace: Trace, plan: Plan) -> None:
    copies = plan.copies()

    def text() -> str:
        left = iter(copies)
        return f"return {_structure(body, returns, left, top=True)}"

    body.page.put(body.fit(trace.outputs, text))


def _structure(body: Body, tree: Any, copies: Iterator[bool], top: bool = False) -> str:
    """Return the text of what is returned; a tuple at the top needs no brackets."""
    if type(tree) is Var:
        expr = body.expr_of(tree)
        return attribute(expr, "copy").text + "()" if next(copies) else expr.text
    if type(tree) in (tuple, list, dict):
        text = container(tree, lambda item: _structure(body, item, copies))
        return text[1:-1] if top and type(tree) is tuple and len(tree) > 1 else text
    return body.functions.static(tree)


def _head(program: Program, parameters: list[str], imports: list[str]) -> list[str]:
    """Return the lines above the body."""
    comments = [f"# {line}".rstrip() for line in program.header]
    plain = sorted({"import numpy as np", *(i for i in imports if i.startswith("import"))})
    others = sorted(i for i in imports if i.startswith("from"))
    signature = wrap(f"def {program.name}({', '.join(parameters)}):")
    return [*comments, *plain, *others, "", "", *signature]
