"""Common subexpressions: what is computed twice from the same values is computed once."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Hashable
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.trace import Call, Function, Step, Trace, Var

from .rewrite import inner, rebuilt, renamed

COMMUTE = (np.add, np.multiply)
MADE_TO_WRITE = (runtime.add_at, runtime.set_at)

# Functions of NumPy's that give another result each time, or change what they are given.
CHANGING = frozenset(
    """empty empty_like copyto put place putmask fill_diagonal put_along_axis at fill partition
    resize setfield setflags byteswap""".split()
)


def common(trace: Trace, keep: Collection[Var] = ()) -> Trace:
    """Merge equal steps of a trace, and of each inner trace on its own; those of `keep` stay."""
    written = _written(trace)
    seen: dict[Hashable, Call] = {}
    merged: dict[Var, Var] = {}
    steps: list[Step] = []
    for step in trace.steps:
        step = inner(renamed(step, merged), common)
        key = _key(step, written) if type(step) is Call else None
        first = seen.setdefault(key, step) if key is not None else step  # type: ignore[arg-type]
        if first is step or not _can_go(step, keep):
            steps.append(step)
        else:
            merged.update(zip(step.outs, first.outs, strict=True))
    return rebuilt(trace, steps, merged)


def _can_go(step: Step, keep: Collection[Var]) -> bool:
    return not keep or not any(v in keep for v in step.outs)


def _written(trace: Trace) -> set[Var]:
    """Return the arrays that are written into: each write keeps a buffer of its own."""
    return {
        step.args[0]
        for step in trace.steps
        if type(step) is Call and step.function in MADE_TO_WRITE and type(step.args[0]) is Var
    }


def _key(step: Call, written: set[Var]) -> Hashable | None:
    """Return what two steps have in common that give the same result, or None."""
    if not is_known(step.function) or "out" in step.kwargs or not written.isdisjoint(step.outs):
        return None
    args = tuple([_argument_key(a) for a in step.args])
    if step.function in COMMUTE and len(args) == 2 and all(map(_is_numpy, step.args)):
        args = tuple(sorted(args, key=id))
    kinds = tuple([(v.kind, v.dtype, v.shape) for v in step.outs])
    if not step.kwargs:
        return (step.function, args, kinds)
    kwargs = tuple(sorted((k, _argument_key(a)) for k, a in step.kwargs.items()))
    return (step.function, args, kwargs, kinds)


def _is_numpy(value: Any) -> bool:
    return type(value) is Var and value.kind in ("array", "scalar")


def _argument_key(tree: Any) -> Hashable:
    """Return the key of an argument; constants by type and repr, as 0.0 == -0.0 and 1 == True."""
    t = type(tree)
    if t is Var:
        return tree  # type: ignore[no-any-return]
    if t is tuple or t is list:
        return (t, *[_argument_key(item) for item in tree])
    if t is dict:
        return (t, *[(k, _argument_key(v)) for k, v in tree.items()])
    if t is slice:
        return (t, *[_argument_key(part) for part in (tree.start, tree.stop, tree.step)])
    if callable(tree):
        return (t, id(tree))
    return (t, repr(tree))


def is_known(function: Function) -> bool:
    """Tell whether a function gives the same result for the same arguments, and does no more."""
    found = _known.get(id(function))
    if found is not None and found[0] is function:
        return found[1]
    known = _look(function)
    if len(_known) < 10_000:
        _known[id(function)] = (function, known)
    return known


_known: dict[int, tuple[Function, bool]] = {}


def _look(function: Function) -> bool:
    name = getattr(function, "__name__", "")
    if name in CHANGING:
        return False
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return True
    if type(function).__name__ == "method_descriptor":
        return getattr(function, "__objclass__", None) is np.ndarray and name != "sort"
    if isinstance(function, type):
        return issubclass(function, np.generic)
    places = (np, np.linalg, np.fft, operator, math, runtime)
    return any(getattr(place, name, None) is function for place in places)
