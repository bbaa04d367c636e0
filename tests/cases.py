"""What a row of a rule table is, and the one body that checks all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from srcgrad.testing import check_grads


@dataclass(frozen=True)
class Row:
    """One line of a table: `f` calls `function` on `args`; gradients of `order` are checked."""

    function: Callable[..., Any]
    f: Callable[..., Any]
    args: tuple[Any, ...]
    order: int = 2
    modes: tuple[str, ...] = ("rev",)


def row(function: Callable[..., Any], f: Callable[..., Any], *args: Any, order: int = 2) -> Row:
    """Write a row: ``row(np.sum, lambda x: np.sum(x, axis=0), x23)``."""
    return Row(function, f, args, order)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Return a float64 array of `shape`, standard normal, the same in every run."""
    return np.random.default_rng(seed + 7 * len(shape)).standard_normal(shape)


def uniform(low: float, high: float, *shape: int, seed: int = 0) -> np.ndarray:
    """Return a float64 array of `shape`, uniform in [low, high), the same in every run."""
    return np.random.default_rng(seed + 11 * len(shape)).uniform(low, high, shape)


def complex_normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Return a complex128 array of `shape`."""
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 1)


def name_of(row: Row) -> str:
    return f"{getattr(row.function, '__name__', row.function)}"


def table(rows: list[Row]) -> pytest.MarkDecorator:
    """Parametrize a test with `rows`, each named after its function."""
    return pytest.mark.parametrize("row", rows, ids=name_of)


def check(row: Row) -> None:
    """Check `row` against numerical derivatives."""
    check_grads(row.f, row.args, order=row.order, modes=row.modes)
