"""Names of the values of a program, and the user's place that an origin points to.

A name is the user's own where there is one, else the operation (and its operand), numbered where
it is taken. Nothing here depends on ids or hashes, so the text is the same in every process.
"""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from srcgrad.trace import Origin

SHORT = 12  # an operand's name goes into the name of a result up to this length

RESERVED = frozenset(dir(builtins)) | set(keyword.kwlist) | {"np", "math"}

# Words for operations whose own names say less, or belong to Python.
WORDS = {
    "getitem": "part",
    "truediv": "divide",
    "mul": "multiply",
    "sub": "subtract",
    "neg": "negative",
    "pow": "power",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pos": "positive",
    "absolute": "abs",
    "astype": "cast",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where an operation stands: the file's own name, the line, the name its result is given."""

    file: str
    line: int
    target: str | None = None


class Names:
    """Gives each value a name of its own.

    Examples
    --------
    >>> names = Names(["x"])
    >>> [names.unique(n) for n in ("h", "h", "x", "sum")]
    ['h', 'h_1', 'x_1', 'sum_1']
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._taken

    def take(self, name: str) -> None:
        """Keep `name` from being given to a value."""
        self._taken.add(name)

    def unique(self, base: str) -> str:
        """Return `base`, numbered if it is taken, Python's or no identifier."""
        base = identifier(base)
        n = self._next.get(base, 0)
        name = f"{base}_{n}" if n else base
        while name in self._taken or name in RESERVED:
            n += 1
            name = f"{base}_{n}"
        self._next[base] = n
        self._taken.add(name)
        return name


def identifier(name: str) -> str:
    """Return `name` as Python reads it, or a word where it is no identifier."""
    name = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", name))
    return name if name.isidentifier() and name != "_" else "value"


def operation(function: Any) -> str:
    """Return the word for an operation in the name of its result."""
    name = getattr(function, "__name__", "value").strip("_")
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        name = f"{owner.__name__}_{name}"
    return WORDS.get(name, name)


def place(origin: Origin | None) -> Place | None:
    """Return the user's place of `origin`, or None."""
    if origin is None:
        return None
    found = _site(*origin)
    if found is None:
        return _place_by_code(origin)
    target = found.target if type(found.target) is str else None
    return Place(found.file, found.line, target)


def _site(code: Any, lasti: int) -> Any:
    try:
        from srcgrad.names import site
    except ImportError:
        return None
    return site(code, lasti)


def _place_by_code(origin: Origin) -> Place:
    code, lasti = origin
    line = code.co_firstlineno
    for start, end, at in code.co_lines():
        if start <= lasti < end and at is not None:
            line = at
    return Place(PurePath(code.co_filename).name, line)
