"""Loops and branches as statements: their inner traces stand where they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from srcgrad.trace import Branch, Call, Loop, Trace, Var

from .aliases import Aliases
from .expressions import unary

if TYPE_CHECKING:
    from .body import Body
    from .plan import Plan


def write(body: Body, step: Loop | Branch) -> None:
    """Write a loop or a branch."""
    if isinstance(step, Branch):
        _branch(body, step)
    else:
        _loop(body, step)


def _is_forward(body: Body, step: Loop | Branch) -> bool:
    return not body.labels.forward.isdisjoint(step.outs)


# Branches -----------------------------------------------------------------------------------------


def _branch(body: Body, step: Branch) -> None:
    outs = [v for v in step.outs if body.plan.uses[v]]
    forward = _is_forward(body, step)
    arms = (step.then, step.orelse)
    for arm in arms:
        body.labels.learn(arm, forward)
    for out in outs:
        _call_alike(body, out, [arm.outputs[step.outs.index(out)] for arm in arms])
    tracked = [v in body.plan.bases for v in outs]
    names = [body.name(v, t) for v, t in zip(outs, tracked, strict=True)]
    for out in outs:
        body.share(out, step.args)
    test = body.fit((step.condition,), lambda: f"if {body.expr_of(step.condition).text}:")
    body.put(test, step.origin)
    _arm(body, step, step.then, outs, names)
    if step.orelse.steps or names:
        body.page.put("else:")
        _arm(body, step, step.orelse, outs, names)


def _call_alike(body: Body, var: Var, others: Sequence[Var]) -> None:
    """Let `var` be called like what becomes its value."""
    made = [v for v in others if v in body.labels.made or v in body.labels.bars]
    if made:
        body.labels.hints.setdefault(var, made[0])


def _arm(body: Body, step: Branch, arm: Trace, outs: list[Var], names: list[str]) -> None:
    for inner, given in zip(arm.inputs, step.args, strict=True):
        _stand_for(body, inner.var, given)
    body.page.indent += 1
    before = len(body.page.lines)
    body.trace(arm, _is_forward(body, step))
    for out, name in zip(outs, names, strict=True):
        value = arm.outputs[step.outs.index(out)]
        _set(body, name, value)
    if len(body.page.lines) == before:
        body.page.put("pass")
    body.page.indent -= 1


def _stand_for(body: Body, inner: Var, given: Var) -> None:
    """Let the inner variable be what was given for it."""
    body.values[inner] = body.values[given]
    if given in body.named:
        body.named[inner] = body.named[given]
    if given in body.calls.literals:
        body.calls.literals[inner] = body.calls.literals[given]


def _set(body: Body, name: str, value: Var) -> None:
    text = body.fit((value,), lambda: f"{name} = {body.expr_of(value).text}")
    made = body.labels.made.get(value)
    body.put(text, made.origin if made is not None else None)


# Loops --------------------------------------------------------------------------------------------


def name_starts(body: Body, step: Loop) -> None:
    """Let what a loop starts from be called as what it carries, where that has a name to give."""
    body.labels.learn(step.body, _is_forward(body, step))
    inner = [i.var for i in step.body.inputs]
    for i, start in enumerate(step.carried):
        for var in (step.outs_carried[i], inner[i], step.body.outputs[i]):
            if body.labels.is_own(var) and var not in body.named:
                body.labels.hints.setdefault(start, var)
                break


def _loop(body: Body, step: Loop) -> None:
    plan = body.plan
    n = len(step.carried)
    inner = [i.var for i in step.body.inputs]
    carried, items = inner[:n], inner[n : n + len(step.stacks)]
    for var, given in zip(inner[n + len(items) :], step.constants, strict=True):
        _stand_for(body, var, given)
    _begin(body, step, carried, plan)
    lists = _open_stacks(body, step)
    if step.condition is not None:
        at = _open_while(body, step, carried)
    else:
        _open_for(body, step, items)
    body.page.indent += 1
    before = len(body.page.lines)
    if step.condition is not None:
        _condition(body, step.condition, at)
    _pass(body, step, carried, lists, plan)
    if len(body.page.lines) == before:
        body.page.put("pass")
    body.page.indent -= 1
    if step.reverse:  # what the passes stacked stands in the order of the stacks' items
        for name in filter(None, lists):
            body.put(f"{name}.reverse()", step.origin)
    for out, var in zip(step.outs_carried, carried, strict=True):
        body.call(out, body.named[var], out in plan.bases)
        body.plan = plan
        body.share(out, step.reads())


def _begin(body: Body, step: Loop, carried: list[Var], plan: Plan) -> None:
    """Give each carried value its name, and its first value."""
    for i, (var, start) in enumerate(zip(carried, step.carried, strict=True)):
        name = body.named.get(start)
        if name is not None and _is_spent(body, step, start, plan):
            body.before_write(name)
            body.call(var, name, tracked=True)
            continue
        hints = [step.outs_carried[i], var, step.body.outputs[i], start]
        base = next((v for v in hints if _has_own_label(body, v)), start)
        name = body.name(var, tracked=True, base=body.labels.of(base))
        _set(body, name, start)


def _is_spent(body: Body, step: Loop, start: Var, plan: Plan) -> bool:
    """Tell whether the loop may take over the name of a value that it starts from."""
    return plan.uses[start] == 1 and start in body.labels.made and start not in body.calls.literals


def _has_own_label(body: Body, var: Var) -> bool:
    labels = body.labels
    made = labels.made.get(var)
    return var in labels.bars or var in labels.dots or isinstance(made, Call)


def _open_stacks(body: Body, step: Loop) -> list[str | None]:
    """Write the empty lists for what the passes remember."""
    lists: list[str | None] = []
    for var, value in zip(step.stacked, step.body.outputs[len(step.carried) :], strict=True):
        if not body.plan.uses[var]:
            lists.append(None)
            continue
        name = body.name(var, base=f"{body.labels.of(value)}_stack")
        body.put(f"{name} = []", step.origin)
        lists.append(name)
    return lists


def _open_for(body: Body, step: Loop, items: list[Var]) -> None:
    if not step.stacks:
        body.put(f"for _ in range({step.count or 0}):", step.origin)
        return
    stacks = [body.expr_of(v).text for v in step.stacks]
    names = [_item_name(body, v, s) for v, s in zip(items, stacks, strict=True)]
    over = [f"reversed({s})" if step.reverse else s for s in stacks]
    source = over[0] if len(over) == 1 else f"zip({', '.join(over)})"
    body.put(f"for {', '.join(names)} in {source}:", step.origin)


def _item_name(body: Body, item: Var, stack: str) -> str:
    has_label = item in body.labels.bars or item in body.labels.dots
    return body.name(item, base=None if has_label else re.sub(r"_stack(_\d+)?$", "", stack))


def _open_while(body: Body, step: Loop, carried: list[Var]) -> int:
    """Write the head of a while loop; return where its line stands."""
    assert step.condition is not None
    inner = [i.var for i in step.condition.inputs]
    names = [*carried, *(i.var for i in step.body.inputs[len(carried) :])]
    for var, given in zip(inner, names, strict=True):
        _stand_for(body, var, given)
    body.put("while True:", step.origin)
    return len(body.page.lines) - 1


def _condition(body: Body, condition: Trace, at: int) -> None:
    """Write the condition into the head, or behind the statements that it needs."""
    before = len(body.page.lines)
    body.trace(condition)
    (test,) = condition.outputs
    expr = body.expr_of(test)
    body.waiting.pop(test, None)
    if len(body.page.lines) == before and expr.width < body.page.room - 8:
        body.page.lines[at] = body.page.lines[at].replace("while True:", f"while {expr.text}:")
        return
    body.page.put(f"if {unary(ast.Not(), 'not ', expr).text}:")
    body.page.put("    break")


def _pass(body: Body, step: Loop, carried: list[Var], lists: list[str | None], outer: Plan) -> None:
    """Write one pass: the steps, what is remembered, the next carried values."""
    _rebind(body, step, carried)
    owned = _owned(body, step, carried, outer)
    body.trace(step.body, _is_forward(body, step), owned)
    n = len(carried)
    for name, value in zip(lists, step.body.outputs[n:], strict=True):
        if name is not None:
            _remember(body, name, value)
    _carry(body, [(body.named[p], v) for p, v in zip(carried, step.body.outputs, strict=False)])


def _remember(body: Body, name: str, value: Var) -> None:
    body.put(body.fit((value,), lambda: f"{name}.append({body.expr_of(value).text})"), None)


def _rebind(body: Body, step: Loop, carried: list[Var]) -> None:
    """Find next carried values that may take the name at once, as nobody reads the last ones."""
    last: dict[Var, int] = dict.fromkeys(step.body.outputs, len(step.body.steps))
    where: dict[Var, int] = {}
    for index, inner in enumerate(step.body.steps):
        for var in inner.reads():
            last.setdefault(var, index)
            last[var] = max(last[var], index)
        if isinstance(inner, Call) and len(inner.outs) == 1:
            where[inner.outs[0]] = index
    for var, value in zip(carried, step.body.outputs, strict=False):
        if value in where and last.get(var, -1) <= where[value] and value not in body.rebound:
            body.rebound[value] = var


def _owned(body: Body, step: Loop, carried: list[Var], outer: Plan) -> list[Var]:
    """Return the carried values whose memory belongs to the loop alone, pass after pass."""
    inner = Aliases(step.body)
    outputs = step.body.outputs
    owned = []
    for var, start, value in zip(carried, step.carried, outputs, strict=False):
        mine = outer.may_write(start) and outer.uses[start] == 1 and inner.owns(value)
        alone = sum(value in inner.roots[other] for other in outputs) == 1
        if mine and alone and var.kind == "array":
            owned.append(var)
    return owned


def _carry(body: Body, updates: list[tuple[str, Var]]) -> None:
    """Write the carried values of the next pass, at once where one reads another."""
    updates = [(name, v) for name, v in updates if body.expr_of(v).text != name]
    if not updates:
        return
    exprs = [body.expr_of(v) for _, v in updates]
    crossing = any(
        name in later.tracked for i, (name, _) in enumerate(updates) for later in exprs[i + 1 :]
    )
    if not crossing:
        for name, value in updates:
            _set(body, name, value)
        return
    names = ", ".join(name for name, _ in updates)
    values = [v for _, v in updates]
    text = body.fit(values, lambda: f"{names} = {', '.join(body.expr_of(v).text for v in values)}")
    body.put(text, None)
