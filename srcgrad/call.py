"""One traced run of a user's function: its arguments in, its result out, its adjoint found."""

from __future__ import annotations

import functools
import inspect
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import tree
from .capture.arrays import Traced, is_value, plain
from .capture.hooks import Capture, call, leaks
from .capture.recorder import ARRAYS, TRACED, Handle, alias, capturing, live, recording
from .errors import ArgumentError, ArrayTypeError, NoDerivativeError, place
from .specialize import cache

FLOATS = frozenset({float, complex})
ACTIVE_KINDS = "fc"


# The user's function ------------------------------------------------------------------------------


class Parameters:
    """What a call of the user's function needs to know of its signature."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        self.positional = [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
        self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        self.names = [p.name for p in parameters]
        self.star = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")

    def name(self, i: int) -> str:
        n = len(self.positional)
        return self.positional[i] if i < n else f"{self.star}_{i - n}"


def identity_of(function: Any) -> Any:
    """Return what the trie of a function hangs on: its code, else the callable itself."""
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is not None:
        return getattr(function, "__srcgrad_identity__", code)
    method = getattr(type(function), "__call__", None)  # noqa: B004  (wanted for its code)
    return getattr(method, "__code__", function)


def refuse_function(function: Any) -> None:
    """Raise where there is nothing to differentiate: no callable, a coroutine, a generator."""
    if not callable(function):
        raise TypeError(
            f"{function!r} is not callable, in {place()}. "
            "Give the function itself: grad(f), not grad(f(x))."
        )
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{cited(function)} is async and cannot be differentiated. Define it with def alone."
        )
    if inspect.isgeneratorfunction(function):
        raise TypeError(
            f"{cited(function)} is a generator and has no value to differentiate. "
            "Return a value, such as a list or a sum."
        )


def name_of(function: Any) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


def cited(function: Any) -> str:
    """Return a function's name with its place: ``loss (train.py:11)``."""
    code = getattr(getattr(function, "func", function), "__code__", None)
    if code is None:
        return name_of(function)
    return f"{name_of(function)} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


# Running ------------------------------------------------------------------------------------------


@dataclass
class Run:
    """A traced run: the recorder, the traced leaves of each differentiated argument, the result."""

    function: Any
    recorder: Capture
    arguments: list[Argument] = field(default_factory=list)
    out: Any = None
    sources: tuple[Handle, ...] = field(default=())


@dataclass
class Argument:
    """A differentiated argument: what the user gave, and its leaves as the trace knows them."""

    name: str
    given: Any
    leaves: list[Any]
    structure: Any

    def traced(self) -> list[Handle]:
        return [leaf for leaf in self.leaves if type(leaf) in TRACED and is_active(leaf.value)]

    def rebuild(self, results: dict[int, Any], otherwise: Callable[[Any], Any]) -> Any:
        """Return the argument's structure with a result per leaf; None where there is no float."""
        leaves = [
            results.get(leaf.id) if type(leaf) in TRACED and is_active(leaf.value) else None
            for leaf in self.leaves
        ]
        leaves = [
            otherwise(leaf) if r is None and type(leaf) in TRACED and is_active(leaf.value) else r
            for r, leaf in zip(leaves, self.leaves, strict=True)
        ]
        return leaves[0] if self.structure is None else tree.unflatten(self.structure, leaves)


def is_active(value: Any) -> bool:
    """Tell whether a value can be differentiated with respect to."""
    t = type(value)
    return t in FLOATS or (issubclass(type(value), ARRAYS) and value.dtype.kind in ACTIVE_KINDS)


class _Running(threading.local):
    functions: tuple[Any, ...] = ()


running = _Running()


def trace_run(
    function: Callable[..., Any],
    parameters: Parameters,
    argnums: tuple[int | str, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    copy: bool = False,
) -> Run:
    """Run `function` under a recorder and return what happened."""
    recorder = Capture(cache.root(identity_of(function)), outlives=copy)
    values = list(args)
    named = dict(kwargs)
    run = Run(function, recorder)
    chosen = [locate(function, parameters, a, args, named) for a in argnums]
    outermost = not capturing()
    if outermost:
        leaks.begin()
    try:
        by_key: dict[Any, Argument] = {}
        for i, value in enumerate(values):
            values[i] = enter(run, by_key, value, i, parameters.name(i), i in chosen, copy)
        for name, value in named.items():
            named[name] = enter(run, by_key, value, name, name, name in chosen, copy)
        run.arguments = [by_key[key] for key in chosen]
        run.sources = tuple([h for a in run.arguments for h in a.traced()])
        with recording(recorder):
            run.out = unswept(call(function, *values, **named))
        return run
    finally:
        if outermost and not live.recorders:  # what a tape records goes on being traced
            leaks.sweep()


def unswept(out: Any) -> Any:
    """Return a result in containers of its own, which keep their traced values."""
    if type(out) in TRACED or not tree.is_container(out):
        return out
    return tree.tree_map(lambda leaf: leaf, out)


def locate(
    function: Any, parameters: Parameters, argnum: int | str, args: Any, named: dict[str, Any]
) -> int | str:
    """Return where the argument `argnum` of this call stands: a position, or a keyword."""
    positional = parameters.positional
    if type(argnum) is str:
        if argnum in named:
            return argnum
        if argnum in positional and positional.index(argnum) < len(args):
            return positional.index(argnum)
        return _default(function, parameters, argnum, named)
    index = int(argnum)
    if index < 0:
        index += max(len(positional), len(args))
    if 0 <= index < len(args):
        return index
    if 0 <= index < len(positional):
        name = positional[index]
        return name if name in named else _default(function, parameters, name, named)
    raise TypeError(
        f"argnums names argument {argnum} of {cited(function)}, which was given {len(args)} "
        f"arguments in {place()}. Arguments count from 0."
    )


def _default(function: Any, parameters: Parameters, name: str, named: dict[str, Any]) -> str:
    if name not in parameters.defaults:
        known = ", ".join(parameters.names)
        raise TypeError(
            f"argnums names {name!r}, which {cited(function)} was not given in {place()}. "
            f"Its parameters are ({known})."
        )
    named[name] = parameters.defaults[name]
    return name


def enter(
    run: Run, chosen: dict[Any, Argument], value: Any, key: Any, name: str, active: bool, copy: bool
) -> Any:
    """Take an argument into the trace, and return what the traced function gets for it."""
    if not active:
        return enter_other(run.recorder, value, name, copy)
    argument = chosen[key] = enter_argument(run.recorder, name, value, copy, run.function)
    if argument.structure is None:
        return argument.leaves[0]
    return tree.unflatten(argument.structure, argument.leaves)


def enter_argument(recorder: Capture, name: str, given: Any, copy: bool, function: Any) -> Argument:
    """Make the leaves of a differentiated argument inputs of the trace, each a fresh variable."""
    given_type = type(given)
    if given_type in TRACED or given_type in FLOATS or issubclass(type(given), ARRAYS):
        leaves, structure, names = [given], None, [name]
    elif tree.is_container(given):
        leaves, structure = tree.flatten(given)
        names = leaf_names(name, structure)
    else:
        raise not_differentiable(name, given, function)
    entered_leaves = [
        enter_leaf(recorder, leaf, n, copy) if type(leaf) in TRACED or is_traceable(leaf) else leaf
        for leaf, n in zip(leaves, names, strict=True)
    ]
    argument = Argument(name, given, entered_leaves, structure)
    if not argument.traced():
        raise not_differentiable(name, given, function)
    return argument


def enter_leaf(recorder: Capture, leaf: Any, name: str, copy: bool) -> Handle:
    value = leaf.value if type(leaf) in TRACED else checked_array(leaf, name)
    fresh = Traced(value.copy() if copy and type(value) is np.ndarray else value)
    if type(leaf) in TRACED:
        alias(fresh, leaf)
    recorder.enter(fresh, "argument", name)
    return fresh


def is_traceable(value: Any) -> bool:
    return type(value) in FLOATS or issubclass(type(value), ARRAYS)


def checked_array(value: Any, name: str, what: str = "argument") -> Any:
    """Return an array; raise for one of a subclass or of objects."""
    if not issubclass(type(value), np.ndarray):
        return value
    if type(value) not in (np.ndarray, np.memmap):
        raise ArrayTypeError(
            f"{what} {name!r} is a {type(value).__name__}, whose operations have rules of their "
            f"own, in {place()}. Pass a plain array: np.asarray({name})."
        )
    if value.dtype.hasobject:
        raise ArrayTypeError(
            f"{what} {name!r} is an array of dtype object, in {place()}. Make it one of numbers: "
            f"{name}.astype(float)."
        )
    return value


def enter_other(recorder: Capture, value: Any, name: str, copy: bool) -> Any:
    """Make an argument that is not differentiated an input, where it is an array or a float."""
    if type(value) in TRACED:
        return value
    if type(value) in FLOATS or (issubclass(type(value), ARRAYS) and is_value(value)):
        return enter_leaf(recorder, value, name, copy)
    return value


_leaf_names: dict[Any, list[str]] = {}


def leaf_names(name: str, structure: Any) -> list[str]:
    """Return a name for each leaf of a container.

    ``params['w']`` is w, ``layers[0][1]`` is layers_0_1.
    """
    key = (name, structure)
    if key not in _leaf_names:
        found: list[str] = []
        for path in tree.paths(structure):
            word = leaf_name(name, path)
            found.append(word if word not in found else leaf_name(name, path, full=True))
        _leaf_names[key] = found
    return _leaf_names[key]


def leaf_name(name: str, path: tuple[Any, ...], full: bool = False) -> str:
    words = [p for p in path if type(p) is str and p.isidentifier()]
    if words and not full and path and path[-1] == words[-1]:
        return words[-1]
    parts = [str(p) if str(p).isidentifier() or type(p) is int else "" for p in path]
    return "_".join([name, *filter(None, parts)])


def not_differentiable(name: str, given: Any, function: Any) -> ArgumentError:
    what = f"argument {name!r} of {cited(function)}"
    if given is None:
        return ArgumentError(f"{what} is None, in {place()}. Pass an array or a float.")
    if type(given) in (int, bool):
        return ArgumentError(
            f"{what} is the {type(given).__name__} {given}, which has no derivative, in {place()}. "
            f"Make it a float: pass {float(given)}."
        )
    if type(given) in TRACED or issubclass(type(given), ARRAYS):
        return ArgumentError(
            f"{what} has dtype {given.dtype}, which has no derivative, in {place()}. "
            f"Make it an array of floats: {name}.astype(float)."
        )
    if name in ("self", "cls"):
        return ArgumentError(
            f"{what} is an object that holds no floats, in {place()}. "
            "Differentiate another argument: argnums=1."
        )
    if isinstance(given, str) or tree.is_container(given):
        return ArgumentError(f"{what} holds no floats: {given!r}, in {place()}. Pass floats.")
    return ArgumentError(
        f"{what} is a {type(given).__name__}, which is no container of arrays, in {place()}. "
        "Differentiate with respect to a list, dict or dataclass of arrays, or say how it holds "
        "them with srcgrad.register_container; or choose another argument: argnums=1."
    )


def plain_tree(value: Any) -> Any:
    """Return a function's extra result with plain arrays, unless an outer run goes on."""
    if live.recorders:
        return value
    if type(value) in TRACED:
        return plain(value)
    if tree.is_container(value):
        return tree.tree_map(lambda leaf: leaf.value if type(leaf) in TRACED else leaf, value)
    return value


__all__ = ["NoDerivativeError"]
