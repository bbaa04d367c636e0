"""Nested containers, on optree: list, tuple, dict, named tuple, dataclass; None is a leaf."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterable
from typing import Any

import optree

NAMESPACE = "srcgrad"
_lock = threading.Lock()
_seen: set[type] = {float, int, bool, complex, str, type(None), list, tuple, dict}


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """Return the leaves of a nested container and its structure.

    Examples
    --------
    >>> leaves, structure = flatten({"b": 1.0, "a": [2.0, None]})
    >>> leaves
    [2.0, None, 1.0]
    >>> unflatten(structure, leaves)
    {'b': 1.0, 'a': [2.0, None]}
    """
    register_dataclasses(tree)
    leaves, structure = optree.tree_flatten(tree, none_is_leaf=True, namespace=NAMESPACE)
    return leaves, structure


def unflatten(structure: Any, leaves: Iterable[Any]) -> Any:
    """Return the container of `structure` with `leaves`."""
    return optree.tree_unflatten(structure, leaves)


def tree_map(function: Callable[..., Any], tree: Any) -> Any:
    """Return the container with `function` applied to each leaf."""
    leaves, structure = flatten(tree)
    return unflatten(structure, [function(leaf) for leaf in leaves])


def paths(structure: Any) -> list[tuple[Any, ...]]:
    """Return the keys and indices that lead to each leaf."""
    return list(optree.treespec_paths(structure))


class _Leaf:
    def __repr__(self) -> str:
        return "*"


def described(structure: Any) -> str:
    """Return a structure as people write it.

    Examples
    --------
    >>> described(flatten({"a": [1.0, 2.0]})[1])
    "{'a': [*, *]}"
    """
    return repr(unflatten(structure, [_Leaf()] * structure.num_leaves))


def register_container(
    cls: type,
    flatten: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, Iterable[Any]], Any],
) -> type:
    """Let instances of `cls` be differentiated leaf by leaf.

    Parameters
    ----------
    cls : type
    flatten : callable
        ``flatten(instance)`` gives the children and whatever `unflatten` needs besides.
    unflatten : callable
        ``unflatten(rest, children)`` gives an instance back.

    Examples
    --------
    >>> import srcgrad
    >>> class Line:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> _ = srcgrad.register_container(
    ...     Line, lambda line: ((line.a, line.b), None), lambda _, ab: Line(*ab))
    >>> g = srcgrad.grad(lambda line: line.a * 2.0 + line.b)(Line(1.0, 3.0))
    >>> float(g.a), float(g.b)
    (2.0, 1.0)
    """
    _seen.add(cls)
    optree.register_pytree_node(
        cls, lambda x: flatten(x), lambda rest, kids: unflatten(rest, kids), namespace=NAMESPACE
    )
    return cls


def register_dataclasses(tree: Any) -> None:
    """Register the dataclasses that stand in a container, on first sight."""
    t = type(tree)
    if t in (list, tuple, dict):
        for item in tree.values() if t is dict else tree:
            if type(item) not in _seen:
                register_dataclasses(item)
        return
    if t not in _seen and dataclasses.is_dataclass(t):
        with _lock:
            if t not in _seen:
                _register_dataclass(t)
    if t in _seen and dataclasses.is_dataclass(t):
        for field in dataclasses.fields(t):
            register_dataclasses(getattr(tree, field.name, None))


def _register_dataclass(cls: Any) -> None:
    names = tuple(f.name for f in dataclasses.fields(cls))

    def take(instance: Any) -> tuple[Any, ...]:
        return tuple(getattr(instance, n) for n in names), None, names

    def give(_: Any, children: Iterable[Any]) -> Any:
        made = object.__new__(cls)
        for name, child in zip(names, children, strict=True):
            object.__setattr__(made, name, child)
        return made

    optree.register_pytree_node(cls, take, give, namespace=NAMESPACE)
    _seen.add(cls)


def is_container(value: Any) -> bool:
    """Tell whether a value is flattened rather than a leaf."""
    if type(value) in (list, tuple, dict):
        return True
    register_dataclasses(value)
    leaf = optree.tree_is_leaf(value, none_is_leaf=True, namespace=NAMESPACE)
    return not leaf
