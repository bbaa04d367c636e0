"""reverse(trace): walk the steps backward, call the rules, add the contributions.

Rules run on the values of the call at hand, so they know shapes and dtypes for free and the
gradient of that call comes with the adjoint. What a rule does is recorded; the forward variables it
reads keep their identity, so forward and backward steps together are one trace.
"""

from __future__ import annotations

import inspect
import operator
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat, zip_longest
from typing import Any

import numpy as np

from . import runtime
from .capture.arrays import Traced, do
from .capture.hooks import Capture, entered
from .capture.recorder import TRACED, Handle, Node, recording
from .errors import CotangentError, NoDerivativeError
from .rules.table import MULTILINEAR, Rule, rule_of
from .trace import Call, Guard, Step, Var, function_name, leaves, substitute, variables


@dataclass(frozen=True)
class Adjoint:
    """The backward steps of a trace, and where the cotangents are.

    Attributes
    ----------
    steps : tuple of Step
        They read forward variables, seeds and `lifted` ones.
    seeds : tuple of Var
        The cotangents of the targets, where they are not ones.
    cotangents : tuple of (Var or None)
        One for each source; None where no target depends on it.
    values : tuple
        The cotangents of this call.
    lifted : dict of Var to Handle
        What a user's rule read from outside.
    once : bool
        It serves this call only: a rule asked for a value, or must run every time.
    replaced : dict
        Forward steps that must give more than they did (loops, what their passes remember).
    """

    steps: tuple[Step, ...]
    seeds: tuple[Var, ...]
    cotangents: tuple[Var | None, ...]
    values: tuple[Any, ...]
    bars: dict[Var, Var]
    lifted: dict[Var, Handle]
    once: bool
    replaced: dict[Step, Step]


def reverse(
    steps: Iterable[Step],
    values: Mapping[Var, Any],
    targets: tuple[Var, ...],
    sources: tuple[Var, ...],
    seeds: tuple[Any, ...] | None = None,
) -> Adjoint:
    """Return the adjoint of `steps` for the sum of `targets` with respect to `sources`.

    Parameters
    ----------
    steps : iterable of Step
        The forward program.
    values : mapping
        The value of each variable in the call at hand.
    targets, sources : tuple of Var
    seeds : tuple, optional
        The cotangent of each target; ones by default, which then stand in the text.
    """
    return Reverse(steps, values).run(targets, sources, seeds)


class Reverse:
    """One reverse pass: the state that its steps share."""

    def __init__(self, steps: Iterable[Step], values: Mapping[Var, Any]) -> None:
        self.steps = tuple(steps)
        self.values = dict(values)
        self.recorder = Capture(Node())
        self.handles: dict[Var, Traced] = {}
        self.cotangents: dict[Var, Traced] = {}
        self.bars: dict[Var, Var] = {}
        self.active: set[Var] = set()
        self.replaced: dict[Step, Step] = {}
        self.once = False
        self.taken: dict[int, Any] = {}  # by id of a cotangent: where it is no structural zero

    def run(
        self, targets: tuple[Var, ...], sources: tuple[Var, ...], seeds: tuple[Any, ...] | None
    ) -> Adjoint:
        self.active = active_variables(self.steps, sources)
        with recording(self.recorder, alone=True), np.errstate(all="ignore"), quiet():
            seed_vars = self.seed(targets, seeds)
            for step in reversed(self.steps):
                self.walk(step)
            results = [self.cotangents.get(s) for s in sources]
            known = [None if r is None else self.recorder.known[r.id] for r in results]
        return self.adjoint(seed_vars, known, results)

    def adjoint(
        self, seeds: tuple[Var, ...], known: list[Var | None], results: list[Any]
    ) -> Adjoint:
        path = self.recorder.node.path()
        steps = tuple(n.step for n in path if n.step is not None)
        entered = [i.var for n in path for i in n.inputs if i.kind != "seed"]
        lifted = {v: self.recorder.values[v] for v in entered}
        once = self.once or any(type(s) is Guard for s in steps)
        outs = tuple(None if r is None else r.value for r in results)
        return Adjoint(
            tuple(s for s in steps if type(s) is not Guard),
            seeds, tuple(known), outs, self.bars, lifted, once, self.replaced,
        )  # fmt: skip

    # Seeds and contributions

    def seed(self, targets: tuple[Var, ...], seeds: tuple[Any, ...] | None) -> tuple[Var, ...]:
        entered = []
        for i, target in enumerate(targets):
            if seeds is None:
                g = ones_of(target)
            else:
                g = Traced(seeds[i])
                entered.append(self.recorder.enter(g, "seed", "seed" if i == 0 else f"seed_{i}"))
            self.contribute(target, g)
        return tuple(entered)

    def contribute(self, var: Var, g: Any, taken: Any = None) -> None:
        """Add `g`, brought to the shape and dtype of `var`, to its cotangent."""
        taken = None if taken is None else narrowed(taken, var.shape)
        g = fitted(g, var)
        before = self.cotangents.get(var)
        if before is not None:
            earlier = self.taken.get(before.id)
            taken = None if taken is None or earlier is None else taken | earlier
            g = before + g
        self.put(var, g)
        if taken is not None:
            self.taken[g.id] = taken

    def put(self, var: Var, g: Any) -> None:
        self.cotangents[var] = g
        bar = self.recorder.known[g.id]
        if bar not in self.values:  # a forward value can be a cotangent too, and keeps its name
            self.bars[bar] = var

    def handle(self, var: Var) -> Traced:
        """Return the forward variable as rules see it: Python floats as NumPy scalars."""
        handle = self.handles.get(var)
        if handle is None:
            value = self.values[var]
            handle = Traced(NUMPY_SCALARS[var.kind](value) if var.kind in NUMPY_SCALARS else value)
            self.handles[var] = handle
            self.recorder.know(handle, var)
        return handle

    # Steps

    def walk(self, step: Step) -> None:
        if not any(v in self.cotangents for v in step.outs):
            return
        self.recorder.origin = step.origin
        if type(step) is Call and step.outs[0].kind != "stack":
            self.walk_call(step)
        elif type(step) is not Guard:
            from .regions import walk_region

            walk_region(self, step)

    def walk_call(self, step: Call) -> None:
        if not any(v in self.active for v in step.reads()):
            return
        rule = rule_of(step.function)
        if rule is None:
            raise no_rule(step)
        if rule.kind == "partials":
            self.walk_partials(step, rule)
        elif rule.kind == "vjp":
            self.walk_vjp(step, rule)

    def walk_partials(self, step: Call, rule: Rule) -> None:
        if step.kwargs:
            raise no_argument(step, next(iter(step.kwargs)))
        assert type(step.out) is Var and rule.body is not None
        g = self.cotangents[step.out]
        operands = [as_operand(self.traced(a)) for a in step.args]
        out = self.handle(step.out)
        taken = self.taken.get(g.id)
        if taken is not None:
            out, *operands = (safe(step.function, taken, v) for v in (out, *operands))
        parts = rule.body(out, *operands)
        parts = parts if type(parts) is tuple else (parts,)
        for operand, part in zip(step.args, parts, strict=True):
            if type(operand) is not Var:
                self.refuse_active(operand, step)
            elif operand in self.active and part is not None:
                chosen = part != 0 if step.function in CHOOSING else None
                self.contribute(operand, times(g, part), both(taken, chosen))

    def walk_vjp(self, step: Call, rule: Rule) -> None:
        assert rule.body is not None
        arguments, spread = bound_arguments(step, rule.body)
        if step.function is operator.getitem and self.add_into(step):
            return
        g, out = self.results(step)
        values = [self.traced(a) for a in spread]
        named = {name: self.traced(a) for name, a in arguments.items()}
        if step.function in MULTILINEAR:
            values = [as_operand(v) if type(v) is not tuple else v for v in values]
            named = {n: as_operand(v) if n in OPERANDS else v for n, v in named.items()}
        taken = self.taken.get(g.id) if is_elementwise(step) else None
        if taken is not None:
            out, *values = (safe(step.function, taken, v) for v in (out, *values))
            named = {name: safe(step.function, taken, v) for name, v in named.items()}
        self.once = self.once or rule.once or (rule.strict and holds_objects(step))
        body = rule.body
        if rule.strict:  # a user's: what it reads from outside is no part of the text
            body = entered(body) or body
        result = body(g, out, *values, **named)
        parts = result if type(result) is tuple else (result,)
        operands = [*spread, *(arguments.get(n) for n in rule_names(rule.body)[len(spread) :])]
        for operand in operands[len(parts) :]:
            self.refuse_active(operand, step)
        masks = self.masks(step, g, out, lambda g: body(g, out, *values, **named))
        for operand, part, mask in zip_longest(operands[: len(parts)], parts, masks):
            leaves_of_mask = repeat(None) if mask is None else self.pairs(operand, mask, step)
            for (var, cotangent), leaf in zip(self.pairs(operand, part, step), leaves_of_mask):
                cotangent = checked(cotangent, var, step)
                if rule.strict:
                    refuse_shape(cotangent, var, step)
                self.contribute(var, cotangent, None if leaf is None else leaf[1])

    def masks(self, step: Call, g: Any, out: Any, pull: Any) -> tuple[Any, ...]:
        """Return, for each cotangent that a rule gives, where it is no structural zero.

        None (or nothing) where that is not known. A rule of a function that selects, or moves
        elements about, tells by what it makes of ones.
        """
        taken = None if type(g) is tuple else self.taken.get(g.id)
        function = step.function
        a: Any = self.traced(step.args[0]) if step.args else None
        if is_elementwise(step):
            return (taken,) * len(step.args)
        if function is np.where and type(a) in TRACED:
            condition = a if a.dtype == bool else a != 0
            return None, both(taken, condition), both(taken, ~condition)
        if function in NAN_FUNCTIONS and type(a) in TRACED:
            return (~np.isnan(a),)
        where = step.kwargs.get("where")
        if type(where) is Var and type(a) in TRACED:
            return (self.handle(where),)
        if is_selecting(step) or (taken is not None and function in MOVING):
            ones = np.ones_like(out) if taken is None else np.where(taken, 1.0, 0.0)
            result = pull(ones)
            parts = result if type(result) is tuple else (result,)
            return tuple(nonzero(part) for part in parts)
        return ()

    def add_into(self, step: Call) -> bool:
        """Add the cotangent of a part into that of the whole, where there is one already."""
        whole, index = step.args
        before = self.cotangents.get(whole)
        if before is None or whole not in self.active or before.id in self.taken:
            return False
        g = fitted(self.cotangents[step.out], step.out)  # type: ignore[index,arg-type]
        g = cast(g, whole)
        self.put(whole, do(runtime.add_at, (before, self.traced(index), g)))
        return True

    def results(self, step: Call) -> tuple[Any, Any]:
        if type(step.out) is tuple:
            gs = tuple([self.cotangents.get(v) for v in step.out])
            return gs, tuple([self.handle(v) for v in step.out])
        return self.cotangents[step.out], self.handle(step.out)  # type: ignore[index,arg-type]

    def traced(self, tree: Any) -> Any:
        """Return an argument tree with the forward variables as rules see them."""
        return substitute(tree, self.handle)

    def pairs(self, operand: Any, part: Any, step: Call) -> Iterator[tuple[Var, Any]]:
        """Give the active variables of an argument with what a rule gave for them."""
        if part is None:
            return
        if type(operand) is Var:
            if operand in self.active:
                yield operand, part
        elif type(operand) in (tuple, list) and type(part) in (tuple, list):
            for o, p in zip(operand, part, strict=True):
                yield from self.pairs(o, p, step)
        elif type(operand) is dict and type(part) is dict:
            for key, o in operand.items():
                yield from self.pairs(o, part.get(key), step)
        else:
            self.refuse_active(operand, step)

    def refuse_active(self, operand: Any, step: Call) -> None:
        """Raise for an argument that gets no cotangent though the gradient flows into it."""
        if any(v in self.active for v in variables(operand)):
            raise NoDerivativeError(
                f"the rule of {function_name(step.function)} gives no cotangent for an argument "
                f"that is differentiated{at(step)}. Leave that argument constant, or state a rule "
                f"with srcgrad.defvjp."
            )


NUMPY_SCALARS: dict[str, Any] = {"float": np.float64, "complex": np.complex128, "bool": np.bool_}


class quiet(warnings.catch_warnings):
    """Context: rules warn of nothing, they are run where the user's code does not look."""

    def __enter__(self) -> Any:
        super().__enter__()
        warnings.simplefilter("ignore", RuntimeWarning)
        return None


def active_variables(steps: Iterable[Step], sources: Iterable[Var]) -> set[Var]:
    """Return the float and complex variables that depend on `sources`."""
    active = set(sources)
    for step in steps:
        if any(v in active for v in step.reads()) and not is_nograd(step):
            active.update(v for v in step.outs if v.dtype.kind in "fcO")
    return active


def is_nograd(step: Step) -> bool:
    return rule_kind(step) in ("nograd", "cut")


def rule_kind(step: Step) -> str | None:
    """Return the kind of a step's rule, None where it has none."""
    rule = rule_of(step.function) if type(step) is Call else None
    return None if rule is None else rule.kind


# Values that were not taken -----------------------------------------------------------------------

# Functions that choose pass the cotangent on where they took a value and give a zero elsewhere.
# Where the value that was not taken has an infinite derivative, ``0 * inf`` would be nan: there the
# rule is evaluated at a safe point instead, and the zero stays.
CHOOSING = frozenset({np.maximum, np.minimum, np.fmax, np.fmin})
NAN_FUNCTIONS = frozenset(
    {np.nansum, np.nanmean, np.nanvar, np.nanstd, np.nanprod, np.nanmax, np.nanmin}
)
SELECTING = frozenset(
    {np.select, np.choose, np.clip, np.nan_to_num, np.max, np.min, np.amax, np.amin, np.compress}
)
# The adjoints of these put each element of the cotangent in its place, or in several.
MOVING = frozenset(
    {
        np.reshape, np.ravel, np.transpose, np.matrix_transpose, np.swapaxes, np.moveaxis,
        np.expand_dims, np.squeeze, np.broadcast_to, np.flip, np.rot90, np.roll, np.tile, np.repeat,
        np.diag, np.diagonal, np.tril, np.triu, np.copy, np.ndarray.astype, operator.getitem,
        np.take, np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack,
        np.array, np.asarray, np.sum, np.mean, np.atleast_1d, np.atleast_2d, float, np.float64,
        np.float32,
    }
)  # fmt: skip
SAFE_POINT = 0.5
SAFE_POINTS = {np.arccosh: 2.0}


def is_elementwise(step: Call) -> bool:
    function = step.function
    return type(function) is np.ufunc and function.signature is None and function.nout == 1


def is_selecting(step: Call) -> bool:
    """Tell whether a function chooses among elements by their values, or by a mask."""
    if step.function is not operator.getitem:
        return step.function in SELECTING
    return any(v.dtype == bool for v in variables(step.args[1]))


def nonzero(part: Any) -> Any:
    """Return where a cotangent is not zero, in its structure."""
    if part is None:
        return None
    return [nonzero(p) for p in part] if type(part) in (list, tuple) else part != 0


def both(a: Any, b: Any) -> Any:
    """Return the mask of what two masks let through; None lets all through."""
    return b if a is None else a if b is None else a & b


def narrowed(taken: Any, shape: tuple[int, ...]) -> Any:
    """Return where an operand of `shape` was taken; `taken` says it of what it was broadcast to."""
    extra = max(taken.ndim - len(shape), 0)
    first = max(len(shape) - taken.ndim, 0)  # the axes before it have no counterpart in `taken`
    inner = (i for i, n in enumerate(shape[first:], extra) if n == 1 and taken.shape[i] != 1)
    axes = (*range(extra), *inner)
    if axes:
        taken = np.any(taken, axis=axes, keepdims=True)
        taken = np.reshape(taken, taken.shape[extra:])
    return taken if taken.shape == shape else np.broadcast_to(taken, shape)


def safe(function: Any, taken: Any, value: Any) -> Any:
    """Return `value` with a safe point where it was not taken."""
    if type(value) not in TRACED or value.dtype.kind not in "fc":
        return value
    return np.where(taken, value, SAFE_POINTS.get(function, SAFE_POINT))


OPERANDS = frozenset({"a", "b", "x1", "x2", "x", "y", "v"})


def as_operand(value: Any) -> Any:
    """Return a list of numbers as the array that NumPy makes of it."""
    return do(np.array, (value,)) if type(value) is list or type(value) is tuple else value


# The chores ---------------------------------------------------------------------------------------


def ones_of(var: Var) -> Traced:
    """Return the unit seed of a target: a one in its dtype, so that float32 stays float32."""
    if var.kind == "array":
        return runtime.ones(var.shape, var.dtype)
    return do(var.dtype.type, (1.0,))


def times(g: Any, part: Any) -> Any:
    """Return ``g * part``; the parts 1 and -1 stand for themselves."""
    if type(part) is int and part in (1, -1):
        return g if part == 1 else -g
    return g * part


def fitted(g: Any, var: Var) -> Any:
    """Return `g` summed down (or broadcast up) to the shape of `var`, in its dtype."""
    g = real_of(g, var)
    if g.shape != var.shape:
        g = summed(g, var.shape)
    return cast(g, var)


def real_of(g: Any, var: Var) -> Any:
    return np.real(g) if g.dtype.kind == "c" and var.dtype.kind != "c" else g


def cast(g: Any, var: Var) -> Any:
    g = real_of(g, var)
    if g.dtype == var.dtype:
        return g
    if type(g.value) is np.ndarray:
        return g.astype(var.dtype)
    return do(var.dtype.type, (g,))


def summed(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum the axes of `g` along which an operand of `shape` was broadcast."""
    if g.ndim < len(shape):
        return np.broadcast_to(g, shape)
    extra = g.ndim - len(shape)
    if not shape:
        return np.sum(g)
    if extra == 1 and shape == g.shape[1:]:
        return np.sum(g, axis=0)
    inner = [i for i, n in enumerate(shape, extra) if n == 1 and g.shape[i] != 1]
    if not inner:
        g = np.sum(g, axis=tuple(range(extra)))
    else:
        g = np.sum(g, axis=(*range(extra), *inner), keepdims=True)
        g = np.reshape(g, shape) if extra else g
    return g if g.shape == shape else np.broadcast_to(g, shape)


def holds_objects(step: Call) -> bool:
    """Tell whether an argument is an object of the user's, which may change between calls."""
    plain = (Var, int, float, complex, bool, str, type(None), type(Ellipsis), np.dtype, type)
    return any(not issubclass(type(leaf), plain) for leaf in leaves((step.args, step.kwargs)))


def refuse_shape(g: Any, var: Var, step: Call) -> None:
    if g.shape != var.shape:
        raise CotangentError(
            f"the rule of {function_name(step.function)} gave a cotangent of shape {g.shape} for "
            f"an argument of shape {var.shape}{at(step)}. Give one of the argument's shape."
        )


def checked(part: Any, operand: Var, step: Call) -> Any:
    """Return the cotangent that a rule gave, traced; raise where it cannot be one."""
    if type(part) not in TRACED:
        part = do(np.asarray, (part,))
    if part.dtype.kind not in "fc":
        raise CotangentError(
            f"the rule of {function_name(step.function)} gave a cotangent of dtype {part.dtype} "
            f"for an argument of dtype {operand.dtype}{at(step)}. Give floats."
        )
    return part


# Arguments of rules -------------------------------------------------------------------------------

_names: dict[Any, list[str]] = {}


def rule_names(body: Any) -> list[str]:
    """Return the names of a rule's arguments after `g` and `out`."""
    if body not in _names:
        _names[body] = list(inspect.signature(body).parameters)[2:]
    return _names[body]


def bound_arguments(step: Call, body: Any) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Return the call's arguments by name, or those to be given by position.

    Arguments that equal their defaults are left out; one that the rule does not name is an error.
    """
    signature = signature_of(step.function)
    if signature is None or any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()):
        return _named_only(step, body, dict(step.kwargs)), step.args
    bound = signature.bind(*step.args, **step.kwargs).arguments
    defaults = {n: p.default for n, p in signature.parameters.items()}
    extra = next((n for n, p in signature.parameters.items() if p.kind is p.VAR_KEYWORD), "")
    named = {n: a for n, a in bound.items() if n != extra and not same_static(a, defaults[n])}
    return _named_only(step, body, named | bound.get(extra, {})), ()


def _named_only(step: Call, body: Any, named: dict[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(body).parameters
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for name in named:
        if not open_ended and name not in rule_names(body):
            raise no_argument(step, name)
    return named


def same_static(a: Any, default: Any) -> bool:
    if a is default:
        return True
    plain = type(a) in (bool, int, float, str, type(None))
    return plain and type(a) is type(default) and bool(a == default)


def signature_of(function: Any) -> inspect.Signature | None:
    """Return the signature of a function, None where it has none to be trusted."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


# Errors -------------------------------------------------------------------------------------------


def at(step: Any) -> str:
    """Say where the user's program did a step: ``, in loss (train.py:12)``."""
    if step.origin is None:
        return ""
    code, offset = step.origin
    line = next((n for start, end, n in code.co_lines() if start <= offset < end), 0)
    return f", in {code.co_name} ({os.path.basename(code.co_filename)}:{line})"


def no_rule(step: Call) -> NoDerivativeError:
    name = function_name(step.function)
    return NoDerivativeError(
        f"{name} has no derivative rule, and the gradient flows through it{at(step)}. "
        f"State one with srcgrad.defvjp({name})(rule), or cut the gradient with "
        f"srcgrad.stop_gradient."
    )


def no_argument(step: Call, name: str) -> NoDerivativeError:
    return NoDerivativeError(
        f"the rule of {function_name(step.function)} does not know the argument "
        f"{name!r}{at(step)}. Leave it out, or state a rule with srcgrad.defvjp."
    )


__all__ = ["Adjoint", "reverse"]
