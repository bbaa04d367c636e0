"""The few helpers that rules and emitted text may call, each with its own rule.

The makers (`zeros`, `ones`, `full`, `arange`, `eye`) are NumPy's own functions that are written
down when a rule calls them, so that the adjoint makes the array instead of carrying it along.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def zeros(*args: Any, **kwargs: Any) -> Any:
    return np.zeros(*args, **kwargs)


def ones(*args: Any, **kwargs: Any) -> Any:
    return np.ones(*args, **kwargs)


def full(*args: Any, **kwargs: Any) -> Any:
    return np.full(*args, **kwargs)


def arange(*args: Any, **kwargs: Any) -> Any:
    return np.arange(*args, **kwargs)


def eye(*args: Any, **kwargs: Any) -> Any:
    return np.eye(*args, **kwargs)


def set_at(a: Any, index: Any, value: Any) -> Any:
    """Return a copy of `a` with ``a[index] = value``."""
    a = np.array(a)
    a[index] = value
    return a


def add_at(a: Any, index: Any, value: Any) -> Any:
    """Return a copy of `a` with `value` added at `index`, once for each time it is named."""
    a = np.array(a)
    np.add.at(a, index, value)
    return a
