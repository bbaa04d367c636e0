"""Which values own their memory, and which may be written in place.

A value is fresh if NumPy made new memory for it; any other result (a view, or what an unknown
function gives) is taken to share the memory of all arrays that went in.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.trace import Branch, Call, Function, Loop, Step, Trace, Var

from .functions import numpy_name

Roots = frozenset[Var]
NOTHING: Roots = frozenset()
ELSEWHERE = Var("array", np.dtype(object), ())  # the memory that an unknown function may give away
INFINITY = 1 << 60

_FRESH_NAMES = """
zeros ones full empty eye identity arange linspace logspace geomspace zeros_like ones_like full_like
empty_like array copy sum prod mean std var max min amax amin ptp nansum nanmean nanprod nanmax
nanmin nanstd nanvar cumsum cumprod cumulative_sum cumulative_prod nancumsum nancumprod
ediff1d gradient dot vdot inner outer tensordot kron cross trace concatenate concat stack vstack
hstack dstack column_stack block tile repeat roll where select choose take take_along_axis compress
extract sort argsort argmax argmin nonzero argwhere flatnonzero searchsorted partition argpartition
median percentile quantile average clip round around interp convolve correlate tril triu tri
diagflat vander pad append insert delete unique bincount histogram digitize cov corrcoef sinc
nan_to_num angle trapezoid polyval roots count_nonzero all any isclose heaviside unwrap i0
""".split()
_FRESH_METHODS = """
copy flatten sum prod mean std var max min cumsum cumprod dot take repeat round clip choose
compress argsort argmax argmin nonzero searchsorted trace any all
""".split()
_FRESH_LINALG = """
solve inv pinv det slogdet eigh eig eigvalsh eigvals cholesky svd svdvals qr norm lstsq
multi_dot cond matrix_rank tensorsolve tensorinv
""".split()
_FRESH_OPERATORS = """
add sub mul truediv floordiv mod pow matmul neg pos abs invert and_ or_ xor lshift rshift lt le gt
ge eq ne
""".split()
_HELPERS = (runtime.zeros, runtime.ones, runtime.full, runtime.arange, runtime.eye)

WRITES = (runtime.add_at, runtime.set_at)

FRESH: set[Function] = {
    *(getattr(np, name) for name in _FRESH_NAMES if hasattr(np, name)),
    *(getattr(np.ndarray, name) for name in _FRESH_METHODS),
    *(getattr(np.linalg, name) for name in _FRESH_LINALG if hasattr(np.linalg, name)),
    *(getattr(operator, name) for name in _FRESH_OPERATORS),
    *(f for name, f in vars(np.fft).items() if callable(f) and "fft" in name),
    *_HELPERS,
    *WRITES,
}

# What gives read-only views, or several elements in one place.
LOCKED = (np.broadcast_to, np.broadcast_arrays, np.diagonal, np.diag, np.linalg.diagonal)


def is_fresh(step: Call) -> bool:
    """Tell whether the results of a call have memory of their own."""
    function = step.function
    if function is operator.getitem:
        return has_array_index(step.args[1])
    if function is np.ndarray.astype:
        return "copy" not in step.kwargs and len(step.args) < 6
    if function in (np.array, np.nan_to_num):
        return "copy" not in step.kwargs and len(step.args) < 3
    if isinstance(function, np.ufunc):
        return "out" not in step.kwargs
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return "out" not in step.kwargs and function.__name__ != "at"
    return _hashable_in(function, FRESH) and "out" not in step.kwargs


def _hashable_in(function: Function, functions: set[Function]) -> bool:
    try:
        return function in functions
    except TypeError:
        return False


def has_array_index(index: Any) -> bool:
    """Tell whether an index picks elements, so that the result is no view."""
    items = index if type(index) is tuple else (index,)
    return any(type(i) is list or (type(i) is Var and i.kind == "array") for i in items)


def may_repeat(index: Any) -> bool:
    """Tell whether an index may name an element twice."""
    items = index if type(index) is tuple else (index,)
    return any(
        type(i) is list or (type(i) is Var and i.kind == "array" and i.dtype != bool) for i in items
    )


class Aliases:
    """The memory behind each variable of a trace, and when it is read last.

    `roots[v]` are the variables whose memory `v` may share; ``{v}`` if it owns it. `last[r]` is the
    index of the last step that reads the memory of `r`.
    """

    def __init__(self, trace: Trace) -> None:
        self.roots: dict[Var, Roots] = {i.var: frozenset((i.var,)) for i in trace.inputs}
        self.last: dict[Var, int] = {}
        for index, step in enumerate(trace.steps):
            self._read(step.reads(), index)
            for var, roots in zip(step.outs, self.roots_of_outs(step), strict=True):
                self.roots[var] = roots
        self._read(trace.outputs, INFINITY)

    def _read(self, reads: Iterable[Var], index: int) -> None:
        for var in reads:
            for root in self.roots[var]:
                self.last[root] = index

    def owns(self, var: Var) -> bool:
        """Tell whether `var` shares its memory with no other variable."""
        return self.roots.get(var) == frozenset((var,))

    def roots_of_outs(self, step: Step) -> list[Roots]:
        """Return the roots of each result of a step."""
        if isinstance(step, Call):
            return self._of_call(step)
        if isinstance(step, Branch):
            return [self._union(step.args) | {out} for out in step.outs]
        if isinstance(step, Loop):
            return self._of_loop(step)
        return []

    def _of_call(self, step: Call) -> list[Roots]:
        if is_fresh(step):
            return [frozenset((out,)) for out in step.outs]
        shared = self._union(step.reads())
        known = numpy_name(step.function) is not None or is_method(step.function)
        if not shared or not known or step.function in LOCKED:
            shared = shared | {ELSEWHERE}
        return [self._result(out, shared) for out in step.outs]

    def _of_loop(self, step: Loop) -> list[Roots]:
        inner = Aliases(step.body)
        given = dict(zip((i.var for i in step.body.inputs), step.reads(), strict=True))
        results: list[Roots] = []
        for out, value in zip(step.outs, step.body.outputs, strict=True):
            outer = [given[r] for r in inner.roots[value] if r in given]
            results.append(self._union(outer) | {out})
        runs = step.count is not None and step.count > 0  # else the start may be the result
        starts = [NOTHING if runs else self._union((v,)) for v in step.carried]
        return [r | s for r, s in zip(results, starts + [NOTHING] * len(step.stacked), strict=True)]

    def _result(self, out: Var, shared: Roots) -> Roots:
        return shared if out.kind in ("array", "stack") else frozenset((out,))

    def _union(self, read: Iterable[Var]) -> Roots:
        union = NOTHING
        for var in read:
            if var.kind in ("array", "stack"):
                union = union | self.roots[var]
        return union


def is_method(function: Function) -> bool:
    """Tell whether a function is a method of a built-in type: ``np.ndarray.astype``."""
    return type(function).__name__ == "method_descriptor"
