"""What one trace (the program, a loop's body, an arm) asks of the text, found before it is written.

Which values must have names, which steps write into memory that exists, and which outputs the
function must copy before it gives them away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from srcgrad.trace import Branch, Call, Loop, Step, Trace, Var, variables

from .aliases import ELSEWHERE, WRITES, Aliases
from .labels import Labels

SIZES = (np.size, np.shape, len)
ADDITIONS = (np.add,)


class Plan:
    """The plan of one trace.

    Attributes
    ----------
    uses : Counter
        How often each variable is read.
    named : set of Var
        The variables that get a name however seldom they are read.
    into : dict
        For the result of a step that writes in place: the variable whose memory it takes.
    bases : set of Var
        What is written into.
    aliases : Aliases
    """

    def __init__(self, trace: Trace, labels: Labels, owned: Iterable[Var]) -> None:
        self.trace = trace
        self.aliases = Aliases(trace)
        self.uses: Counter[Var] = Counter(trace.outputs)
        for step in trace.steps:
            self.uses.update(step.reads())
        self.named: set[Var] = set()
        self.into: dict[Var, Var] = {}
        self.bases: set[Var] = set()
        self._labels = labels
        self._carried = frozenset(owned)
        self._owned = self._carried | self._made(trace)
        for index, step in enumerate(trace.steps):
            self._look_at(index, step)

    def _made(self, trace: Trace) -> set[Var]:
        """Return the arrays that the steps make in memory of their own."""
        made = (out for step in trace.steps for out in step.outs)
        return {v for v in made if v.kind == "array" and self.aliases.owns(v)}

    def _look_at(self, index: int, step: Step) -> None:
        if isinstance(step, Branch):
            self.named.update(step.args)
        elif isinstance(step, Loop):
            self.named.update(step.reads())
        elif isinstance(step, Call):
            if step.function in SIZES:
                self.named.update(step.outs)
            elif step.function in WRITES:
                self._write(index, step)
            elif step.function in ADDITIONS and not step.kwargs:
                self._addition(index, step)

    def _write(self, index: int, step: Call) -> None:
        base, where, value = step.args
        (out,) = step.outs
        self.named.add(out)
        if self._free(base, index) and not self._shares(base, (where, value)):
            self._take(out, base)

    def _addition(self, index: int, step: Call) -> None:
        """Add into the first contribution to a cotangent, if that is a statement of its own."""
        (out,) = step.outs
        a, b = step.args
        if out not in self._labels.bars or type(a) is not Var or type(b) is not Var:
            return
        for base, other in ((a, b), (b, a)):
            fits = base.same_type(out) and out.ndim > 0 and base not in self._labels.forward
            fits = fits and self._free(base, index)
            if fits and not self._shares(base, (other,)) and self._apart(base, other):
                self._take(out, base)
                return

    def may_write(self, var: Var) -> bool:
        """Tell whether the memory of `var` was made here, for `var` alone."""
        return var in self._owned

    def _take(self, out: Var, base: Var) -> None:
        self.into[out] = base
        self.named.add(base)
        self.bases.add(base)

    def _apart(self, base: Var, other: Var) -> bool:
        """Tell whether a contribution should stand in a statement before the other one."""
        line = self._labels.line
        if base in self._carried:
            return True
        return base in self.named or self.uses[base] > 1 or line(base) != line(other)

    def _free(self, var: object, index: int) -> bool:
        """Tell whether the memory of `var` is ours, and nobody reads it after step `index`."""
        return var in self._owned and self.aliases.last.get(var, -1) <= index  # type: ignore[arg-type]

    def _shares(self, base: Var, args: tuple[object, ...]) -> bool:
        """Tell whether an argument of a write shares the memory written to."""
        return any(base in self.aliases.roots[v] for v in variables(args))

    def copies(self) -> list[bool]:
        """Tell which outputs must be copied, to be arrays that nobody else has."""
        taken = {i.var for i in self.trace.inputs} | {ELSEWHERE}
        taken |= {v for v in self.trace.outputs if v.kind == "stack"}
        needed = []
        for var in self.trace.outputs:
            roots = self.aliases.roots[var]
            needed.append(var.kind == "array" and not roots.isdisjoint(taken))
            taken |= roots
        return needed
