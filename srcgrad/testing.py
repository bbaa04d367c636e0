"""check_grads: gradients against numerical derivatives."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import tree
from .api import vjp
from .call import is_active
from .errors import UnconnectedGradientWarning

STEP = {"e": 3e-2, "f": 3e-3, "d": 1e-6, "g": 1e-6, "F": 3e-3, "D": 1e-6, "G": 1e-6}
TOLERANCE = {"e": 5e-2, "f": 5e-3, "d": 2e-6, "g": 2e-6, "F": 5e-3, "D": 2e-6, "G": 2e-6}


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = ("rev",),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    seed: int = 0,
) -> None:
    """Compare the derivatives of `f` with central differences along random directions.

    Parameters
    ----------
    f : callable
        Gives an array, a float or a nest of them.
    args : sequence
        Where to check; float and complex leaves are varied.
    order : int
        2 checks the derivatives of the derivatives too, and so on.
    modes : sequence of {"rev"}
        Which kinds of derivatives to check.
    atol, rtol, eps : float, optional
        Tolerances and the step of the differences; by default those of the least precise dtype.
    seed : int
        Of the directions.

    Raises
    ------
    AssertionError
        They differ.

    Examples
    --------
    >>> import numpy as np
    >>> from srcgrad.testing import check_grads
    >>> check_grads(lambda x: np.sin(x) * x, (np.array([0.5, 1.5]),), order=2)
    """
    if set(modes) - {"rev"}:
        raise ValueError(f"modes are 'rev' at present, not {tuple(modes)}")
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnconnectedGradientWarning)
        _check_reverse(f, tuple(args), order, rng, (atol, rtol, eps))


def _check_reverse(f: Any, args: Any, order: int, rng: Any, settings: Any) -> None:
    value, pull = vjp(f, *args)
    weights = tree.tree_map(lambda leaf: _direction(leaf, rng), value)
    directions = tree.tree_map(lambda leaf: _direction(leaf, rng), args)
    dtype = _least(tree.flatten((value, args))[0])
    atol = settings[0] or TOLERANCE[dtype]
    rtol = settings[1] or TOLERANCE[dtype]
    eps = settings[2] or STEP[dtype]
    high, low = (f(*_moved(args, directions, s * eps)) for s in (0.5, -0.5))
    expected = (_inner(weights, high) - _inner(weights, low)) / eps
    found = _inner(pull(weights), directions)
    scale = 1 + max(abs(expected), abs(found))
    np.testing.assert_allclose(
        found, expected, rtol=rtol, atol=atol * scale, err_msg=f"derivative of order left: {order}"
    )
    if order > 1:
        _check_reverse(_pulled(f, args, weights), args, order - 1, rng, settings)


def _pulled(f: Any, args: Any, weights: Any) -> Any:
    def derivative(*args: Any) -> Any:
        cotangents = vjp(f, *args)[1](weights)
        return [c for c in tree.flatten(cotangents)[0] if c is not None]

    return derivative


def _direction(leaf: Any, rng: Any) -> Any:
    """Return a random direction of the shape and dtype of a leaf, None for one without floats."""
    if not is_active(leaf):
        return None
    shape, dtype = np.shape(leaf), np.result_type(leaf)
    made = rng.standard_normal(shape)
    if dtype.kind == "c":
        made = made + 1j * rng.standard_normal(shape)
    made = np.asarray(made).astype(dtype)
    return made if type(leaf) is np.ndarray else made[()]


def _least(leaves: list[Any]) -> str:
    chars = [np.result_type(v).char for v in leaves if is_active(v)]
    return min(chars, key=lambda c: np.finfo(c).precision, default="d")


def _moved(args: Any, directions: Any, step: float) -> Any:
    leaves, structure = tree.flatten(args)
    moves, _ = tree.flatten(directions)
    moved = [
        leaf if d is None else _as(leaf, leaf + np.result_type(leaf).type(step) * d)
        for leaf, d in zip(leaves, moves, strict=True)
    ]
    return tree.unflatten(structure, moved)


def _as(leaf: Any, value: Any) -> Any:
    if type(leaf) in (float, complex):
        return type(leaf)(value)
    return np.asarray(value) if type(leaf) is np.ndarray else value


def _inner(a: Any, b: Any) -> float:
    """Return the real inner product of two nests."""
    pairs = zip(tree.flatten(a)[0], tree.flatten(b)[0], strict=True)
    wide = np.longdouble
    return float(
        sum(
            np.sum(np.real(np.conj(x) * y), dtype=wide)
            for x, y in pairs
            if x is not None and y is not None
        )
    )
