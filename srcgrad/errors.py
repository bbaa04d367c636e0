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

    It comes from C code, or from a package that is not traced into, that asks for a plain array,
    and from ``out[i] = y`` of a traced `y` into a plain array. Use NumPy's functions on the value,
    join values with ``np.stack``, or state a rule with ``srcgrad.primitive``.

    Examples
    --------
    >>> import srcgrad
    >>> x = srcgrad.constant(2.0)
    >>> with srcgrad.GradientTape() as t:
    ...     x = t.watch(x)
    ...     y = np.array([x, x * x])
    Traceback (most recent call last):
    ...
    srcgrad.errors.ConversionError: np.array or np.asarray would turn a recorded value into...
    >>> with srcgrad.GradientTape() as t:
    ...     x = t.watch(x)
    ...     y = np.stack([x, x * x])
    >>> t.gradient(y, x)
    array(5.)
    """


class InPlaceError(TypeError):
    """A recorded array was to be written in place; this version of srcgrad does not follow that.

    Build a new array: ``x = x + 1`` for ``x += 1``, ``np.where`` or ``np.concatenate`` for an
    assignment to a part. A `Variable` has ``v.assign(...)``.

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
    """What is to be differentiated by holds no floats: an int, a bool, a string, None, an object.

    Write ``x.astype(float)``, or ``3.0`` for 3. Beside floats in a container such leaves are
    allowed; their gradient is None.

    Examples
    --------
    >>> import srcgrad
    >>> srcgrad.grad(lambda x: x * x)(3)
    Traceback (most recent call last):
    ...
    srcgrad.errors.ArgumentError: argument 'x' of <lambda> is the int 3, ... pass 3.0.
    >>> srcgrad.grad(lambda p: p["w"] * p["n"])({"w": 2.0, "n": 3})
    {'w': np.float64(3.0), 'n': None}
    """


class ArrayTypeError(TypeError):
    """An array of objects or of a subclass of ndarray (matrix, masked array, quantity).

    The operations of a subclass are its own; pass what it holds: ``np.asarray(a)``.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> a = np.ma.masked_array([1.0, 2.0])
    >>> srcgrad.grad(lambda x: np.sum(x * x))(a)
    Traceback (most recent call last):
    ...
    srcgrad.errors.ArrayTypeError: argument 'x' is a MaskedArray, ... np.asarray(x).
    >>> srcgrad.grad(lambda x: np.sum(x * x))(np.asarray(a))
    array([2., 4.])
    """


class OutputError(TypeError):
    """The function gave something that has no gradient: an array, a complex number, None.

    Sum an array with ``np.sum``, or take `vjp` or `elementwise_grad`. Of a complex number take
    ``np.real``, ``np.imag`` or ``np.abs``. Results that are not differentiated go with
    ``has_aux=True``.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> srcgrad.grad(lambda x: 2 * x)(np.ones(3))
    Traceback (most recent call last):
    ...
    srcgrad.errors.OutputError: <lambda> ... gave an array of shape (3,)...
    >>> srcgrad.grad(lambda x: np.sum(2 * x))(np.ones(3))
    array([2., 2., 2.])
    """


class CotangentError(ValueError):
    """A cotangent, or a result of a user's rule, has not the structure, shape or dtype it needs.

    A cotangent looks like the output that it belongs to; what a rule gives looks like the
    argument.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> _, pull = srcgrad.vjp(lambda x: 2 * x, np.ones(3))
    >>> pull(np.ones(2))
    Traceback (most recent call last):
    ...
    srcgrad.errors.CotangentError: the cotangent has shape (2,), the output (3,)...
    >>> pull(np.ones(3))
    (array([2., 2., 2.]),)
    """


class UnwatchedError(TypeError):
    """A plain array was given to a tape as a target or source: a tape cannot know it.

    Use the array that ``watch`` returns, or make it a `constant` or a `Variable`.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> a = np.ones(2)
    >>> with srcgrad.GradientTape() as t:
    ...     x = t.watch(a)
    ...     y = np.sum(x * x)
    >>> t.gradient(y, a)
    Traceback (most recent call last):
    ...
    srcgrad.errors.UnwatchedError: a source is a plain ndarray, ... x = t.watch(x).
    >>> t.gradient(y, x)
    array([2., 2.])
    """


class TapeError(RuntimeError, ValueError):
    """A tape was used in a way that its life does not allow.

    A second gradient of a tape that is not persistent, ``watch`` outside of the block, ``reset``
    and ``stop_recording`` where nothing is recorded, a tape entered twice. TensorFlow raises
    RuntimeError for some of these and ValueError for others; this is both.

    Examples
    --------
    >>> import srcgrad
    >>> v = srcgrad.Variable(3.0)
    >>> with srcgrad.GradientTape() as t:
    ...     y = v * v
    >>> t.gradient(y, v)
    array(6.)
    >>> t.gradient(y, v)
    Traceback (most recent call last):
    ...
    srcgrad.errors.TapeError: A non-persistent GradientTape can only be used to compute one set...
    """


class UnconnectedGradientError(ValueError):
    """A target does not depend on a source, and ``unconnected_gradients="raise"`` was asked for.

    Examples
    --------
    >>> import srcgrad
    >>> x, w = srcgrad.constant(1.0), srcgrad.Variable(2.0)
    >>> with srcgrad.GradientTape() as t:
    ...     y = w * x
    >>> t.gradient(y, x, unconnected_gradients="raise")
    Traceback (most recent call last):
    ...
    srcgrad.errors.UnconnectedGradientError: no gradient ...: the source was not watched...
    """


class UnconnectedGradientWarning(UserWarning):
    """The result does not depend on what it is differentiated by; the gradient is zero or None.

    A tape says why. Say ``unconnected_gradients="zero"`` (or "none") where that is meant.

    Examples
    --------
    >>> import srcgrad, warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     srcgrad.grad(lambda x, y: y * y)(1.0, 2.0)
    np.float64(0.0)
    >>> print(caught[0].message)
    the output of <lambda> does not depend on 'x': its gradient is zero
    """


class ConversionWarning(UserWarning):
    """A recorded value became a plain number; no gradient flows through that.

    ``float(y)`` and ``'%f' % y`` work in a tape's block, and warn once per line. Outside of the
    block, and in ``with t.stop_recording()``, they are silent.

    Examples
    --------
    >>> import srcgrad, warnings
    >>> x = srcgrad.constant(2.0)
    >>> with warnings.catch_warnings(record=True) as caught, srcgrad.GradientTape() as t:
    ...     warnings.simplefilter("always")
    ...     x = t.watch(x)
    ...     half = float(x) / 2
    >>> half, caught[0].category.__name__
    (1.0, 'ConversionWarning')
    """


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
