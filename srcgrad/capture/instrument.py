"""A twin of the user's function that reports to hooks what it does.

The twin runs in the same globals, on the same closure cells and defaults; only its code is new. It
is compiled from the user's own text with the user's own lines, so tracebacks, pdb and
``co_positions`` show what was written. Code is made once per code object, a twin at each call.
"""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
from collections.abc import Collection, Iterator
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any, Protocol

import gast

from .rewrite import HOOKS, Rewriter
from .scopes import BUILTINS
from .source import Place, compile_alone, locate, make_room

_MARK = "srcgrad: instrumented"  # the last constant of a code that reports; blanks keep it unique
_CODES = 4096  # how many codes are kept
_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
_HOOK_OF = {hidden: name for name, hidden in HOOKS.items()}


class Hooks(Protocol):
    """What instrumented code reports to. Each hook returns what the user's code goes on with."""

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Stand for ``function(*args, **kwargs)``."""

    def load(self, value: Any, name: str | None, /) -> Any:
        """Stand for a `value` that was read from outside, from an attribute or a container."""

    def iterate(self, iterable: Any, /) -> Any:
        """Stand for what a ``for`` goes over."""

    def store_attribute(self, value: Any, obj: Any, attribute: str, /) -> None:
        """Stand for ``obj.attribute = value``."""

    def store_item(self, value: Any, obj: Any, key: Any, /) -> None:
        """Stand for ``obj[key] = value``."""

    def leave(self, value: Any, /) -> Any:
        """Stand for a `value` that is stored to a variable outside of the function."""


def instrument(function: Any, hooks: Any) -> FunctionType | None:
    """Return a twin of `function` that reports to `hooks`.

    Parameters
    ----------
    function : function
        A plain Python function: a def or lambda, nested or not, a method's function, a generator.
    hooks : Hooks
        Looked up when the twin is made, not when it runs.

    Returns
    -------
    function or None
        None if the text of `function` is not at hand or is no longer what it was loaded from, and
        for coroutines. A function that is instrumented already is returned as it is.
    """
    if type(function) is not FunctionType:
        return None
    if is_instrumented(function):
        return function
    code = _entry(function.__code__).twin(function)
    return None if code is None else _twin(function, code, hooks)


def is_instrumented(function: Any) -> bool:
    """Tell whether the code of `function` reports, be it a twin or defined in one."""
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and code.co_consts[-1:] == (_MARK,)


def _twin(function: FunctionType, code: CodeType, hooks: Any) -> FunctionType:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(
        [
            CellType(getattr(hooks, _HOOK_OF[name])) if name in _HOOK_OF else cells[name]
            for name in code.co_freevars
        ]
    )
    defaults = function.__defaults__
    twin = FunctionType(code, function.__globals__, function.__name__, defaults, closure)
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__qualname__ = function.__qualname__
    twin.__module__ = function.__module__
    twin.__doc__ = function.__doc__
    twin.__annotations__ = function.__annotations__
    twin.__dict__ = function.__dict__
    if sys.version_info >= (3, 12):
        twin.__type_params__ = function.__type_params__
    return twin


# Codes --------------------------------------------------------------------------------------------


class _Entry:
    """What is known of one code object: the builtin names it uses, and its rewritten codes."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.builtins = [name for name in sorted(set(_names(code))) if name in BUILTINS]
        self.twins: dict[frozenset[str], CodeType | None] = {}

    def twin(self, function: FunctionType) -> CodeType | None:
        """Return the code for `function`; globals of its module may hide builtins."""
        module = function.__globals__
        hiding = frozenset([name for name in self.builtins if name in module])
        if hiding not in self.twins:
            self.twins[hiding] = _rewritten(self.code, hiding)
        return self.twins[hiding]


_entries: dict[int, _Entry] = {}  # by id(code): equal codes of two files are not the same


def _entry(code: CodeType) -> _Entry:
    entry = _entries.get(id(code))
    if entry is None:
        make_room(_entries, _CODES)
        _entries[id(code)] = entry = _Entry(code)
    return entry


def _names(code: CodeType) -> Iterator[str]:
    """Give the global and attribute names in a code and in those nested in it."""
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _names(const)


def _rewritten(code: CodeType, hiding: frozenset[str]) -> CodeType | None:
    place = None if code.co_flags & _ASYNC else locate(code)
    if place is None:
        return None
    try:
        node = gast.ast_to_gast(place.node)
        known = hiding.union(code.co_freevars)
        node = gast.gast_to_ast(Rewriter(node, place.owner, known).rewrite())
    except RecursionError:  # a sum of a thousand terms
        return None
    compiled = compile_alone(Place(node, place.owner), code, HOOKS.values())
    return None if compiled is None else _marked(compiled)


def _marked(code: CodeType) -> CodeType:
    """Mark `code`, and what is nested in it, as instrumented."""
    consts = [_marked(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return code.replace(co_consts=(*consts, _MARK))


# Who is instrumented ------------------------------------------------------------------------------

_NEVER = frozenset({"numpy", "scipy", "srcgrad"})
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARY = tuple(
    os.path.join(folder, "")
    for folder in (_HERE, sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
)

traced_packages: set[str] = set()  # top-level packages to trace into although they are installed


def needs_instrumentation(function: Any, packages: Collection[str] = traced_packages) -> bool:
    """Tell whether `function` is the user's own code.

    Parameters
    ----------
    function : object
        Anything; only plain Python functions can be instrumented.
    packages : collection of str
        Names of top-level packages that are traced into although they are installed.
    """
    if type(function) is not FunctionType:
        return False
    module = str(function.__globals__.get("__name__", "")).partition(".")[0]
    if module in _NEVER:
        return False
    return module in packages or _users_own(function.__code__.co_filename)


def is_user_object(value: Any, packages: Collection[str] = traced_packages) -> bool:
    """Tell whether `value` is a class of the user's own code, or an object of one."""
    cls = value if isinstance(value, type) else type(value)
    module = str(cls.__module__)
    return module.partition(".")[0] in packages or _users_module(module)


@lru_cache(maxsize=4096)
def _users_module(name: str) -> bool:
    if name.partition(".")[0] in _NEVER or name in sys.builtin_module_names:
        return False
    return _users_own(getattr(sys.modules.get(name), "__file__", None) or "")


@lru_cache(maxsize=4096)
def _users_own(filename: str) -> bool:
    if filename.startswith(("<frozen ", "<srcgrad")):
        return False
    if not _INSTALLED.isdisjoint(filename.replace("\\", "/").split("/")):
        return False
    return not filename.startswith(_LIBRARY)
