"""The user's own rules and marks: primitive, defvjp, custom_vjp, custom_gradient, stop_gradient,
grad_hook.

Rules in the notation of the built-in ones pair cotangents bilinearly (no conj). The user functions
of `custom_vjp`, `custom_gradient` and `grad_hook` see the public, conjugated cotangents.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import tree
from .capture.arrays import Traced, do, holds_traced, plain
from .capture.hooks import entered
from .capture.recorder import TRACED, live
from .errors import CotangentError, NoDerivativeError
from .rules.table import RULES, Rule

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
        RULES[function] = Rule("vjp", rule, strict=True)
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

    The function runs at every backward pass, so it may print or clip.

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
    return conj(user_call(unboxed(function), conj(g)))


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
        """State the forward function, which keeps residuals, and the backward function."""
        self.fwd, self.bwd = fwd, bwd

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not live.recorders or not holds_traced(args, kwargs):
            return self.function(*args, **kwargs)
        if self.fwd is None or self.bwd is None:
            raise NoDerivativeError(
                f"{self.function.__name__} is a custom_vjp without a rule. "
                f"Say {self.function.__name__}.defvjp(fwd, bwd)."
            )
        args = _positional(self.function, args, kwargs)
        out, residuals = user_call(self.fwd, *args)
        kept, structure = tree.flatten(residuals)
        bwd = self.bwd

        def pull(g: Any, kept: list[Any]) -> Any:
            return user_call(bwd, tree.unflatten(structure, kept), g)

        return _custom_step(out, args, kept, pull, self.function.__name__)


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
        if not live.recorders or not holds_traced(args, kwargs):
            return function(*args, **kwargs)[0]
        args = _positional(function, args, kwargs)
        out, backward = user_call(function, *args)
        return _custom_step(out, args, [], lambda g, _: user_call(backward, *_listed(g)), name)

    name = getattr(function, "__name__", "custom_gradient")
    return call


def _listed(g: Any) -> Any:
    return g if type(g) is tuple else (g,)


def _positional(function: Any, args: Any, kwargs: Any) -> Any:
    if not kwargs:
        return args
    import inspect

    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def _custom_step(out: Any, args: Any, kept: list[Any], pull: Any, name: str) -> Any:
    """Record a step that is `out` itself; its cotangent goes to `args` by `pull` alone."""
    flat, structure = tree.flatten(args)
    several = isinstance(out, (tuple, list))
    outs = tuple(out) if several else (out,)
    call = boxed((pull, structure, len(flat), name))
    result = record_custom(several, (outs, flat, kept, call))
    return type(out)(result) if several else result


def record_custom(several: bool, args: tuple[Any, ...]) -> Any:
    return do(custom_outputs if several else custom_output, args)


def custom_output(outs: Any, flat: Any, kept: Any, call: Any) -> Any:
    """Be the result of a function with its own rule."""
    return outs[0]


def custom_outputs(outs: Any, flat: Any, kept: Any, call: Any) -> Any:
    """Be the results of a function with its own rule."""
    return tuple(outs)


def _custom_vjp(g: Any, out: Any, outs: Any, flat: Any, kept: Any, call: Any) -> Any:
    pull, structure, n, name = unboxed(call)
    if type(g) is tuple:
        g = tuple(np.zeros_like(o) if c is None else conj(c) for c, o in zip(g, out, strict=True))
    else:
        g = conj(g)
    result = pull(g, kept)
    args = tree.unflatten(structure, flat)
    given = tuple(result) if type(result) in (tuple, list) else (result,)
    if len(given) != len(args):
        raise CotangentError(
            f"the backward function of {name} gave {len(given)} cotangents for {len(args)} "
            "arguments. Give a tuple with one for each (None: zero)."
        )
    parts: list[Any] = []
    for arg, part in zip(args, given, strict=True):
        leaves, shape = tree.flatten(arg)
        parts += [None] * len(leaves) if part is None else tree.flatten(part)[0]
    return None, [conj_any(p) for p in parts], None, None


def conj_any(part: Any) -> Any:
    if part is None or type(part) not in TRACED:
        return None if part is None else np.conj(part)
    return conj(part)


for _step in (custom_output, custom_outputs):
    RULES[_step] = Rule("vjp", _custom_vjp, strict=True, once=True)

__all__ = ["plain"]
