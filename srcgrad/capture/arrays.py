"""The traced value: it answers NumPy's protocols, the operators, and the methods of an array.

It is not an ndarray, so nothing can read it silently: an operation either reports to the live
recorders, or asks one of the questions of `__bool__` and its like (which become guards), or is
refused. Outside of any recording it acts as its value.
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from collections.abc import Callable, Iterator
from opcode import _nb_ops, opname  # type: ignore[attr-defined]
from types import FrameType
from typing import Any

import numpy as np

from ..errors import (
    ArrayTypeError,
    ConversionError,
    ConversionWarning,
    InPlaceError,
    place,
    warn,
)
from ..trace import Function, function_name, leaves
from .recorder import ARRAYS, PYTHON_TYPES, TRACED, Handle, capturing, live

OPERANDS = frozenset({float, int, bool, complex, np.ndarray, np.memmap})
TRACEABLE_KINDS = "fcbiu"


# Doing and recording ------------------------------------------------------------------------------


def plain(tree: Any) -> Any:
    """Return the argument tree with each traced value replaced by its value."""
    t = type(tree)
    if t in TRACED:
        return tree.value
    if t is tuple:
        return tuple([plain(item) for item in tree])
    if t is list:
        return [plain(item) for item in tree]
    if t is dict:
        return {key: plain(item) for key, item in tree.items()}
    if t is slice:
        return slice(plain(tree.start), plain(tree.stop), plain(tree.step))
    return tree


def is_value(value: Any) -> bool:
    """Tell whether a result becomes a traced value: a float, complex or bool, an array of numbers.

    Ints and tuples of ints (sizes) stay what they are.
    """
    t = type(value)
    if t is float or t is bool or t is complex:
        return True
    return issubclass(type(value), ARRAYS) and value.dtype.kind in TRACEABLE_KINDS


def record(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], value: Any) -> Any:
    """Return `value`, the result of the call, as a traced value that the live recorders know."""
    if is_value(value):
        out: Any = Traced(value, viewed(value, args))
        for recorder in live.recorders:
            recorder.follow(function, args, kwargs, out)
        return out
    if isinstance(value, (tuple, list)) and value and all(map(is_value, value)):
        outs = tuple([Traced(v, viewed(v, args)) for v in value])
        for recorder in live.recorders:
            recorder.follow(function, args, kwargs, outs)
        return container_like(value, outs)
    if type(value) is np.ndarray and value.dtype.hasobject and holds_traced(args):
        raise ArrayTypeError(
            f"{function_name(function)} gave an array of dtype object, which carries no gradient, "
            f"in {place()}. Compute with arrays of numbers: .astype(float)."
        )
    return value


def record_number(function: Function, args: tuple[Any, ...], value: Any) -> Any:
    """Return the result of Python arithmetic as a traced value, an int too."""
    out = Traced(value)
    for recorder in live.recorders:
        recorder.follow(function, args, {}, out)
    return out


def container_like(value: Any, items: tuple[Any, ...]) -> Any:
    """Return `items` in a list, tuple or named tuple of the type of `value`."""
    if type(value) in (tuple, list):
        return type(value)(items)
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)


def viewed(value: Any, args: tuple[Any, ...]) -> Handle | None:
    """Return the traced operand that a result is a view of."""
    if type(value) is not np.ndarray or value.base is None:
        return None
    for a in args:
        if type(a) in TRACED and (a.value is value.base or _base(a.value) is value.base):
            return a
    return None


def _base(value: Any) -> Any:
    return value.base if type(value) is np.ndarray else value


def do(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """Call `function` on the plain values and record the call."""
    kwargs = kwargs or {}
    return record(function, args, kwargs, function(*plain(args), **plain(kwargs)))


def refuse_write(what: str, variable: bool = False) -> None:
    """Raise: a recorded array was to be written."""
    out = "v.assign(...), v.assign_add(...)" if variable else "y = y + 1, np.where, np.concatenate"
    raise InPlaceError(
        f"{what} writes into a recorded array, in {place()}. "
        f"In-place code is not followed yet: build a new array instead ({out})."
    )


# The class ----------------------------------------------------------------------------------------


class Traced(Handle):
    """A value that takes part in a recorded computation.

    `srcgrad.constant` makes one; operations on one give more. It has an array's shape, dtype,
    methods and operators, and `numpy()` for the plain value.
    """

    __slots__ = ()
    __array_priority__ = 1000.0

    def __init_subclass__(cls) -> None:
        TRACED.add(cls)

    # What it is

    @property
    def __class__(self) -> type:  # isinstance(t, np.ndarray) answers for the value
        return type(self.value)

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise TypeError("the class of a traced value cannot be set")

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.value)

    @property
    def ndim(self) -> int:
        return np.ndim(self.value)

    @property
    def size(self) -> int:
        return np.size(self.value)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.result_type(self.value) if type(self.value) in PYTHON_TYPES else self.value.dtype

    def __getattr__(self, name: str) -> Any:
        if name in SIZES:
            return getattr(self.value, name)
        raise AttributeError(f"a recorded {type(self.value).__name__} has no attribute {name!r}")

    def numpy(self) -> Any:
        """Return the plain value, an array as a copy. No gradient flows through it."""
        if any(self.id in r.known for r in live.recorders if not r.selective):
            raise ConversionError(
                f".numpy() would take a traced value out of the function that is differentiated, "
                f"and lose its gradient, in {place()}. Use the value as it is."
            )
        left(Traced.numpy, self)
        value = self.value
        return value.copy() if type(value) is np.ndarray else value

    def __repr__(self) -> str:
        value = self.value
        return repr(np.asarray(value) if issubclass(type(value), ARRAYS) else value)

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _itself, (self.numpy(),)

    def __copy__(self) -> Any:
        return do(np.copy, (self,)) if type(self.value) is np.ndarray else self

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out")
        if method == "at" or (out is not None and any(o is not None for o in out)):
            refuse_write(f"np.{ufunc.__name__}{'.at' if method == 'at' else '(out=...)'}")
        args = tuple(map(joined, args))
        if method == "__call__":
            return record(ufunc, args, kwargs, ufunc(*plain(args), **plain(kwargs)))
        return do(*ufunc_method(ufunc, method, args, kwargs))

    def __array_function__(self, function: Function, types: Any, args: Any, kwargs: Any) -> Any:
        if function in ABOUT_TYPES:
            return function(*plain(args))
        refuse_writer(function, args, kwargs)
        return do(function, args, kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if capturing() or recorded(self):
            raise ConversionError(
                f"np.array or np.asarray would turn a recorded value into a plain array and lose "
                f"its gradient, in {place()}. Use the value as it is, join several with "
                f"np.stack([...]), or state a rule for the called function: srcgrad.primitive."
            )
        return np.array(self.value, dtype=dtype)

    # What Python asks

    def __bool__(self) -> bool:
        return ask(bool, self)

    def __int__(self) -> int:
        return ask(int, self)

    def __index__(self) -> int:
        return ask(operator.index, self)

    def __hash__(self) -> int:
        if type(self.value) is np.ndarray:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return ask(hash, self)

    def __float__(self) -> float:
        return convert(float, self)

    def __complex__(self) -> complex:
        return convert(complex, self)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self.value)))

    def __contains__(self, item: Any) -> bool:
        return bool((self == item).any())

    def __round__(self, ndigits: int | None = None) -> Any:
        args = (self,) if ndigits is None else (self, ndigits)
        return do(round, args) if ndigits is not None else ask(round, self)

    def __floor__(self) -> int:
        return ask(_floor, self)

    def __ceil__(self) -> int:
        return ask(_ceil, self)

    def __trunc__(self) -> int:
        return ask(int, self)

    def is_integer(self) -> bool:
        return ask(_is_integer, self)

    # Indexing

    def __getitem__(self, key: Any) -> Any:
        return record(operator.getitem, (self, key), {}, self.value[plain(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        refuse_write("x[...] = ...", self._is_variable())

    def __delitem__(self, key: Any) -> None:
        raise ValueError("cannot delete array elements")

    def _is_variable(self) -> bool:
        return type(self) is not Traced

    # Attributes and methods whose form is not that of a NumPy function

    @property
    def T(self) -> Any:
        return do(np.transpose, (self,)) if self.ndim > 1 else self

    @property
    def mT(self) -> Any:
        return do(np.matrix_transpose, (self,))

    @property
    def real(self) -> Any:
        return do(np.real, (self,))

    @property
    def imag(self) -> Any:
        return do(np.imag, (self,))

    @property
    def flat(self) -> Any:
        return do(np.ravel, (self,))

    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        return do(np.reshape, (self, shape[0] if len(shape) == 1 else shape), kwargs)

    def transpose(self, *axes: Any) -> Any:
        axes = axes[0] if len(axes) == 1 and type(axes[0]) is not int else axes
        return do(np.transpose, (self, axes) if axes else (self,))

    def flatten(self, order: str = "C") -> Any:
        return do(np.ravel, (self,) if order == "C" else (self, order))

    def astype(self, dtype: Any, **kwargs: Any) -> Any:
        return do(np.ndarray.astype, (_array(self), np.dtype(dtype)), kwargs)

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
        if out is not None:
            refuse_write("x.clip(out=...)")
        return do(np.clip, (self, min, max), kwargs)  # NumPy 2.0 names them a_min and a_max

    def item(self, *index: Any) -> Any:
        value = self[index[0] if len(index) == 1 else index] if index else self
        return do(_TO_PYTHON[value.dtype.kind], (value,))

    def tolist(self) -> Any:
        return [row.tolist() for row in self] if self.ndim else self.item()

    def compress(self, condition: Any, *args: Any, **kwargs: Any) -> Any:
        refuse_writer(np.compress, (condition, self, *args), kwargs)
        return do(np.compress, (condition, self, *args), kwargs)

    def sort(self, *args: Any, **kwargs: Any) -> None:
        refuse_write("x.sort()", self._is_variable())

    def view(self, *args: Any) -> Any:
        if args:
            raise ConversionError(
                f"x.view(...) reads the bytes of a recorded array as another type, in {place()}. "
                "No derivative follows that; use x.astype(...)."
            )
        return self[...]


TRACED.add(Traced)
SIZES = frozenset({"nbytes", "itemsize", "flags", "strides"})


def _itself(value: Any) -> Any:
    return value


def _array(t: Traced) -> Traced:
    return do(np.asarray, (t,)) if type(t.value) in PYTHON_TYPES else t


def _floor(value: Any) -> int:
    import math

    return math.floor(value)


def _ceil(value: Any) -> int:
    import math

    return math.ceil(value)


def _is_integer(value: Any) -> bool:
    return bool(value.is_integer())


_TO_PYTHON: dict[str, Function] = {"f": float, "c": complex, "b": bool, "i": int, "u": int}


# Questions ----------------------------------------------------------------------------------------


def recorded(t: Handle) -> bool:
    """Tell whether a live recorder of this thread knows `t`."""
    return any(t.id in r.known or r.reads(t) for r in live.recorders)


def ask(question: Function, t: Handle) -> Any:
    """Answer what Python asks of a traced value, and let the recorders guard the answer."""
    answer = question(t.value)
    for recorder in live.recorders:
        recorder.guard(question, t, answer)
    return answer


def convert(kind: Function, t: Handle) -> Any:
    """Give a plain number where C code asks for one: an error in functions, a warning on tapes."""
    if formats(sys._getframe(2)) and capturing():
        return kind(t.value)
    if capturing():
        raise ConversionError(
            f"{kind.__name__}() would turn a traced value into a plain number and lose its "
            f"gradient, in {place()}. Call np.* (or math.* in code whose source srcgrad can read) "
            f"on it, or state a rule for the called function: srcgrad.primitive."
        )
    if recorded(t):
        if stores(sys._getframe(2)):
            raise stored()
        warn(
            f"a recorded value became a plain {kind.__name__} in {place()}: no gradient flows "
            "through it",
            ConversionWarning,
        )
        left(kind, t)
    return kind(t.value)


def left(way: Function, t: Any) -> None:
    """Note that a value left the record by `way`, for whoever asks why a gradient is None."""
    if type(t) in TRACED:
        for recorder in live.recorders:
            recorder.guard(way, t, None)


def stored() -> ConversionError:
    """Return the error for ``out[i] = y`` of a recorded `y` into a plain array."""
    return ConversionError(
        f"out[...] = y would store a recorded value into a plain array and lose its gradient, in "
        f"{place()}. Collect the parts in a list and join them: np.stack or np.concatenate."
    )


def stores(frame: FrameType) -> bool:
    """Tell whether a frame stands at ``out[i] = ...``."""
    return opname[frame.f_code.co_code[frame.f_lasti]] in ("STORE_SUBSCR", "STORE_SLICE")


def formats(frame: FrameType) -> bool:
    """Tell whether a frame stands at ``'%f' % x``; nothing but text asks for a number there."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return opname[code[at]] == "BINARY_OP" and _nb_ops[code[at + 1]][1] in ("%", "%=")


# Operators ----------------------------------------------------------------------------------------

BINARY: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "matmul": np.matmul,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
}
COMPARISONS: dict[str, np.ufunc] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
UNARY: dict[str, np.ufunc] = {
    "neg": np.negative,
    "pos": np.positive,
    "abs": np.absolute,
    "invert": np.invert,
}


def binary(python: Function, ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Do ``a <op> b``: with Python's meaning on two Python numbers, NumPy's otherwise."""
    a, b = joined(a), joined(b)
    va = a.value if type(a) in TRACED else a
    vb = b.value if type(b) in TRACED else b
    ta, tb = type(va), type(vb)
    if not (operand_type(ta, va) and operand_type(tb, vb)):
        return NotImplemented
    if ta in PYTHON_TYPES and tb in PYTHON_TYPES:
        return record_number(python, (a, b), python(va, vb))
    # `**` is not np.power: x ** 2 is a square, x ** 0.5 a square root.
    return record(python if ufunc is np.power else ufunc, (a, b), {}, python(va, vb))


def joined(a: Any) -> Any:
    """Return a list of traced values as one array; anything else as it is."""
    if (type(a) is list or type(a) is tuple) and holds_traced(a):
        return do(np.array, (a,))
    return a


def operand_type(t: type, value: Any) -> bool:
    return t in OPERANDS or t is list or issubclass(type(value), ARRAYS)


def _forward(python: Function, ufunc: np.ufunc) -> Function:
    def method(self: Any, other: Any) -> Any:
        return binary(python, ufunc, self, other)

    return method


def _reflected(python: Function, ufunc: np.ufunc) -> Function:
    def method(self: Any, other: Any) -> Any:
        return binary(python, ufunc, other, self)

    return method


def _in_place(python: Function, ufunc: np.ufunc, sign: str) -> Function:
    def method(self: Any, other: Any) -> Any:
        if type(self.value) is np.ndarray:
            refuse_write(f"x {sign}= ...", self._is_variable())
        return binary(python, ufunc, self, other)

    return method


def _unary(python: Function, ufunc: np.ufunc) -> Function:
    def method(self: Any) -> Any:
        value = python(self.value)
        if type(self.value) in PYTHON_TYPES:
            return record_number(python, (self,), value)
        return record(ufunc, (self,), {}, value)

    return method


def _divmod(self: Any, other: Any) -> Any:
    return self // other, self % other


def _rdivmod(self: Any, other: Any) -> Any:
    return other // self, other % self


SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip


def _define_operators() -> None:
    for name, ufunc in BINARY.items():
        python = getattr(operator, f"__{name}__")
        setattr(Traced, f"__{name}__", _forward(python, ufunc))
        setattr(Traced, f"__r{name}__", _reflected(python, ufunc))
        setattr(Traced, f"__i{name}__", _in_place(python, ufunc, SIGNS[name]))
    for name, ufunc in COMPARISONS.items():
        setattr(Traced, f"__{name}__", _forward(getattr(operator, name), ufunc))
    for name, ufunc in UNARY.items():
        setattr(Traced, f"__{name}__", _unary(getattr(operator, f"__{name}__"), ufunc))
    setattr(Traced, "__divmod__", _divmod)  # noqa: B010  (mypy does not see operators)
    setattr(Traced, "__rdivmod__", _rdivmod)  # noqa: B010


_define_operators()


# Methods ------------------------------------------------------------------------------------------

METHODS: dict[str, Function] = {
    name: getattr(np, name)
    for name in (
        "all any argmax argmin argpartition argsort choose conj conjugate cumprod "
        "cumsum diagonal dot max mean min nonzero prod ravel repeat round searchsorted squeeze std "
        "sum swapaxes take trace var copy"
    ).split()
}
WRITING_METHODS = "fill itemset partition put resize setfield setflags byteswap".split()
WRITERS = frozenset({np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis})
WRITING = {"out": None, "overwrite_input": False}  # what means a write, unless it is this
ABOUT_TYPES = frozenset({np.iscomplexobj, np.isrealobj, np.shares_memory, np.may_share_memory})


def refuse_writer(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise where a call of NumPy's would write into one of its arguments."""
    if function in WRITERS:
        refuse_write(f"np.{function.__name__}")
    if function is np.nan_to_num and not (args[1] if len(args) > 1 else kwargs.get("copy", True)):
        refuse_write("np.nan_to_num(copy=False)")
    if kwargs:
        for name, harmless in WRITING.items():
            if kwargs.get(name, harmless) is not harmless:
                refuse_write(f"np.{function.__name__}({name}=...)")
    position = out_position(function)
    if len(args) > position and args[position] is not None:
        refuse_write(f"np.{function.__name__}(out=...)")


@functools.cache
def out_position(function: Any) -> int:
    """Return at which position a function takes `out`; a large number if at none."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1000
    names = [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
    return names.index("out") if "out" in names else 1000


def _method(function: Function) -> Function:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        refuse_writer(function, (self, *args), kwargs)
        return do(function, (self, *args), kwargs)

    return method


def _writing_method(name: str) -> Function:
    def method(self: Any, *args: Any, **kwargs: Any) -> None:
        refuse_write(f"x.{name}()", self._is_variable())

    return method


for _name, _function in METHODS.items():
    setattr(Traced, _name, _method(_function))
for _name in WRITING_METHODS:
    setattr(Traced, _name, _writing_method(_name))

REDUCTIONS: dict[tuple[np.ufunc, str], Callable[..., Any]] = {
    (np.add, "reduce"): np.sum,
    (np.multiply, "reduce"): np.prod,
    (np.maximum, "reduce"): np.max,
    (np.minimum, "reduce"): np.min,
    (np.logical_and, "reduce"): np.all,
    (np.logical_or, "reduce"): np.any,
    (np.add, "accumulate"): np.cumsum,
    (np.multiply, "accumulate"): np.cumprod,
}


def ufunc_method(
    ufunc: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Function, tuple[Any, ...], dict[str, Any]]:
    """Return the call that a ufunc's method stands for: ``np.add.reduce(a)`` is a sum over axis 0.

    A method without such a twin is its own function, and has no rule.
    """
    twin = REDUCTIONS.get((ufunc, method))
    if twin is not None and len(args) <= 2:
        return twin, args if len(args) == 2 else (*args, kwargs.pop("axis", 0)), kwargs
    if method == "outer" and not kwargs and len(args) == 2:
        a, b = args
        shape = (*np.shape(a), *(1,) * np.ndim(b))
        return ufunc, (do(np.reshape, (a, shape)), b), {}
    return getattr(ufunc, method), args, kwargs


def holds_traced(*trees: Any) -> bool:
    """Tell whether a traced value stands in an argument tree."""
    return any(type(leaf) in TRACED for leaf in leaves(trees))
