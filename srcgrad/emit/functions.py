"""How functions and static arguments are written: ``np.linalg.solve``, ``np.float32``, ``(1, n)``.

What has no public path in NumPy, SciPy, math or Python stands in the private globals of the text,
under its own name.
"""

from __future__ import annotations

import builtins
import math
import operator
import sys
from typing import Any

import numpy as np

from srcgrad.naming import Names
from srcgrad.trace import Function

from .expressions import number

SCIPY = ("special", "linalg", "fft", "signal", "ndimage", "stats", "integrate", "interpolate")
SHORTER = {id(np.absolute): "np.abs", id(np.conjugate): "np.conj"}
# The scalars whose value is that of a Python number.
PLAIN_SCALARS = {
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128, np.bool_),
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
}
HELPERS = ("zeros", "ones", "full", "arange", "eye")  # of runtime.py: NumPy's own, written down


class Functions:
    """The names of functions in one text, the imports and the private globals they need."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.imports: list[str] = []
        self.namespace: dict[str, Any] = {}
        self._known: dict[int, tuple[Any, str]] = {}

    def name(self, function: Function) -> str:
        """Return the text that names `function`."""
        found = self._known.get(id(function))
        if found is None:
            found = self._known[id(function)] = (function, self._find(function))
        return found[1]

    def _find(self, function: Function) -> str:
        public = numpy_name(function) or self._imported(function)
        if public is not None:
            return public
        return self.private(getattr(function, "__name__", "function"), function)

    def private(self, base: str, value: Any) -> str:
        """Put `value` into the private globals; return its name."""
        name = self.names.unique(base)
        self.namespace[name] = value
        return name

    def _imported(self, function: Function) -> str | None:
        name = getattr(function, "__name__", "")
        if getattr(builtins, name, None) is function:
            return None if name in self.names else name
        if getattr(math, name, None) is function:
            self._import("import math")
            return f"math.{name}"
        if getattr(operator, name, None) is function:
            self._import("import operator")
            return f"operator.{name}"
        return self._of_scipy(name, function)

    def _of_scipy(self, name: str, function: Function) -> str | None:
        for part in SCIPY:
            module = sys.modules.get(f"scipy.{part}")
            if module is not None and getattr(module, name, None) is function:
                if f"from scipy import {part}" not in self.imports and part in self.names:
                    return None  # the user's own name
                self._import(f"from scipy import {part}")
                self.names.take(part)
                return f"{part}.{name}"
        return None

    def _import(self, line: str) -> None:
        if line not in self.imports:
            self.imports.append(line)

    def static(self, value: Any) -> str:
        """Return the text of a static argument."""
        t = type(value)
        writer = _STATIC.get(t)
        if writer is not None:
            return writer(value)
        if t in (int, float, complex):
            return number(value).text
        if t is tuple or t is list or t is dict or t is slice:
            return container(value, self.static)
        if isinstance(value, np.dtype):
            return dtype_text(value)
        if t in PLAIN_SCALARS:
            return scalar_text(value)
        return self.name(value) if callable(value) else self.private("constant", value)


def container(value: Any, text_of: Any) -> str:
    """Return the text of a tuple, list, dict or slice, whose items `text_of` writes."""
    t = type(value)
    if t is tuple:
        return f"({text_of(value[0])},)" if len(value) == 1 else f"({_join(value, text_of)})"
    if t is list:
        return f"[{_join(value, text_of)}]"
    if t is slice:
        return f"slice({_join((value.start, value.stop, value.step), text_of)})"
    return "{" + ", ".join(f"{k!r}: {text_of(v)}" for k, v in value.items()) + "}"


def _join(items: Any, text_of: Any) -> str:
    return ", ".join([text_of(item) for item in items])


_STATIC: dict[type, Any] = {
    type(None): repr,
    bool: repr,
    str: repr,
    bytes: repr,
    type(Ellipsis): lambda value: "...",
}


def numpy_name(function: Any) -> str | None:
    """Return the public name of a function of NumPy's, or None."""
    if id(function) in SHORTER:
        return SHORTER[id(function)]
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(owner, np.ufunc):
        return f"{numpy_name(owner)}.{name}"
    if getattr(function, "__module__", None) == "srcgrad.runtime" and name in HELPERS:
        return f"np.{name}"
    for prefix, module in (("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft)):
        if name and getattr(module, name, None) is function:
            return f"{prefix}.{name}"
    return None


def dtype_text(dtype: np.dtype[Any]) -> str:
    """Return the text of a dtype: ``np.float32``, or ``np.dtype('>f8')``."""
    if dtype.isnative and dtype.names is None and np.dtype(dtype.type) == dtype:
        return f"np.{dtype.type.__name__}".replace("np.bool_", "np.bool")
    return f"np.dtype({dtype.str!r})"


def scalar_text(value: Any) -> str:
    """Return the text of a NumPy scalar: ``np.float32(1.0)``."""
    inner = value.item()
    text = number(inner).text if type(inner) in (int, float, complex) else repr(inner)
    return f"{dtype_text(value.dtype)}({text})"
