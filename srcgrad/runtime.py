"""The few helpers that rules and emitted text may call, each with its own rule.

The makers (`zeros`, `ones`, `full`, `arange`, `eye`) are NumPy's own functions that are written
down when a rule calls them, so that the adjoint makes the array instead of carrying it along.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .capture.arrays import do, holds_traced
from .capture.recorder import live
from .trace import Function


def _maker(function: Function) -> Function:
    def made(*args: Any, **kwargs: Any) -> Any:
        return do(function, args, kwargs) if live.recorders else function(*args, **kwargs)

    made.__name__ = made.__qualname__ = function.__name__
    made.__doc__ = f"Do np.{function.__name__}, and record it."
    return made


zeros = _maker(np.zeros)
ones = _maker(np.ones)
full = _maker(np.full)
arange = _maker(np.arange)
eye = _maker(np.eye)


def _recorded(function: Function) -> Function:
    """Make one step of a helper: its own code is not looked into."""

    def helper(*args: Any) -> Any:
        return do(helper, args) if holds_traced(args) else function(*args)

    helper.__name__ = helper.__qualname__ = function.__name__
    helper.__module__ = function.__module__
    helper.__doc__ = function.__doc__
    helper.__wrapped__ = function  # type: ignore[attr-defined]
    return helper


@_recorded
def set_at(a: Any, index: Any, value: Any) -> Any:
    """Return a copy of `a` with ``a[index] = value``."""
    a = np.array(a)
    a[index] = value
    return a


@_recorded
def add_at(a: Any, index: Any, value: Any) -> Any:
    """Return a copy of `a` with `value` added at `index`, once for each time it is named."""
    a = np.array(a)
    np.add.at(a, index, value)
    return a
