"""The name that each value would like to have.

The user's own name; `w_bar` for the cotangent of `w`; else the operation and its operand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from srcgrad.naming import SHORT, Place, operation, place
from srcgrad.trace import Call, Origin, Step, Trace, Var, variables


class Labels:
    """Names by which values are called, before they are made unique."""

    def __init__(
        self,
        bars: Mapping[Var, Var],
        dots: Mapping[Var, Var],
        forward: Collection[Var],
        named: Mapping[Var, str],
    ) -> None:
        self.bars = bars
        self.dots = dots
        self.forward = set(forward)
        self.named = named  # the names that values have got so far
        self.made: dict[Var, Step] = {}
        self.hints: dict[Var, Var] = {}  # a variable that is called like another one
        self.titles: dict[Var, str] = {}  # names of what stands in another text
        self._places: dict[Origin, Place | None] = {}

    def learn(self, trace: Trace, forward: bool) -> None:
        """Remember which step makes which value; all are `forward` ones, or those that we know."""
        for step in trace.steps:
            for out in step.outs:
                self.made[out] = step
            if forward:
                self.forward.update(step.outs)

    def place(self, origin: Origin | None) -> Place | None:
        if origin is None:
            return None
        if origin not in self._places:
            self._places[origin] = place(origin)
        return self._places[origin]

    def line(self, var: Var) -> tuple[str, int] | None:
        """Return the user's line that a value comes from."""
        step = self.made.get(var)
        found = self.place(step.origin) if step is not None else None
        return (found.file, found.line) if found is not None else None

    def of(self, var: Var) -> str:
        """Return the name that `var` has, or would like to have."""
        if var in self.named:
            return self.named[var]
        for table, ending in ((self.bars, "bar"), (self.dots, "dot")):
            if var in table:
                return f"{self.of(table[var])}_{ending}"
        target = self.titles.get(var) or self.target(var)
        if target is None and var in self.hints:
            return self.of(self.hints[var])
        return target or self._by_operation(self.made.get(var))

    def target(self, var: Var) -> str | None:
        """Return the user's own name of a forward value."""
        step = self.made.get(var)
        if step is None or var not in self.forward:
            return None
        found = self.place(step.origin)
        if found is None or found.target is None or not found.target.isidentifier():
            return None
        return found.target

    def _by_operation(self, step: Step | None) -> str:
        if not isinstance(step, Call):
            return "value"
        word = operation(step.function)
        operands = list(dict.fromkeys(variables((step.args, step.kwargs))))
        if len(operands) == 1:
            name = self.named.get(operands[0], "")
            if name not in ("", word) and len(name) <= SHORT and self._is_own(operands[0]):
                return f"{word}_{name}"
        return word

    def _is_own(self, var: Var) -> bool:
        """Tell whether a name is the user's, or made of one, and not of an operation."""
        return var not in self.made or self.is_own(var)

    def is_own(self, var: Var) -> bool:
        """Tell whether there is a name for `var` beside that of its operation."""
        return var in self.bars or var in self.dots or self.target(var) is not None
