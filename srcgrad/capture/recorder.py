"""The one recorder, of functions and of tapes.

A recorder follows a trie of known steps while the program runs: a node is a step, its key is the
function, the variables it reads, its static arguments and the type of its result. In the steady
state nothing is built, so the adjoint that an earlier run left at a node is found for the price of
a dictionary look-up per operation. A run that leaves the known paths grows the trie.

Numbers of the text (``2 * x``) are part of a step until a second run shows another number in the
same place; then the place becomes an input, as are arrays from outside.
"""

from __future__ import annotations

import itertools
import operator
import threading
from typing import Any

import numpy as np

from ..errors import ArrayTypeError, place, user_frame
from ..trace import Call, Function, Guard, Input, Origin, Step, Trace, Var, leaves, var_of

_ids = itertools.count()
_grow_lock = threading.RLock()

ARRAYS = (np.ndarray, np.generic)


class Handle:
    """What the recorders know a value by: a counter id. `arrays.py` gives it its behaviour."""

    __slots__ = ("base", "id", "value")

    def __init__(self, value: Any, base: Handle | None = None) -> None:
        self.value = value
        self.id = next(_ids)
        self.base = base  # the traced array that this one is a view of

    def frozen(self) -> Handle:
        """Return what has this value for good; a variable's own value changes."""
        return self


TRACED: set[type] = set()  # the classes of traced values, for `type(x) in TRACED`


class Node:
    """A step of the trie, with the inputs that enter just before it."""

    __slots__ = (
        "children", "depth", "inputs", "literals", "parent", "programs", "promoted", "step",
    )  # fmt: skip

    def __init__(
        self,
        parent: Node | None = None,
        step: Step | None = None,
        inputs: tuple[Input, ...] = (),
        literals: tuple[Any, ...] = (),
        promoted: dict[int, Var] | None = None,
    ) -> None:
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent else 0
        self.step = step
        self.inputs = inputs
        self.literals = literals
        self.promoted = promoted or {}
        self.children: dict[Any, Node] = {}
        self.programs: dict[Any, Any] = {}

    def path(self) -> list[Node]:
        """Return the nodes from the root to this one."""
        nodes, node = [], self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def trace(self, outputs: tuple[Var, ...]) -> Trace:
        """Return the path as a trace with `outputs`."""
        path = self.path()
        inputs = tuple(i for node in path for i in node.inputs)
        return Trace(inputs, tuple(n.step for n in path if n.step is not None), outputs)


class Recorder:
    """Follows the operations of one run along a trie.

    Parameters
    ----------
    root : Node
        Where the trie of this program begins.
    selective : bool
        A tape: keep only the steps that depend on what it knows. Otherwise keep every step and
        take what is unknown as an input.
    """

    __slots__ = ("known", "node", "origin", "plain", "selective", "values")

    def __init__(self, root: Node, selective: bool = False) -> None:
        self.node = root
        self.selective = selective
        self.origin: Origin | None = None  # where new steps come from, if not from here
        self.known: dict[int, Var] = {}  # by id of a traced value
        self.values: dict[Var, Handle] = {}
        self.plain: dict[int, tuple[Any, Handle]] = {}  # copies of plain arrays, by id(array)

    # Inputs

    def enter(self, handle: Handle, kind: str, name: str | None = None) -> Var:
        """Take `handle` as an input of the program."""
        key = (kind, name, type_key(handle.value))
        node = self.node.children.get(key)
        if node is None:
            with _grow_lock:
                entry = Input(var_of(handle.value), kind, name)
                node = self.node.children.setdefault(key, Node(self.node, None, (entry,)))
        self.node = node
        return self.know(handle, node.inputs[0].var)

    def know(self, handle: Handle, var: Var) -> Var:
        self.known[handle.id] = var
        self.values[var] = handle
        return var

    def lift(self, operand: Any) -> Var:
        """Take an operand from outside as an input: a traced value of others, or a plain array.

        A plain array is copied, since a buffer that is filled again must not change a gradient;
        one that did not change since its last use is the same input.
        """
        if type(operand) in TRACED:
            return self.known.get(operand.id) or self.lift_traced(operand)
        seen = self.plain.get(id(operand))
        if seen is not None and same_bytes(seen[1].value, operand):
            return self.known[seen[1].id]
        handle = Handle(plain_copy(operand))
        self.plain[id(operand)] = (operand, handle)
        return self.enter(handle, "lifted")

    def lift_traced(self, operand: Handle) -> Var:
        return self.enter(operand.frozen(), "lifted", _name_of(operand))

    # Steps

    def follow(
        self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any
    ) -> None:
        """Go on to the step that was just done; `out` is its traced result (or a tuple of them)."""
        if self.selective and not self._reads_known(args, kwargs):
            return
        literals: list[Any] = []
        key: list[Any] = [function]
        known = self.known
        for a in args:
            t = type(a)
            if t in TRACED:
                key.append(known.get(a.id) or self.lift(a))
            elif t is float:
                key.append(float)
                literals.append(a)
            else:
                key.append(self._token(a, literals, is_arithmetic(function)))
        if kwargs:
            for name, a in kwargs.items():
                key.append(name)
                key.append(self._token(a, literals, False))
        if type(out) is tuple:
            key.extend([type_key(o.value) for o in out])
        else:
            key.append(type_key(out.value))
        self._step(tuple(key), function, args, kwargs, out, tuple(literals))

    def guard(self, observe: Function, handle: Handle, answer: Any) -> None:
        """Write down what Python asked of a traced value, and the answer."""
        var = self.known.get(handle.id)
        if var is None:
            return
        key = (guard_key, observe, var, type(answer), answer)
        node = self.node.children.get(key)
        if node is None:
            with _grow_lock:
                step = Guard(observe, var, answer, origin())
                node = self.node.children.setdefault(key, Node(self.node, step))
        self.node = node

    def _step(
        self,
        key: tuple[Any, ...],
        function: Function,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        out: Any,
        literals: tuple[Any, ...],
    ) -> None:
        node = self.node.children.get(key)
        if node is None or (literals and not fits(node, literals)):
            node = self._grow(key, function, args, kwargs, out, literals)
        self.node = node
        for position, var in node.promoted.items():
            self.values[var] = Handle(literals[position])
        step = node.step
        if type(out) is tuple:
            for handle, var in zip(out, step.out, strict=True):  # type: ignore[union-attr,arg-type]
                self.know(handle, var)
        else:
            var = step.out  # type: ignore[union-attr,assignment]
            self.known[out.id] = var
            self.values[var] = out

    def _grow(
        self,
        key: tuple[Any, ...],
        function: Function,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        out: Any,
        literals: tuple[Any, ...],
    ) -> Node:
        """Add the step to the trie; numbers that differ from an earlier run's become inputs."""
        with _grow_lock:
            old = self.node.children.get(key)
            if old is not None and fits(old, literals):
                return old
            promoted = promote(old, literals) if old is not None else {}
            freeze = Freezer(self, promoted, is_arithmetic(function))
            frozen = tuple([freeze(a, True) for a in args])
            frozen_kwargs = {name: freeze(a, False) for name, a in kwargs.items()}
            var: Any = (
                tuple([var_of(o.value) for o in out]) if type(out) is tuple else var_of(out.value)
            )
            step = Call(function, frozen, frozen_kwargs, var, self.origin or origin())
            inputs = tuple(Input(v, "literal") for v in promoted.values())
            node = Node(self.node, step, inputs, literals, promoted)
            self.node.children[key] = node
            return node

    def _reads_known(self, args: Any, kwargs: Any) -> bool:
        """Tell whether an operand is known; a variable that is read becomes known."""
        found = False
        for leaf in leaves((args, kwargs)):
            if type(leaf) in TRACED:
                found = self.reads(leaf) or found
        return found

    def reads(self, handle: Handle) -> bool:
        return handle.id in self.known

    def _token(self, a: Any, literals: list[Any], operand: bool) -> Any:
        """Return what stands for an argument in a key."""
        t = type(a)
        if t in TRACED or issubclass(type(a), ARRAYS):
            return self.lift(a)
        if t is float or t is complex or (t is int and operand):
            literals.append(a)
            return t
        if t is tuple or t is list:
            return (t, *[self._token(item, literals, operand) for item in a])
        if t is dict:
            return (t, *[(k, self._token(item, literals, operand)) for k, item in a.items()])
        if t is slice:
            parts = (a.start, a.stop, a.step)
            return (t, *[self._token(item, literals, False) for item in parts])
        return static_key(a)


class Freezer:
    """Turns arguments into those of a step: variables for traced values and arrays.

    It meets the literals in the order in which `_token` did, and puts a variable where one is an
    input by now.
    """

    def __init__(self, recorder: Recorder, promoted: dict[int, Var], operands: bool) -> None:
        self.recorder = recorder
        self.promoted = promoted
        self.operands = operands
        self.position = 0

    def __call__(self, a: Any, positional: bool) -> Any:
        t = type(a)
        if t in TRACED or issubclass(type(a), ARRAYS):
            return self.recorder.lift(a)
        if t is float or t is complex or (t is int and positional and self.operands):
            self.position += 1
            return self.promoted.get(self.position - 1, a)
        if t is tuple or t is list:
            return t([self(item, positional) for item in a])
        if t is dict:
            return {k: self(item, positional) for k, item in a.items()}
        if t is slice:
            return slice(*[self(item, False) for item in (a.start, a.stop, a.step)])
        return a


# An int beside these is a number of the text; elsewhere it is an axis, an index, a size.
PYTHON_ARITHMETIC = frozenset(
    {
        getattr(operator, name)
        for name in "add sub mul truediv floordiv mod pow lt le gt ge eq ne".split()
    }
)


def is_arithmetic(function: Function) -> bool:
    """Tell whether the operands of a function are numbers all."""
    return type(function) is np.ufunc or function in PYTHON_ARITHMETIC


def guard_key() -> None:
    """Stand for a guard in the key of a node."""


def type_key(value: Any) -> Any:
    """Return a hashable description of the type of a value: kind, dtype, shape."""
    t = type(value)
    return (t, value.dtype, value.shape) if t not in PYTHON_TYPES else t


PYTHON_TYPES = frozenset({float, bool, int, complex})


def static_key(a: Any) -> Any:
    """Return what stands for a static argument in a key; equal things of other types differ."""
    try:
        hash(a)
    except TypeError:
        return (type(a), repr(a))
    return (type(a), a)


def fits(node: Node, literals: tuple[Any, ...]) -> bool:
    """Tell whether the numbers of the text are those of `node`, to the sign of a zero."""
    if literals == node.literals and 0 not in literals:
        return True
    if repr(literals) == repr(node.literals):  # -0.0 equals 0.0, and nan nothing
        return True
    return bool(node.promoted) and not promote(node, literals).keys() - node.promoted.keys()


def promote(node: Node, literals: tuple[Any, ...]) -> dict[int, Var]:
    """Return new variables for the numbers that are no longer the same in every run."""
    changed = dict(node.promoted)
    for i, (old, new) in enumerate(zip(node.literals, literals, strict=True)):
        if i not in changed and repr(old) != repr(new):
            changed[i] = var_of(new)
    return {i: var.like() for i, var in sorted(changed.items())} if changed else {}


def same_bytes(a: Any, b: Any) -> bool:
    """Tell whether two arrays (or NumPy scalars) are the same to the last bit, nan included."""
    if a is b:
        return True
    if type(b) is not np.ndarray or a.dtype != b.dtype or a.shape != b.shape:
        return False
    return np.array_equal(bytes_of(a), bytes_of(b))  # a memoryview compares byte by byte


def bytes_of(a: np.ndarray) -> np.ndarray:
    """Return the bytes of an array in the order of its elements, whatever its strides."""
    return np.ascontiguousarray(a).reshape(-1).view(np.uint8)


def plain_copy(a: Any) -> Any:
    """Return a copy that nobody else can write to; refuse arrays that are no arrays of numbers."""
    if type(a) not in (np.ndarray, np.memmap) and issubclass(type(a), np.ndarray):
        raise ArrayTypeError(
            f"a {type(a).__name__} takes part in a traced computation, in {place()}. "
            "Its rules are its own: pass a plain array, np.asarray(a)."
        )
    if a.dtype.hasobject:
        raise ArrayTypeError(
            f"an array of dtype object takes part in a traced computation, in {place()}. "
            "Make it an array of numbers with .astype(float)."
        )
    return np.array(a) if issubclass(type(a), np.ndarray) else a


def origin() -> Origin | None:
    """Return where the user's program stands."""
    frame = user_frame()
    return None if frame is None else (frame.f_code, frame.f_lasti)


def _name_of(handle: Any) -> str | None:
    return getattr(handle, "name", None)


# The recorders that are live in this thread -------------------------------------------------------


class _Live(threading.local):
    recorders: tuple[Recorder, ...] = ()


live = _Live()


class recording:
    """Context: `recorder` is live, beside those that are, or `alone`."""

    def __init__(self, recorder: Recorder, alone: bool = False) -> None:
        self.recorder = recorder
        self.alone = alone

    def __enter__(self) -> Recorder:
        self.before = live.recorders
        live.recorders = (self.recorder,) if self.alone else (*self.before, self.recorder)
        return self.recorder

    def __exit__(self, *exc: object) -> None:
        live.recorders = self.before


class pausing:
    """Context: nothing is recorded, or all but `recorder` record."""

    def __init__(self, recorder: Recorder | None = None) -> None:
        self.recorder = recorder

    def __enter__(self) -> None:
        self.before = live.recorders
        live.recorders = tuple(r for r in self.before if self.recorder and r is not self.recorder)

    def __exit__(self, *exc: object) -> None:
        live.recorders = self.before


def alias(fresh: Handle, handle: Handle) -> None:
    """Let every live recorder that knows `handle` know `fresh` as the same variable."""
    for recorder in live.recorders:
        if recorder.selective:
            recorder.reads(handle)
        var = recorder.known.get(handle.id)
        if var is None and not recorder.selective:
            var = recorder.lift(handle)
        if var is not None:
            recorder.known[fresh.id] = var


def capturing() -> bool:
    """Tell whether a function is being traced in this thread (and not only a tape)."""
    return any(not r.selective for r in live.recorders)
