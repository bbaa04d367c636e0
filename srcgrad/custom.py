"""The user's own rules and marks: primitive, defvjp, custom_vjp, custom_gradient, stop_gradient,
grad_hook.

Rules in the notation of the built-in ones pair cotangents bilinearly (no conj). The user functions
of `custom_vjp`, `custom_gradient` and `grad_hook` see the public, conjugated cotangents.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import tree
from .call import cited, name_of
from .capture.arrays import Traced, do, holds_traced, is_value
from .capture.hooks import entered
from .capture.recorder import TRACED, live
from .errors import CotangentError, NoDerivativeError, OutputError, place
from .rules.table import RULES, Rule, state_user_rule

# Opaque steps and their rules ---------------------------------------------------------------------


def primitive(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make one opaque step of a function: it runs on plain arrays, and needs a rule of its own.

    Parameters
    ----------
    function : callable
        Takes and gives plain arrays or floats.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> @srcgrad.primitive
    ... def cube(x):
    ...     return x**3
    >>> @srcgrad.defvjp(cube)
    ... def cube_vjp(g, out, x):
    ...     return 3 * g * x**2
    >>> srcgrad.grad(lambda x: np.sum(cube(x)))(np.array([1.0, 2.0]))
    array([ 3., 12.])
    """

    @functools.wraps(function)
    def step(*args: Any, **kwargs: Any) -> Any:
        if not holds_traced(args, kwargs):
            return function(*args, **kwargs)
        return do(step, args, kwargs)

    return step


def defvjp(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """State the reverse rule of a primitive, or of a third-party function.

    Parameters
    ----------
    function : callable
        A primitive, or a function of a package that is not traced into.

    Returns
    -------
    decorator
        For ``rule(g, out, *args, **kwargs)``, which gives the cotangent of the argument, or a
        tuple for several (None: no derivative). `g` pairs bilinearly: no conj.

    Raises
    ------
    CotangentError
        At a call, where the rule gives another shape than the argument's.
    """

    def add(rule: Callable[..., Any]) -> Callable[..., Any]:
        state_user_rule(function, rule)
        return rule

    return add


# Marks --------------------------------------------------------------------------------------------


def stop_gradient(x: Any) -> Any:
    """Return `x`, as a value through which no gradient flows.

    Examples
    --------
    >>> import srcgrad
    >>> srcgrad.grad(lambda x: x * srcgrad.stop_gradient(x))(3.0)
    np.float64(3.0)
    """
    if type(x) in TRACED:
        return do(stopped, (x,))
    if tree.is_container(x):
        return tree.tree_map(stop_gradient, x)
    return x


def stopped(x: Any) -> Any:
    """Be a step that is `x` itself and has no derivative."""
    return x


RULES[stopped] = Rule("cut")


def grad_hook(x: Any, function: Callable[[Any], Any]) -> Any:
    """Return `x`; on the way back its cotangent becomes ``function(cotangent)``.

    The function runs at every backward pass, so it may print or clip. Where it gives None, the
    cotangent stays as it is.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> def f(x):
    ...     x = srcgrad.grad_hook(x, lambda g: np.clip(g, -1.0, 1.0))
    ...     return np.sum(x**2)
    >>> srcgrad.grad(f)(np.array([0.25, 4.0]))
    array([0.5, 1. ])
    """
    return do(hooked, (x, boxed(function))) if type(x) in TRACED else x


def hooked(x: Any, function: Any) -> Any:
    """Be a step that is `x` itself, and whose cotangent the boxed function edits."""
    return x


def _hooked_vjp(g: Any, out: Any, x: Any, function: Any) -> Any:
    edited = user_call(unboxed(function), conj(g))
    return g if edited is None else conj_any(edited)


RULES[hooked] = Rule("vjp", _hooked_vjp, strict=True, once=True)


def boxed(thing: Any) -> Traced:
    """Return any object as a value of a trace: what a rule needs of this very call."""
    box = np.empty((), dtype=object)
    box[()] = thing
    return Traced(box)


def unboxed(box: Any) -> Any:
    return box.value[()]


def conj(g: Any) -> Any:
    return np.conj(g) if g is not None and g.dtype.kind == "c" else g


def user_call(function: Any, *args: Any) -> Any:
    return (entered(function) or function)(*args)


# custom_vjp and custom_gradient -------------------------------------------------------------------


class custom_vjp:
    """A function with a reverse rule of the user's own, in JAX's form.

    ``f.defvjp(fwd, bwd)``: ``fwd(*args)`` gives ``(output, residuals)``; ``bwd(residuals, g)``
    gives a tuple with one cotangent per argument (None: zero).

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> @srcgrad.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, g: (np.clip(g, -1.0, 1.0),))
    >>> srcgrad.grad(lambda x: 5.0 * clipped(x))(2.0)
    np.float64(1.0)
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """State the two functions that make up the rule.

        Parameters
        ----------
        fwd : callable
            ``fwd(*args)`` gives ``(output, residuals)``; the residuals are any nest of values that
            `bwd` needs.
        bwd : callable
            ``bwd(residuals, g)`` gives a tuple with one cotangent per argument, each of the
            argument's structure and shapes (None: zero). `g` looks like the output.
        """
        self.fwd, self.bwd = fwd, bwd

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not live.recorders or not nest_holds_traced(args, kwargs):
            return self.function(*args, **kwargs)
        if self.fwd is None or self.bwd is None:
            raise NoDerivativeError(
                f"{cited(self.function)} is a custom_vjp without a rule, in {place()}. "
                f"Say {self.function.__name__}.defvjp(fwd, bwd)."
            )
        args = _positional(self.function, args, kwargs)
        result = user_call(self.fwd, *args)
        if type(result) is not tuple or len(result) != 2:
            raise OutputError(
                f"the forward function of {self.function.__name__} gave a "
                f"{type(result).__name__}, in {place()}. Let it return (output, residuals)."
            )
        bwd = self.bwd
        return _custom_step(
            result[0], args, result[1], lambda kept, g: user_call(bwd, kept, g), name_of(self)
        )


def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function its own gradient, in TensorFlow's form.

    Parameters
    ----------
    function : callable
        Gives ``(output, grad)``, where ``grad(upstream)`` gives the cotangent of the argument, or
        a tuple (or list) of one per argument.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> @srcgrad.custom_gradient
    ... def log1pexp(x):
    ...     e = np.exp(x)
    ...     return np.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))
    >>> srcgrad.grad(log1pexp)(100.0)
    np.float64(1.0)
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not live.recorders or not nest_holds_traced(args, kwargs):
            return function(*args, **kwargs)[0]
        args = _positional(function, args, kwargs)
        out, backward = user_call(function, *args)
        return _custom_step(
            out, args, None, lambda _, g: user_call(backward, *_listed(g)), name_of(function)
        )

    return call


def _listed(g: Any) -> Any:
    return g if type(g) is tuple else (g,)


def nest_holds_traced(*nests: Any) -> bool:
    """Tell whether a traced value stands in a nested container, of whatever class."""
    return any(type(leaf) in TRACED for leaf in tree.flatten(nests)[0])


def _positional(function: Any, args: Any, kwargs: Any) -> Any:
    """Return all arguments by position, with the defaults: what a rule of the user's takes."""
    bound = signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


@functools.lru_cache(maxsize=1024)
def signature(function: Any) -> inspect.Signature:
    return inspect.signature(function)


class Nest:
    """A nested container whose numbers stand in a step, and all else beside it."""

    def __init__(self, nest: Any) -> None:
        self.leaves, self.structure = tree.flatten(nest)
        self.places = [
            i for i, leaf in enumerate(self.leaves) if type(leaf) in TRACED or is_value(leaf)
        ]
        self.values = [self.leaves[i] for i in self.places]
        for i in self.places:
            self.leaves[i] = None

    def filled(self, values: Iterable[Any]) -> Any:
        """Return the container with `values` in the places of its numbers."""
        leaves = list(self.leaves)
        for i, value in zip(self.places, values, strict=True):
            leaves[i] = value
        return tree.unflatten(self.structure, leaves)


def _custom_step(out: Any, args: Any, residuals: Any, pull: Any, name: str) -> Any:
    """Record a step that is `out` itself; its cotangent goes to `args` by `pull` alone."""
    results, given, kept = Nest(out), Nest(args), Nest(residuals)
    if not results.values:
        return out
    call = boxed((pull, results, given, kept, name))
    several = len(results.values) > 1
    step = custom_outputs if several else custom_output
    made = do(step, (results.values, given.values, kept.values, call))
    for nest in (results, given, kept):
        nest.values = []  # they stand in the step; no value is kept alive by two
    return results.filled(made if several else (made,))


def custom_output(outs: Any, flat: Any, kept: Any, call: Any) -> Any:
    """Be the result of a function with its own rule."""
    return outs[0]


def custom_outputs(outs: Any, flat: Any, kept: Any, call: Any) -> Any:
    """Be the results of a function with its own rule."""
    return tuple(outs)


def _custom_vjp(g: Any, out: Any, outs: Any, flat: Any, kept: Any, call: Any) -> Any:
    pull, results, given, residuals, name = unboxed(call)
    gs = g if type(g) is tuple else (g,)
    filled = [np.zeros_like(o) if c is None else conj(c) for c, o in zip(gs, outs, strict=True)]
    found = pull(residuals.filled(kept), results.filled(filled))
    return None, cotangents(found, given, flat, name), None, None


def cotangents(found: Any, given: Nest, flat: Any, name: str) -> list[Any]:
    """Return what a backward function gave, one cotangent per number among the arguments."""
    args = given.filled(flat)
    single_list = len(args) == 1 and type(args[0]) is list
    listed = type(found) is tuple or (type(found) is list and not single_list)
    parts = tuple(found) if listed else (found,)
    if len(parts) != len(args):
        raise CotangentError(
            f"the backward function of {name} gave {len(parts)} cotangents for {len(args)} "
            f"arguments, in {place()}. Give a tuple with one for each (None: zero)."
        )
    leaves = [
        leaf for arg, part in zip(args, parts, strict=True) for leaf in spread(arg, part, name)
    ]
    return [conj_any(leaves[i]) for i in given.places]


def spread(arg: Any, part: Any, name: str) -> list[Any]:
    """Return the cotangent of an argument leaf by leaf."""
    leaves, structure = tree.flatten(arg)
    if part is None:
        return [None] * len(leaves)
    found, shape = tree.flatten(part)
    if shape != structure:
        raise CotangentError(
            f"the backward function of {name} gave a cotangent of the structure "
            f"{tree.described(shape)} for an argument of {tree.described(structure)}, in "
            f"{place()}. Give one of the argument's structure (None: zero)."
        )
    return found


def conj_any(part: Any) -> Any:
    return conj(part) if part is None or type(part) in TRACED else np.conj(part)


for _step in (custom_output, custom_outputs):
    RULES[_step] = Rule("vjp", _custom_vjp, strict=True, once=True)
