"""Writes the steps of a trace as statements.

A value waits as an expression until the statement that reads it, unless it needs a name. Whatever
waits and reads memory or a name that is about to be written is written down before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.naming import Names
from srcgrad.trace import Call, Guard, Loop, Origin, Step, Trace, Var

from . import control
from .aliases import WRITES, is_method, may_repeat
from .calls import Calls
from .expressions import Expr, atom, without_minus
from .functions import PLAIN_SCALARS, Functions, numpy_name
from .labels import Labels
from .page import Page
from .plan import Plan

DEPTH = 20  # operations nested in one statement
PURE_MODULES = ("_operator", "operator", "math", "builtins", "scipy")
MARGIN = 20  # what an expression that waits leaves of the line, for the statement around it


class Body:
    """The state of writing one function."""

    def __init__(
        self,
        page: Page,
        names: Names,
        forward: Collection[Var],
        bars: Mapping[Var, Var],
        dots: Mapping[Var, Var],
    ) -> None:
        self.page = page
        self.names = names
        self.functions = Functions(names)
        self.calls = Calls(self.functions, self.expr_of)
        self.named: dict[Var, str] = {}
        self.labels = Labels(bars, dots, forward, self.named)
        self.values: dict[Var, Expr] = {}  # what has a name, or is a literal
        self.waiting: dict[Var, tuple[Expr, Origin | None]] = {}
        self.readers: dict[str, list[Var]] = {}  # what waits and reads a tracked name
        self.plan: Plan
        self.output: Var | None = None  # what is differentiated
        self.has_halves = False
        self.turn = False  # the steps are backward ones, and none of them is written yet
        self._last: Origin | None = None
        self._pass_ends = False
        self.rebound: dict[Var, Var] = {}  # results that take over the name of a carried value

    # Values ---------------------------------------------------------------------------------------

    def expr_of(self, var: Var) -> Expr:
        found = self.values.get(var)
        return found if found is not None else self.waiting[var][0]

    def name(self, var: Var, tracked: bool = False, base: str | None = None) -> str:
        """Give `var` a name of its own."""
        name = self.names.unique(base or self.labels.of(var))
        self.call(var, name, tracked)
        return name

    def call(self, var: Var, name: str, tracked: bool = False) -> None:
        """Let `var` be called `name`."""
        self.values[var] = atom(name, frozenset((name,)) if tracked else frozenset())
        self.named[var] = name

    def share(self, var: Var, reads: Iterable[Var]) -> None:
        """Note that `var`, which has a name, may be a view of what it was made from."""
        if self.plan.aliases.owns(var):
            return
        tracked = self.values[var].tracked.union(*(self.expr_of(v).tracked for v in reads))
        self.values[var] = atom(self.named[var], tracked)

    def wait(self, var: Var, expr: Expr, origin: Origin | None) -> None:
        self.waiting[var] = (expr, origin)
        for name in expr.tracked:
            self.readers.setdefault(name, []).append(var)

    def write_down(self, var: Var) -> None:
        """Give a value that waits a statement and a name."""
        expr, origin = self.waiting.pop(var)
        name = self.name(var)
        if not self.plan.aliases.owns(var):
            self.values[var] = atom(name, expr.tracked)
        self.put(f"{name} = {expr.text}", origin)

    def before_write(self, name: str) -> None:
        """Write down what waits and reads `name`."""
        for var in self.readers.pop(name, ()):
            if var in self.waiting:
                self.write_down(var)

    # Statements -----------------------------------------------------------------------------------

    def put(self, text: str, origin: Origin | None) -> None:
        if self.turn:
            self._turn()
        elif self._pass_ends:
            self.page.blank()
            self._pass_ends = False
        self.page.put(text, origin, self.labels.place(origin))

    def _turn(self) -> None:
        """Open the backward half, after the results of the forward one."""
        self.turn = self.has_halves = False
        for var in self.plan.trace.outputs:
            if var in self.labels.forward and var in self.waiting:
                self.write_down(var)
        self.page.backward(self._sentence())

    def fit(self, reads: Iterable[Var], make: Callable[[], str]) -> str:
        """Return the text of a statement; name the longest of its parts while it is too long."""
        reads = list(reads)
        text = make()
        while len(text) > self.page.room:
            if not self._shorten(reads, len(text) - self.page.room):
                break
            text = make()
        for var in reads:
            self.waiting.pop(var, None)
        return text

    def _shorten(self, reads: list[Var], excess: int) -> bool:
        """Write down the longest parts of a statement, to save `excess` characters."""
        parts = [v for v in dict.fromkeys(reads) if v in self.waiting]
        gain = {v: self.waiting[v][0].width - len(self.labels.of(v)) - 2 for v in parts}
        chosen: set[Var] = set()
        for var in sorted(parts, key=lambda v: -gain[v]):
            if excess <= 0 or gain[var] <= 0:
                break
            chosen.add(var)
            excess -= gain[var]
        for var in parts:
            if var in chosen and var in self.waiting:  # the first one may have opened a half
                self.write_down(var)
        return bool(chosen)

    # Steps ----------------------------------------------------------------------------------------

    def trace(self, trace: Trace, forward: bool = False, owned: Iterable[Var] = ()) -> Plan:
        """Write the steps of `trace`, whose inputs have names; return its plan, in force."""
        self.labels.learn(trace, forward)
        plan = Plan(trace, self.labels, owned)
        for out, base in reversed(plan.into.items()):
            self.labels.hints[base] = self.labels.hints.get(out, out)
        for step in trace.steps:
            if isinstance(step, Loop):
                control.name_starts(self, step)
        for step in trace.steps:
            self.plan = plan
            self.step(step)
        self.plan = plan
        return plan

    def step(self, step: Step) -> None:
        if self.page.indent == 1:
            self._follow(step)
        if isinstance(step, Call):
            self.call_step(step)
        elif isinstance(step, Guard):
            raise ValueError(f"the text has no place for a guard: {step}")
        else:
            control.write(self, step)

    def _sentence(self) -> str:
        """Return the comment that opens the backward half."""
        output = self.output
        name = output and (self.named.get(output) or self.labels.target(output))
        return f"# Backward: t_bar is the derivative of {name or 'the result'} with respect to t."

    def _follow(self, step: Step) -> None:
        """Note where the backward half begins, and where a pass of the user's loop ends."""
        if self.labels.forward.isdisjoint(step.outs):
            self.turn = self.has_halves
            return
        if step.origin is None:
            return
        code, lasti = step.origin
        if self._last is not None and self._last[0] is code and lasti < self._last[1]:
            before = self.labels.place(self._last)
            now = self.labels.place(step.origin)
            self._pass_ends |= before is not None and now is not None and now.line < before.line
        self._last = step.origin

    def call_step(self, step: Call) -> None:
        if step.function in WRITES:
            self._write(step)
        elif type(step.out) is tuple:
            self._several(step)
        elif self._literal(step):
            self._number(step)
        elif step.out in self.plan.into:
            self._add_into(step)
        else:
            self._value(step)

    def _literal(self, step: Call) -> bool:
        return (
            step.function in PLAIN_SCALARS
            and len(step.args) == 1
            and type(step.args[0]) in (int, float)
            and not step.kwargs
        )

    def _number(self, step: Call) -> None:
        (out,) = step.outs
        self.values[out] = self.calls.express(step)
        self.calls.literals[out] = step.args[0]

    def _value(self, step: Call) -> None:
        (out,) = step.outs
        uses = self.plan.uses[out]
        if not uses and is_pure(step):
            return
        if uses != 1 or out in self.plan.named or not is_pure(step):
            self._assign(step, out)
            return
        expr = self._expression(step)
        if expr.depth > DEPTH:
            self._assign(step, out)
        else:
            for var in step.reads():
                self.waiting.pop(var, None)
            self.wait(out, expr, step.origin)

    def _expression(self, step: Call) -> Expr:
        """Return the expression of a step, short enough to stand in a statement."""
        reads = list(step.reads())
        expr = self.calls.express(step)
        room = self.page.room - MARGIN
        while expr.width > room and self._shorten(reads, expr.width - room):
            expr = self.calls.express(step)
        return expr

    def _assign(self, step: Call, out: Var) -> None:
        carried = self.rebound.get(out)
        name = self.named[carried] if carried is not None else self.name(out, self._is_base(out))
        if carried is None:
            self.share(out, step.reads())
        text = self.fit(step.reads(), lambda: f"{name} = {self.calls.express(step).text}")
        if carried is not None:
            self.before_write(name)
            self.call(out, name, tracked=True)
        self.put(text, step.origin)

    def _is_base(self, var: Var) -> bool:
        """Tell whether something is written into `var` later."""
        return var in self.plan.bases

    def _several(self, step: Call) -> None:
        outs = step.outs
        used = [v if self.plan.uses[v] else None for v in outs]
        word = self.labels.of(outs[0])
        names = [self.name(v, self._is_base(v), word) if v is not None else "_" for v in used]
        target = ", ".join(names) if len(names) > 1 else f"({names[0]},)"
        for var in used:
            if var is not None:
                self.share(var, step.reads())
        text = self.fit(step.reads(), lambda: f"{target} = {self.calls.express(step).text}")
        self.put(text, step.origin)

    # Writes ---------------------------------------------------------------------------------------

    def _write(self, step: Call) -> None:
        """Write ``runtime.add_at`` and ``set_at`` in place, into a copy where that is needed."""
        base = step.args[0]
        (out,) = step.outs
        if out in self.plan.into:
            name = self.named[base]
        else:
            name = self.names.unique(self.labels.of(out))
            copy = self.fit((base,), lambda: f"{name} = np.array({self.calls.text(base)})")
            self.put(copy, step.origin)
        reads = [v for v in step.reads() if v is not base]
        text = self.fit(reads, lambda: self._write_text(step, name))
        self.before_write(name)
        self.put(text, step.origin)
        self.call(out, name, tracked=True)

    def _write_text(self, step: Call, name: str) -> str:
        _, index, value = step.args
        if step.function is runtime.set_at:
            return f"{name}[{self.calls.index(index)}] = {self.calls.text(value)}"
        if may_repeat(index):
            return f"np.add.at({name}, {self.calls.text(index)}, {self.calls.text(value)})"
        added = self._added(value, value)
        return f"{name}[{self.calls.index(index)}] {added}"

    def _added(self, value: Any, beside: Any) -> str:
        """Return ``+= value``, or ``-= other`` where the value is minus the other."""
        expr = self.calls.operand(value, beside)
        if type(value) is Var and value.dtype.kind in "fc":
            other = without_minus(expr)
            if other is not None:
                return f"-= {other.text}"
        return f"+= {expr.text}"

    def _add_into(self, step: Call) -> None:
        (out,) = step.outs
        base = self.plan.into[out]
        a, b = step.args
        other = b if a is base else a
        name = self.named[base]
        text = self.fit((other,), lambda: f"{name} {self._added(other, base)}")
        self.before_write(name)
        self.put(text, step.origin)
        self.call(out, name, tracked=True)


def is_pure(step: Call) -> bool:
    """Tell whether a step may stand in the statement that reads it, be it later."""
    function = step.function
    if is_method(function) or numpy_name(function) is not None or type(function) is np.ufunc:
        return True
    module = getattr(function, "__module__", None) or ""
    return module == "srcgrad.runtime" or module.partition(".")[0] in PURE_MODULES
