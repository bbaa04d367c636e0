"""Trace to trace: what a person would not have written is taken out.

The outputs keep their places; an output that is computed elsewhere already is replaced by that
variable.
"""

from __future__ import annotations

from collections.abc import Iterable

from srcgrad.trace import Trace, Var

from .algebra import algebra
from .broadcasts import broadcasts
from .common import common
from .dead import dead

__all__ = ["algebra", "broadcasts", "common", "dead", "optimize"]

ROUNDS = 6


def optimize(trace: Trace, keep: Iterable[Var] = (), guards: bool = False) -> Trace:
    """Return a shorter trace that gives the same values.

    Parameters
    ----------
    trace : Trace
    keep : iterable of Var
        Variables that stay in it, as they are, although no output needs them.
    guards : bool
        Whether guards stay.

    Returns
    -------
    Trace
        Its outputs stand in the places of those of `trace`.
    """
    keep = frozenset(keep)
    trace = dead(trace, keep, guards)
    derivatives: set[Var] = set()
    for _ in range(ROUNDS):
        before = trace
        trace = broadcasts(algebra(common(trace, keep), keep, derivatives))
        trace = dead(trace, keep, guards)
        if trace is before:
            break
    return trace
