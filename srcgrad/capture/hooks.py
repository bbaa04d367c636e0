"""What instrumented code reports to: calls, reads, stores and loops of the user's function.

The protocols of `arrays.py` see what NumPy dispatches. These hooks see the rest: ``np.array([a,
b])``, ``math.sin(t)``, ``float(t)``, ``type(t)``, the user's own callees (which are instrumented in
their turn), arrays that are read from outside, and stores into objects that outlive the run.
"""

from __future__ import annotations

import contextlib
import functools
import math
import random
import sys
import threading
import types
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..rules.table import CREATION, load_rules, rule_of
from ..trace import Function, Var, function_name, leaves
from . import instrument
from .arrays import (
    Traced,
    do,
    holds_traced,
    is_value,
    joined,
    plain,
    record,
    recorded,
    refuse_write,
    stored,
)
from .recorder import TRACED, Handle, Recorder, capturing, live, same_bytes

FRESH = 3  # references to a fresh array in `is_fresh`: two parameters and the count's own
OUTSIDE = frozenset({list, dict, set, deque})
# Builtins that write into no array of others: the methods of these types, the functions of these
# modules, and what draws random numbers into new arrays.
HARMLESS = frozenset({*OUTSIDE, str, bytes, tuple, frozenset, int, float, np.ufunc})
HARMLESS_MODULES = frozenset("builtins math _operator itertools _functools time _warnings".split())
DRAWING = frozenset({np.random.Generator, np.random.RandomState, random.Random})
NUMBERS = frozenset({float, int})
LIFTED = frozenset({np.ndarray, np.memmap, float, complex})


# Numbers that a person writes by name and that stay what they are. A name of the user's for one of
# them is a literal like another: where it differs in a second run it becomes an input.
CONSTANTS = {
    id(c): c
    for c in (np.pi, np.e, np.inf, np.nan, np.euler_gamma, math.pi, math.e, math.tau, math.inf)
}


class Capture(Recorder):
    """The recorder of a traced function, and what its run reads and leaves outside."""

    __slots__ = ("arrays", "kept", "loads", "outlives")

    def __init__(self, root: Any, outlives: bool = False) -> None:
        super().__init__(root)
        self.outlives = outlives  # the call: what belongs to the user is copied
        self.loads: dict[Any, tuple[Any, Handle]] = {}
        self.arrays: list[np.ndarray] = []  # the inputs that others can write to
        self.kept: list[np.ndarray] = []  # copies of them, made before the first outside call

    def enter(self, handle: Handle, kind: str, name: str | None = None) -> Var:
        value = handle.value
        if type(value) is np.ndarray and value.flags.writeable and not value.dtype.hasobject:
            self.arrays.append(value)
        return super().enter(handle, kind, name)

    def keep(self) -> None:
        """Keep what the inputs hold, so that `changed` can tell what an outside call did."""
        self.kept += [a.copy() for a in self.arrays[len(self.kept) :]]

    def changed(self) -> bool:
        """Tell whether an input was written to, and put back what it held."""
        pairs = zip(self.arrays, self.kept, strict=False)  # the call may have entered others
        written = [(a, old) for a, old in pairs if not same_bytes(old, a)]
        for array, old in written:
            array[...] = old
        return bool(written)

    def load(self, value: Any, name: str | None) -> Any:
        """Return the traced value for an array or float read from outside; each is one input."""
        key = (name, id(value))
        seen = self.loads.get(key)
        if seen is None:
            handle = self.own(Traced(value))
            seen = self.loads[key] = (value, handle)
            self.enter(handle, "lifted", name)
        return seen[1]

    def own(self, handle: Traced) -> Traced:
        """Let a value from outside be a copy, where the record outlives the call."""
        if self.outlives and type(handle.value) is np.ndarray:
            handle.value = handle.value.copy()
        return handle


def current() -> Capture | None:
    """Return the innermost function that is being traced in this thread."""
    for recorder in reversed(live.recorders):
        if type(recorder) is Capture:
            return recorder
    return None


# Reads and loops ----------------------------------------------------------------------------------


def load(value: Any, name: str | None = None) -> Any:
    """Report a read of a global, a closure cell, an attribute or an item."""
    if id(value) in CONSTANTS:
        return value
    if type(value) in LIFTED or issubclass(type(value), np.generic):
        capture = current()
        if capture is not None and is_value(value):
            return capture.load(value, name)
    return value


def iterate(iterable: Any) -> Any:
    """Report what a loop runs over: the rows of a plain array are read from outside."""
    return load(iterable) if type(iterable) is np.ndarray else iterable


# Stores into what outlives the run ----------------------------------------------------------------


class _Leaks(threading.local):
    """The places in the user's objects where traced values were put during a run of this thread.

    They stand there while a function is traced, so that what is read back has its gradient. When
    the outermost run ends they are replaced by plain values; what was traced before the run (a
    constant, a variable, a value of a tape) stays what it is.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Note that a run begins."""
        self.places: list[tuple[Function, Any, Any]] = []
        self.since = Handle(None).id
        self.seen: set[int] = set()

    def add(self, sweep: Function, holder: Any, key: Any = None) -> None:
        if capturing():
            self.places.append((sweep, holder, key))

    def sweep(self) -> None:
        """Put plain values in all the places."""
        for sweep, holder, key in self.places:
            sweep(holder, key)
        self.begin()

    def settled(self, value: Any) -> Any:
        """Return what stands for a stored value after the run; containers change in place."""
        t = type(value)
        if t is Traced:
            return value.value if value.id >= self.since else value
        if t is tuple:
            items = tuple(map(self.settled, value))
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        if t in OUTSIDE and id(value) not in self.seen:
            self.seen.add(id(value))
            _IN_PLACE[t](value)
        return value


leaks = _Leaks()


def _settle_list(holder: Any) -> None:
    for i, value in enumerate(holder):
        new = leaks.settled(value)
        if new is not value:
            holder[i] = new


def _settle_dict(holder: Any) -> None:
    for key, value in list(holder.items()):
        new = leaks.settled(value)
        if new is not value:
            holder[key] = new


def _settle_set(holder: Any) -> None:
    traced = [v for v in holder if type(v) in TRACED]
    holder.difference_update(traced)
    holder.update(map(leaks.settled, traced))


_IN_PLACE: dict[type, Function] = {
    list: _settle_list,
    deque: _settle_list,
    dict: _settle_dict,
    set: _settle_set,
}


def _sweep_attribute(holder: Any, name: str) -> None:
    value = getattr(holder, name, None)
    new = leaks.settled(value)
    if new is not value:
        setattr(holder, name, new)


def _sweep_items(holder: Any, _: Any) -> None:
    leaks.settled(holder)


def _sweep_item(holder: Any, key: Any) -> None:
    with contextlib.suppress(LookupError):  # it may be gone by now
        value = holder[key]
        new = leaks.settled(value)
        if new is not value:
            holder[key] = new


def _sweep_cells(function: Any, _: Any) -> None:
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # an empty cell
            value = cell.cell_contents
            new = leaks.settled(value)
            if new is not value:
                cell.cell_contents = new


def store_attribute(value: Any, holder: Any, name: str) -> None:
    """Report ``holder.name = value``."""
    setattr(holder, name, value)
    if holds_traced(value):
        leaks.add(_sweep_attribute, holder, name)


def store_item(value: Any, holder: Any, key: Any) -> None:
    """Report ``holder[key] = value``."""
    traced = holds_traced(value)
    if traced and type(holder) is np.ndarray and any(map(recorded, traced_in(value))):
        raise stored()
    holder[key] = value
    if traced and type(holder) not in TRACED:
        leaks.add(_sweep_items if type(holder) in OUTSIDE else _sweep_item, holder, key)


def leave(value: Any) -> Any:
    """Report a store to a global or nonlocal name."""
    if holds_traced(value):
        frame = sys._getframe(1)
        leaks.add(_sweep_items, frame.f_globals)
    return value


# Calls --------------------------------------------------------------------------------------------


def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Report a call of the user's code, and do it."""
    t = type(function)
    if t is types.FunctionType or t is types.MethodType:
        return _call_python(function, args, kwargs)
    if not live.recorders:
        return function(*args, **kwargs)
    if t is np.ufunc:
        return _call_ufunc(function, args, kwargs)
    handler = _handler(function, t)
    if handler is not None:
        return handler(function, args, kwargs)
    if t is functools.partial:
        return _partial(function, args, kwargs)
    if t is types.BuiltinMethodType:
        return _call_builtin(function, args, kwargs)
    if instrument.is_user_object(function):
        return _call_object(function, args, kwargs)
    if t is DISPATCHED:
        args = args if function in JOINING else tuple(map(joined, args))
    elif _is_numerical(t) and holds_traced(args, kwargs):
        return do_outside(function, args, kwargs)
    elif not isinstance(function, type):
        return _outcome(function, args, kwargs, outside(function, args, kwargs))
    return _outcome(function, args, kwargs, numpy_call(function, args, kwargs))


def numpy_call(function: Any, args: Any, kwargs: Any) -> Any:
    """Call a function of NumPy's, which may write into the plain arrays that it is given."""
    plainly = not holds_arrays((args, kwargs))
    return function(*args, **kwargs) if plainly else outside(function, args, kwargs)


def outside(function: Any, args: Any, kwargs: Any) -> Any:
    """Call what cannot be looked into; refuse it if it writes into an input of the run."""
    captures = [r for r in live.recorders if type(r) is Capture]
    for capture in captures:
        capture.keep()
    result = function(*args, **kwargs)
    changed = [capture.changed() for capture in captures]
    if any(changed):
        refuse_write(f"{function_name(function)}()")
    return result


def _handler(function: Any, t: type) -> Any:
    try:
        return HANDLERS.get(function)
    except TypeError:  # unhashable callable
        return None


def _call_ufunc(function: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    args = tuple(map(joined, args))
    if kwargs or len(args) > function.nin:
        return _outcome(function, args, kwargs, numpy_call(function, args, kwargs))
    for a in args:
        if type(a) in TRACED:
            return record(function, args, kwargs, function(*plain(args)))
    if current() is not None and all(type(a) in NUMBERS for a in args):
        return record(function, args, kwargs, function(*args))  # np.sqrt(2.0) stays in the text
    return _outcome(function, args, kwargs, function(*args))


def _outcome(function: Any, args: Any, kwargs: Any, result: Any) -> Any:
    """Return the result of a plain call; an array is a traced value from here on."""
    t = type(result)
    if t is not np.ndarray or current() is None or not is_value(result):
        return result
    if is_creation(function) and not holds_arrays((args, kwargs)):
        return record(function, args, kwargs, result)
    return Traced(result if is_fresh(result) else result.copy())


def is_fresh(array: np.ndarray) -> bool:
    """Tell whether nobody holds an array but the caller and his: no buffer to be filled again."""
    return array.base is None and sys.getrefcount(array) <= FRESH


def holds_arrays(tree: Any) -> bool:
    """Tell whether an array stands in an argument tree."""
    t = type(tree)
    if t is tuple or t is list:
        return any(map(holds_arrays, tree))
    return any(map(holds_arrays, tree.values())) if t is dict else t is np.ndarray


def _call_python(function: Any, args: Any, kwargs: Any) -> Any:
    if not live.recorders:
        return function(*args, **kwargs)
    handler = HANDLERS.get(function)
    if handler is not None:
        return handler(function, args, kwargs)
    twin = None if rule_of(function) else entered(function)
    if twin is None:
        numerical = _is_numerical(function)
        if (rule_of(function) or numerical) and holds_traced(args, kwargs):
            return do_outside(function, args, kwargs)
        if _is_own(function):
            return _outcome(function, args, kwargs, function(*args, **kwargs))
        call = numpy_call if numerical else outside
        return _outcome(function, args, kwargs, call(function, args, kwargs))
    return twin(*args, **kwargs)


def do_outside(function: Any, args: Any, kwargs: Any) -> Any:
    """Call a function that NumPy does not dispatch on plain values; what it writes is refused."""
    arrays = [v.value for v in traced_in(leaves((args, kwargs))) if type(v.value) is np.ndarray]
    before = [a.copy() for a in arrays]
    result = function(*plain(args), **plain(kwargs))
    changed = [(a, b) for a, b in zip(arrays, before, strict=True) if not same_bytes(b, a)]
    for array, old in changed:
        array[...] = old  # the caller's own, as it was
    if changed:
        refuse_write(function_name(function))
    return record(function, args, kwargs, result)


def _is_own(function: Any) -> bool:
    """Tell whether a Python function is srcgrad's: a method of a traced value, a gradient."""
    names = getattr(function, "__globals__", None) or {}
    return str(names.get("__name__")).partition(".")[0] == "srcgrad"


def _is_numerical(function: Any) -> bool:
    """Tell whether a function is SciPy's or NumPy's own: it is called on plain values.

    What a function says its module is may be that of one it wraps.
    """
    names = getattr(function, "__globals__", None)
    module = function.__module__ if names is None else names.get("__name__")
    return (module or "").partition(".")[0] in ("scipy", "numpy")


def entered(function: Any) -> Any:
    """Return the instrumented twin of a user's function or bound method, or None."""
    if type(function) is types.MethodType:
        twin = entered(function.__func__)
        return None if twin is None else types.MethodType(twin, function.__self__)
    if type(function) is not types.FunctionType:
        return None
    if instrument.is_instrumented(function):
        return function
    if not instrument.needs_instrumentation(function):
        return None
    twin = instrument.instrument(function, THIS)
    if twin is not None and function.__closure__:
        leaks.add(_sweep_cells, function)
    return twin


def _call_object(function: Any, args: Any, kwargs: Any) -> Any:
    """Call a class of the user's (its __init__) or an object with __call__."""
    if isinstance(function, type):
        init = function.__dict__.get("__init__")
        new: Any = function.__new__
        plain_new = new is object.__new__ and type(function) is type
        twin = entered(init) if plain_new else None
        if twin is None:
            return function(*args, **kwargs)
        made = new(function)
        twin(made, *args, **kwargs)
        return made
    method = getattr(type(function), "__call__", None)  # noqa: B004  (wanted for its code)
    twin = entered(method)
    return function(*args, **kwargs) if twin is None else twin(function, *args, **kwargs)


def _call_builtin(function: Any, args: Any, kwargs: Any) -> Any:
    holder = function.__self__
    if type(holder) in OUTSIDE and holds_traced(args, kwargs):
        leaks.add(_sweep_items, holder)
    elif _is_numerical(function) and holds_traced(args, kwargs):
        return do_outside(function, args, kwargs)
    if is_harmless(holder):
        return _outcome(function, args, kwargs, function(*args, **kwargs))
    call = numpy_call if type(holder) in DRAWING or _is_numerical(function) else outside
    return _outcome(function, args, kwargs, call(function, args, kwargs))


def is_harmless(holder: Any) -> bool:
    """Tell whether the builtins of a type or module write into no array of others."""
    if type(holder) is types.ModuleType:
        return holder.__name__ in HARMLESS_MODULES
    return type(holder) in HARMLESS


# Handlers: calls that need more than the protocols give -------------------------------------------


def _type(function: Any, args: Any, kwargs: Any) -> Any:
    if len(args) == 1 and type(args[0]) in TRACED:
        return args[0].__class__
    return function(*args, **kwargs)


def _to_python(function: Any, args: Any, kwargs: Any) -> Any:
    if len(args) == 1 and type(args[0]) in TRACED:
        return do(function, args) if type(args[0].value) is not function else args[0]
    return function(*args, **kwargs)


def _on_values(function: Any, args: Any, kwargs: Any) -> Any:
    """Call on plain values and record: functions that NumPy does not dispatch, such as math.*."""
    return do(function, args, kwargs) if holds_traced(args, kwargs) else function(*args, **kwargs)


def _as_array(function: Any, args: Any, kwargs: Any) -> Any:
    """``np.array`` and its like: the value itself, a copy, another dtype, or a join of scalars."""
    if not holds_traced(args, kwargs):
        return _outcome(function, args, kwargs, function(*args, **kwargs))
    a = args[0]
    if type(a) not in TRACED or type(a.value) is not np.ndarray or len(args) > 2:
        return do(np.array, args, kwargs)
    dtype = args[1] if len(args) == 2 else kwargs.get("dtype")
    if dtype is not None and np.dtype(dtype) != a.value.dtype:
        return a.astype(dtype)
    return do(np.copy, (a,)) if function is np.array and kwargs.get("copy", True) else a


def _with_callback(function: Any, args: Any, kwargs: Any) -> Any:
    """Call a function that calls back: the user's callable is entered too."""
    args = tuple([entered(a) or a for a in args])
    return function(*args, **{k: entered(a) or a for k, a in kwargs.items()})


def _partial(function: Any, args: Any, kwargs: Any) -> Any:
    return call(function.func, *function.args, *args, **{**function.keywords, **kwargs})


# NumPy's own functions, and those of them that look for traced values in a sequence themselves; the
# others make one array of it.
DISPATCHED = type(np.sum)
JOINING = {
    function
    for name in (
        "concatenate stack vstack hstack dstack column_stack block select choose einsum meshgrid "
        "broadcast_arrays lexsort ix_ piecewise"
    ).split()
    if (function := getattr(np, name))
} | {np.linalg.multi_dot}


def _handlers() -> dict[Any, Any]:
    table: dict[Any, Any] = {type: _type, float: _to_python, complex: _to_python}
    table |= {getattr(math, n): _on_values for n in dir(math) if callable(getattr(math, n))}
    table |= dict.fromkeys((map, filter, sorted, max, min, functools.reduce), _with_callback)
    arrays = "array asarray asanyarray ascontiguousarray asfortranarray asarray_chkfinite".split()
    table |= {getattr(np, name): _as_array for name in arrays}
    scalars = (
        np.float16,
        np.float32,
        np.float64,
        np.longdouble,
        np.complex64,
        np.complex128,
        np.clongdouble,
    )
    table |= dict.fromkeys(scalars, _on_values)
    return table


HANDLERS = _handlers()


def is_creation(function: Any) -> bool:
    """Tell whether a function makes an array out of sizes and numbers alone."""
    load_rules()
    return function in CREATION


class _Hooks:
    call = staticmethod(call)
    load = staticmethod(load)
    iterate = staticmethod(iterate)
    store_attribute = staticmethod(store_attribute)
    store_item = staticmethod(store_item)
    leave = staticmethod(leave)


THIS = _Hooks()


def traced_in(values: Any) -> Iterator[Handle]:
    return (v for v in values if type(v) in TRACED)
