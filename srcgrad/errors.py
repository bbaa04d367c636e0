"""One class per mistake. Its docstring is its manual page.

A message is three sentences: what happened, where in the user's file, and the way out.
"""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType

import numpy as np

_INSIDE = (os.path.dirname(__file__) + os.sep, os.path.dirname(np.__file__) + os.sep)


class NoDerivativeError(NotImplementedError):
    """A gradient flows into a function that has no rule, or into an argument its rule lacks.

    State the rule: ``srcgrad.defvjp(function)(rule)``, or wrap your own function with
    ``srcgrad.primitive``. Where no gradient is wanted, say ``srcgrad.stop_gradient(x)``.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> srcgrad.grad(lambda x: np.poly(x)[0])(np.ones(2))
    Traceback (most recent call last):
    ...
    srcgrad.errors.NoDerivativeError: np.poly has no derivative rule...
    """


class ConversionError(TypeError):
    """A traced value was about to become a plain number or array and lose its gradient.

    It comes from C code, or from a package that is not traced into, that asks for a plain array.
    Use NumPy's functions on the value, or state a rule with ``srcgrad.primitive``.
    """


class InPlaceError(TypeError):
    """A recorded array was to be written in place; this version of srcgrad does not follow that.

    Build a new array: ``x = x + 1`` for ``x += 1``, ``np.where`` or ``np.concatenate`` for an
    assignment to a part.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> def f(x):
    ...     x[0] = 0.0
    ...     return np.sum(x)
    >>> srcgrad.grad(f)(np.ones(2))
    Traceback (most recent call last):
    ...
    srcgrad.errors.InPlaceError: x[...] = ... writes into a recorded array...
    """


class ArgumentError(TypeError):
    """The argument to differentiate holds no floats: an int, a bool, a string, None, an object.

    Examples
    --------
    >>> import srcgrad
    >>> srcgrad.grad(lambda x: x * x)(3)
    Traceback (most recent call last):
    ...
    srcgrad.errors.ArgumentError: argument 'x' of <lambda> is the int 3, ... pass 3.0.
    """


class ArrayTypeError(TypeError):
    """An array of objects or of a subclass of ndarray (matrix, masked array, quantity)."""


class OutputError(TypeError):
    """The function gave something that has no gradient: an array, a complex number, None.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> srcgrad.grad(lambda x: 2 * x)(np.ones(3))
    Traceback (most recent call last):
    ...
    srcgrad.errors.OutputError: <lambda> gave an array of shape (3,)...
    """


class CotangentError(ValueError):
    """A cotangent, or a result of a user's rule, has not the structure, shape or dtype it needs."""


class UnwatchedError(TypeError):
    """A plain array was given to a tape as a target or source: a tape cannot know it."""


class TapeError(RuntimeError, ValueError):
    """A tape was used in a way that its life does not allow (a second gradient, a watch outside)."""


class UnconnectedGradientError(ValueError):
    """A target does not depend on a source, and ``unconnected_gradients="raise"`` was asked for."""


class UnconnectedGradientWarning(UserWarning):
    """The result does not depend on what it is differentiated by; the gradient is zero or None."""


class ConversionWarning(UserWarning):
    """A recorded value became a plain number; no gradient flows through that."""


def user_frame() -> FrameType | None:
    """Return the innermost frame that belongs neither to srcgrad nor to NumPy."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back
    return frame


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the user's line, once per line by the registry of the user's module."""
    frame = user_frame()
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
        return
    names = frame.f_globals
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        names.get("__name__"),
        names.setdefault("__warningregistry__", {}),
    )


def place() -> str:
    """Say where the user's program stands: ``loss (train.py:12)``."""
    frame = user_frame()
    if frame is None:
        return "srcgrad"
    return f"{frame.f_code.co_name} ({os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno})"
