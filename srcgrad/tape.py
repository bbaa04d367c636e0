"""GradientTape, Variable, constant: another front door to the same rooms.

The block's operations are recorded as they run; a gradient slices the record, finds or generates
its adjoint, and runs it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Self

import numpy as np

from . import tree
from .api import finished, seed, zeros_like
from .call import checked_array, is_active
from .capture.arrays import Traced, do, left, plain, recorded
from .capture.recorder import ARRAYS, TRACED, Handle, Node, Recorder, live, pausing
from .diagnosis import reason
from .errors import (
    ArgumentError,
    ConversionError,
    TapeError,
    UnconnectedGradientError,
    UnconnectedGradientWarning,
    UnwatchedError,
    place,
    warn,
)
from .specialize import Gradient, cache, differentiate
from .trace import Var

ONCE = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
)


# Arrays -------------------------------------------------------------------------------------------


def constant(value: Any, dtype: Any = None) -> Any:
    """Return an array that a tape can watch; `value` is copied.

    Parameters
    ----------
    value : array_like
    dtype : dtype, optional

    Examples
    --------
    >>> import srcgrad
    >>> x = srcgrad.constant([1.0, 2.0])
    >>> with srcgrad.GradientTape() as t:
    ...     x = t.watch(x)
    ...     y = (x * x).sum()
    >>> t.gradient(y, x)
    array([2., 4.])
    """
    if type(value) in TRACED and recorded(value):
        made = do(np.array, (value,))
        return made if dtype is None else made.astype(dtype)
    if any(type(leaf) in TRACED and recorded(leaf) for leaf in tree.flatten(value)[0]):
        raise ConversionError(
            f"constant() of a list would lose the gradient of the recorded values in it, in "
            f"{place()}. Join them with np.stack([...])."
        )
    return Traced(new_array(value, dtype))


def new_array(value: Any, dtype: Any = None) -> np.ndarray:
    if type(value) in TRACED:
        value = value.value
    elif type(value) in (list, tuple):
        value = plain(value)
    made = np.array(checked_array(value, "x", "array"), dtype=dtype)
    if made.dtype.kind not in "fcbiu":
        raise ArgumentError(
            f"an array of dtype {made.dtype} cannot take part in a recorded computation, "
            f"in {place()}. Give numbers."
        )
    return made


class Variable(Traced):
    """An array that keeps its place while its value changes; a tape watches it when it is read.

    Parameters
    ----------
    value : array_like
        Copied.
    trainable : bool
        Whether tapes watch it by themselves.
    dtype : dtype, optional
    name : str, optional
        Stands in the generated source.

    Examples
    --------
    >>> import srcgrad
    >>> v = srcgrad.Variable(3.0)
    >>> with srcgrad.GradientTape() as t:
    ...     y = v * v
    >>> t.gradient(y, v).numpy()
    array(6.)
    >>> v.assign_sub(1.0).numpy()
    array(2.)
    """

    __slots__ = ("_snapshot", "name", "serial", "trainable")

    def __init__(
        self, value: Any, trainable: bool = True, dtype: Any = None, name: str | None = None
    ) -> None:
        super().__init__(new_array(value, dtype))
        self.trainable = trainable
        self.name = name
        self.serial = self.id
        self._snapshot: Traced | None = None

    def __hash__(self) -> int:
        return self.serial

    def frozen(self) -> Traced:
        """Return the present value as a traced value of its own, with the same id."""
        if self._snapshot is None:
            self._snapshot = Traced(self.value)
            self._snapshot.id = self.id
        return self._snapshot

    def assign(self, value: Any) -> Variable:
        """Replace the value; shape and dtype stay. Returns the variable.

        Parameters
        ----------
        value : array_like
            Of the variable's shape; copied.

        Raises
        ------
        ValueError
            The shape is another.
        ArgumentError
            The dtype cannot hold the value: complex numbers in a real variable.

        Notes
        -----
        No gradient flows through an assignment: what is read later is a new value.
        """
        return self.replace(self.fitting(value))

    def fitting(self, value: Any) -> np.ndarray:
        """Return a copy of a value in the dtype of the variable; raise where it does not fit."""
        for leaf in tree.flatten(value)[0]:
            left(Variable.assign, leaf)
        new, own = new_array(value), self.value
        if new.shape != own.shape:
            raise ValueError(
                f"a variable of shape {own.shape} cannot be assigned a value of shape "
                f"{new.shape}, in {place()}. Make a new Variable."
            )
        if not np.can_cast(new.dtype, own.dtype, "same_kind"):
            raise ArgumentError(
                f"a variable of dtype {own.dtype} cannot be assigned a value of dtype "
                f"{new.dtype}, in {place()}. Convert it: .astype({own.dtype.name})."
            )
        return new.astype(own.dtype, copy=False)

    def replace(self, new: np.ndarray) -> Variable:
        self.value = np.asarray(new)
        self.id = Traced(None).id
        self._snapshot = None
        return self

    def assign_add(self, delta: Any) -> Variable:
        """Add `delta` to the value. Returns the variable."""
        return self.replace(self.value + self.fitting(delta))

    def assign_sub(self, delta: Any) -> Variable:
        """Subtract `delta` from the value. Returns the variable."""
        return self.replace(self.value - self.fitting(delta))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Variable, (self.value, self.trainable, None, self.name)

    def __copy__(self) -> Variable:
        return Variable(self.value, self.trainable, None, self.name)

    def __repr__(self) -> str:
        name = f", name={self.name!r}" if self.name else ""
        return f"Variable({np.array2string(self.value, separator=', ')}{name})"


class TapeRecorder(Recorder):
    """A recorder that knows what its tape watches, and watches variables when they are read."""

    __slots__ = ("accessed", "constants", "seen", "versions")

    def __init__(self, root: Node, accessed: bool) -> None:
        super().__init__(root, selective=True)
        self.accessed = accessed
        self.versions: dict[int, tuple[Variable, list[Handle]]] = {}
        self.seen: set[int] = set()  # traced operands that the tape did not know
        self.constants: dict[int, Var] = {}  # those of them that are operands of recorded steps

    def reads(self, handle: Handle) -> bool:
        if handle.id in self.known:
            return True
        if type(handle) is Variable and self.accessed and handle.trainable:
            return self.watch_variable(handle)
        self.seen.add(handle.id)
        return False

    def lift_traced(self, operand: Handle) -> Var:
        """Take what is not watched as an input, which is no source and depends on none."""
        var = self.constants.get(operand.id)
        if var is None:
            var = self.constants[operand.id] = super().lift_traced(operand)
            del self.known[operand.id]
        return var

    def watch_variable(self, variable: Variable) -> bool:
        if not is_active(variable.value):
            return False
        snapshot = variable.frozen()
        if snapshot.id not in self.known:
            self.enter(snapshot, "argument", variable.name)
            self.versions.setdefault(id(variable), (variable, []))[1].append(snapshot)
        return True


# The tape -----------------------------------------------------------------------------------------


class GradientTape:
    """Record operations for differentiation; tf.GradientTape's meaning over NumPy.

    Parameters
    ----------
    persistent : bool
        Whether more than one gradient can be taken; ``del tape`` frees what was recorded.
    watch_accessed_variables : bool
        Whether trainable variables that are read in the block are watched.

    Examples
    --------
    >>> import numpy as np
    >>> from srcgrad import GradientTape, Variable
    >>> w = Variable([1.0, 2.0])
    >>> with GradientTape() as tape:
    ...     loss = np.sum(w * w)
    >>> tape.gradient(loss, w)
    array([2., 4.])
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self.persistent = persistent
        self.accessed = watch_accessed_variables
        self.recorder: TapeRecorder | None = None
        self.used = False
        self.recording = False
        self.watch_calls: list[str] = []
        self.stopped_at: int | None = None

    # Recording

    def __enter__(self) -> Self:
        if self.recording:
            raise TapeError(
                f"Tape is still recording and cannot be entered twice, in {place()}. "
                "Make another: GradientTape()."
            )
        if self.recorder is None:
            self.recorder = self.new_recorder()
            self.used = False
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self.recording:
            self.stop()

    def new_recorder(self) -> TapeRecorder:
        frame = sys._getframe(1)
        while frame.f_back and frame.f_code.co_filename == __file__:
            frame = frame.f_back
        return TapeRecorder(cache.root(frame.f_code), self.accessed)

    def start(self) -> None:
        self.recording = True
        self.stopped_at = None
        assert self.recorder is not None
        live.recorders = (*live.recorders, self.recorder)

    def stop(self) -> None:
        self.recording = False
        self.stopped_at = next_id()
        live.recorders = tuple(r for r in live.recorders if r is not self.recorder)

    def stop_recording(self) -> AbstractContextManager[None]:
        """Do the operations of a block without recording them.

        Examples
        --------
        >>> from srcgrad import GradientTape, Variable
        >>> v = Variable(3.0)
        >>> with GradientTape() as t:
        ...     y = v * v
        ...     with t.stop_recording():
        ...         print("%.1f" % y)
        9.0
        """
        self.need_recording("stop_recording")
        return self.stopped()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        self.stop()
        try:
            yield
        finally:
            if not self.used:  # the one gradient of a plain tape may have been taken meanwhile
                self.start()

    def reset(self) -> None:
        """Forget what was recorded and what is watched, and go on recording.

        Raises
        ------
        TapeError
            Nothing is being recorded.
        """
        self.need_recording("reset")
        self.stop()
        self.recorder = self.new_recorder()
        self.watch_calls = []
        self.start()

    def need_recording(self, method: str) -> None:
        if not self.recording:
            raise TapeError(
                f"Tape is not recording, so {method}() has nothing to do, in {place()}. "
                "Call it in the tape's block."
            )

    def watch(self, x: Any) -> Any:
        """Mark an array as one to differentiate by, and return it.

        Parameters
        ----------
        x : srcgrad array, array, float, or a nest of them
            Of plain arrays and floats, recorded copies are returned: ``x = t.watch(x)``.

        Raises
        ------
        ArgumentError
            Ints, strings and the like.
        TapeError
            Outside of the block.
        """
        if not self.recording:
            raise TapeError(
                f"watch() outside of the tape's block, in {place()}. Call it inside: "
                "`with GradientTape() as t: t.watch(x)`."
            )
        self.watch_calls.append(place())
        if type(x) not in TRACED and tree.is_container(x):
            return tree.tree_map(self.watch_leaf, x)
        return self.watch_leaf(x)

    def watch_leaf(self, x: Any) -> Any:
        recorder = self.recorder
        assert recorder is not None
        handle = x
        if type(x) not in TRACED:
            if type(x) not in (float, complex) and not issubclass(type(x), ARRAYS):
                raise not_watchable(x)
            handle = Traced(new_array(x))
        if not is_active(handle.value):
            raise not_watchable(x)
        if type(handle) is Variable:
            recorder.watch_variable(handle)
        elif handle.id not in recorder.known:
            recorder.enter(handle, "argument")
        return handle

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables that the tape watches, in the order in which it met them."""
        if self.recorder is None:
            return ()
        return tuple(variable for variable, _ in self.recorder.versions.values())

    # Gradients

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: str | None = None,
    ) -> Any:
        """Return the gradient of the sum of the targets with respect to each source.

        Parameters
        ----------
        target : srcgrad array, or a nest of them
        sources : srcgrad array or Variable, or a nest of them
        output_gradients : optional
            Of the structure and shapes of `target`; None (in a nest too) stands for ones.
        unconnected_gradients : {"none", "zero", "raise"}, optional
            What stands for a gradient where no target depends on a source. By default None, with
            a warning that gives the reason.

        Returns
        -------
        A srcgrad array (or None) for each source, in the structure of `sources`.

        Raises
        ------
        TapeError
            A second gradient of a tape that is not persistent.
        UnwatchedError
            A plain array as target or source.
        UnconnectedGradientError
            No target depends on a source, and "raise" was asked for.
        """
        recorder = self.ready(unconnected_gradients)
        targets, target_structure = self.leaves(target, "target")
        wanted, structure = self.leaves(sources, "source")
        join(recorder, targets, wanted)
        seeds = output_seeds(targets, target_structure, output_gradients)
        results = self.solve(recorder, targets, wanted, seeds)
        results = [
            self.missing(targets, w, unconnected_gradients) if r is None else r
            for r, w in zip(results, wanted, strict=True)
        ]
        self.finish()
        return tree.unflatten(structure, results)

    def solve(
        self, recorder: TapeRecorder, targets: list[Any], wanted: list[Any], seeds: list[Any] | None
    ) -> list[Any]:
        """Return a traced gradient, or None, for each source."""
        if self.recording and not self.persistent:
            with pausing(recorder):
                return self.solved(recorder, targets, wanted, seeds)
        return self.solved(recorder, targets, wanted, seeds)

    def solved(
        self, recorder: TapeRecorder, targets: list[Any], wanted: list[Any], seeds: list[Any] | None
    ) -> list[Any]:
        handles = [self.versions(recorder, w) for w in wanted]
        flat = tuple({h.id: h for hs in handles for h in hs}.values())
        found, values = self.found(recorder, targets, flat, seeds)
        if found is None:
            return [None] * len(wanted)
        by_id = {h.id: v for h, v in zip(flat, values, strict=True)}
        return [total([by_id[h.id] for h in hs]) for hs in handles]

    def found(
        self, recorder: TapeRecorder, targets: list[Any], flat: Any, seeds: list[Any] | None
    ) -> tuple[Gradient | None, list[Any]]:
        known = recorder.known
        pairs = [
            (t, None if seeds is None else seeds[i])
            for i, t in enumerate(targets)
            if t.id in known and is_active(t.value)
        ]
        if not pairs or not flat:
            return None, []
        used = tuple(t for t, _ in pairs)
        given = None if seeds is None else tuple(s for _, s in pairs)
        result = differentiate(recorder, used, flat, given)
        values = [
            recorded_result(v, h, c)
            for v, h, c in zip(result.values, flat, result.program.connected, strict=True)
        ]
        return result, values

    def versions(self, recorder: TapeRecorder, wanted: Any) -> list[Handle]:
        """Return the recorded values of a source: several for a variable that was assigned to."""
        if type(wanted) is Variable and id(wanted) in recorder.versions:
            return recorder.versions[id(wanted)][1]
        return [wanted] if wanted.id in recorder.known else []

    def ready(self, mode: str | None) -> TapeRecorder:
        """Return the record; raise where there is none that a gradient can be taken of."""
        if mode not in (None, "none", "zero", "raise"):
            raise ValueError(
                f"Unknown value for unconnected_gradients: {mode!r}, in {place()}. "
                "It is 'none', 'zero' or 'raise'."
            )
        if self.used:
            raise TapeError(
                f"{ONCE}; this is the second, in {place()}. "
                "Make it one that can: GradientTape(persistent=True)."
            )
        if self.recorder is None:
            raise TapeError(
                f"the tape has recorded nothing, in {place()}. Enter it first: `with tape:`."
            )
        return self.recorder

    def finish(self) -> None:
        """Free the record of a tape that is not persistent: its one gradient is taken."""
        if not self.persistent:
            if self.recording:
                self.stop()
            self.used = True
            self.recorder = None

    def leaves(self, value: Any, what: str) -> tuple[list[Any], Any]:
        leaves, structure = tree.flatten(value)
        for leaf in leaves:
            if type(leaf) not in TRACED:
                raise self.unwatched(leaf, what)
        return leaves, structure

    def leaf(self, value: Any, what: str) -> Any:
        """Return a single target or source."""
        leaves, _ = self.leaves(value, what)
        if len(leaves) != 1:
            raise ValueError(f"one {what} is taken here, not {len(leaves)}, in {place()}.")
        return leaves[0]

    def unwatched(self, leaf: Any, what: str) -> UnwatchedError:
        if leaf is None:
            return UnwatchedError(f"a {what} is None, in {place()}. Give a recorded array.")
        watched = f" watch() was called in {self.watch_calls[0]}." if self.watch_calls else ""
        return UnwatchedError(
            f"a {what} is a plain {type(leaf).__name__}, which no tape can know, in {place()}."
            f"{watched} Use what watch returns: x = t.watch(x)."
        )

    def missing(self, targets: list[Any], wanted: Any, mode: str | None, shape: Any = None) -> Any:
        """Return what stands for a gradient (or a jacobian of `shape`) that is not there."""
        if mode == "zero":
            zero = zeros_like(wanted)
            return Traced(zero if shape is None else np.zeros(shape, zero.dtype))
        if mode == "none":
            return None
        text = f"no gradient in {place()}: {reason(self, targets, wanted)}"
        if mode == "raise":
            raise UnconnectedGradientError(text)
        warn(text, UnconnectedGradientWarning)
        return None

    # Jacobians

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: str | None = None) -> Any:
        """Return the derivative of each element of `target` with respect to each source.

        Parameters
        ----------
        target : srcgrad array
        sources : srcgrad array or Variable, or a nest of them
        unconnected_gradients : {"none", "zero", "raise"}, optional
            As in `gradient`.

        Returns
        -------
        srcgrad array of shape ``target.shape + source.shape``, in the structure of `sources`.

        Raises
        ------
        TapeError, UnwatchedError, UnconnectedGradientError
            As in `gradient`.

        Examples
        --------
        >>> from srcgrad import GradientTape, Variable
        >>> v = Variable([1.0, 2.0])
        >>> with GradientTape() as t:
        ...     y = v * v
        >>> t.jacobian(y, v)
        array([[2., 0.],
               [0., 4.]])
        """
        recorder = self.ready(unconnected_gradients)
        goal = self.leaf(target, "target")
        wanted, structure = self.leaves(sources, "source")
        join(recorder, [goal], wanted)
        there = self.solve(recorder, [goal], wanted, None)
        rows = [
            self.solve(recorder, [goal], wanted, [unit(goal, i)])
            for i in np.ndindex(np.shape(goal.value))
        ]
        results = []
        for k, w in enumerate(wanted):
            shape = np.shape(goal.value) + np.shape(w.value)
            if there[k] is None:
                results.append(self.missing([goal], w, unconnected_gradients, shape))
            else:
                results.append(stacked([row[k] for row in rows], shape, w))
        self.finish()
        return tree.unflatten(structure, results)

    def batch_jacobian(
        self, target: Any, source: Any, unconnected_gradients: str | None = None
    ) -> Any:
        """Return the jacobian of each row of `target` with respect to the same row of `source`.

        Row i of `target` must depend on row i of `source` alone: that is not checked.

        Parameters
        ----------
        target : srcgrad array of shape (n, ...)
        source : srcgrad array or Variable of shape (n, ...)
        unconnected_gradients : {"none", "zero", "raise"}, optional
            As in `gradient`.

        Returns
        -------
        srcgrad array of shape ``(n, *target.shape[1:], *source.shape[1:])``.

        Raises
        ------
        ValueError
            The first axes of target and source differ.

        Examples
        --------
        >>> from srcgrad import GradientTape, Variable
        >>> v = Variable([[1.0, 2.0], [3.0, 4.0]])
        >>> with GradientTape() as t:
        ...     y = np.sum(v * v, axis=1)
        >>> t.batch_jacobian(y, v)
        array([[2., 4.],
               [6., 8.]])
        """
        recorder = self.ready(unconnected_gradients)
        goal = self.leaf(target, "target")
        wanted = self.leaf(source, "source")
        join(recorder, [goal], [wanted])
        a, b = np.shape(goal.value), np.shape(wanted.value)
        if not a or not b or a[0] != b[0]:
            raise ValueError(
                f"target.shape[0] and source.shape[0] must be one batch size, not those of {a} "
                f"and {b}, in {place()}. Use jacobian."
            )
        if self.solve(recorder, [goal], [wanted], None)[0] is None:
            result = self.missing([goal], wanted, unconnected_gradients, a + b[1:])
        else:
            rows = [
                self.solve(recorder, [goal], [wanted], [unit(goal, (slice(None), *i))])[0]
                for i in np.ndindex(a[1:])
            ]
            result = stacked(rows, a + b[1:], wanted, axis=1)
        self.finish()
        return result

    # Seeing it

    def source(self, target: Any, sources: Any) -> str:
        """Return the recorded run with its backward pass as NumPy source.

        Parameters
        ----------
        target : srcgrad array, or a nest of them
        sources : srcgrad array or Variable, or a nest of them

        Raises
        ------
        TapeError
            The record is freed: the one gradient of a plain tape is taken.

        Examples
        --------
        >>> from srcgrad import GradientTape, Variable
        >>> w = Variable([1.0, 2.0], name="w")
        >>> with GradientTape() as t:
        ...     y = np.sum(np.sin(w))
        >>> print(t.source(y, w))
        # srcgrad: gradient of a tape...
        def tape_gradient(w):
            return np.cos(w)
        """
        if self.recorder is None:
            raise TapeError(
                f"the tape has nothing recorded to show, in {place()}. Take the source before the "
                "gradient, or make it one of persistent=True."
            )
        targets, _ = self.leaves(target, "target")
        wanted, _ = self.leaves(sources, "source")
        flat = tuple(h for w in wanted for h in self.versions(self.recorder, w))
        with pausing():
            found, values = self.found(self.recorder, targets, flat, None)
        if found is None or all(v is None for v in values):
            return f"# no gradient: {reason(self, targets, wanted[0])}\n"
        from .text import joint_text

        return joint_text(found.program, "tape_gradient", "gradient of a tape", False)[0]

    def explain(self, target: Any, source: Any) -> str:
        """Say why a gradient is None, or that there is one.

        Parameters
        ----------
        target, source : srcgrad array

        Examples
        --------
        >>> from srcgrad import GradientTape, constant
        >>> x = constant(1.0)
        >>> with GradientTape() as t:
        ...     y = x * x
        >>> print(t.explain(y, x))
        the source was not watched: call t.watch(source) in the block, before it is used
        """
        goal = self.leaf(target, "target")
        wanted = self.leaf(source, "source")
        if self.recorder is None:
            return "the tape's record is freed: make it persistent"
        with pausing():
            handles = self.versions(self.recorder, wanted)
            found, values = self.found(self.recorder, [goal], tuple(handles), None)
        if found is not None and any(v is not None for v in values):
            return "the target depends on the source"
        return reason(self, [goal], wanted)


# Parts of a gradient ------------------------------------------------------------------------------


def next_id() -> int:
    return Traced(None).id


def total(values: list[Any]) -> Any:
    """Return the sum of the gradients that are there."""
    there = [v for v in values if v is not None]
    return None if not there else sum(there[1:], there[0])


def recorded_result(value: Any, source: Handle, connected: bool) -> Any:
    """Return a cotangent as a traced public gradient; zeros where only steps lie between."""
    if value is None:
        return Traced(zeros_like(source)) if connected else None
    value = finished(value, source)
    return value if type(value) in TRACED else Traced(value)


def join(recorder: TapeRecorder, targets: list[Any], wanted: list[Any]) -> None:
    """Watch a target that is a source itself: as in TensorFlow, dx/dx is 1 on any tape."""
    sources = {w.id for w in wanted}
    for t in targets:
        if t.id in sources and t.id not in recorder.known and is_active(t.value):
            if type(t) is Variable:
                recorder.watch_variable(t)
            else:
                recorder.enter(t, "argument")


def unit(goal: Handle, index: Any) -> Any:
    seed = np.zeros(np.shape(goal.value), np.result_type(goal.value))
    seed[index] = 1
    return seed if type(goal.value) is np.ndarray else seed[()]


def stacked(rows: list[Any], shape: tuple[int, ...], source: Handle, axis: int = 0) -> Any:
    """Return the rows of a jacobian as one array, of the source's dtype."""
    if not rows:
        return Traced(np.zeros(shape, np.result_type(source.value)))
    return np.stack(rows, axis=axis).reshape(shape)


def output_seeds(targets: list[Any], structure: Any, given: Any) -> list[Any] | None:
    """Return a seed for each target; None where all are ones."""
    if given is None:
        return None
    leaves, shape = tree.flatten(given)
    if shape != structure:
        raise ValueError(
            f"output_gradients has the structure {tree.described(shape)}, the target "
            f"{tree.described(structure)}, in {place()}. "
            "Give one of the target's structure; None stands for ones."
        )
    return [
        seed(t, np.ones(np.shape(t.value)) if g is None else g, "output_gradients", "target")
        for t, g in zip(targets, leaves, strict=True)
    ]


def not_watchable(x: Any) -> ArgumentError:
    if type(x) in (int, bool):
        return ArgumentError(
            f"watch() was given the {type(x).__name__} {x}, which has no derivative, in {place()}. "
            f"Make it a float: {float(x)}."
        )
    dtype = getattr(x, "dtype", None)
    if dtype is not None:
        return ArgumentError(
            f"watch() was given an array of dtype {dtype}, which has no derivative, in {place()}. "
            "Make it one of floats: x.astype(float)."
        )
    return ArgumentError(
        f"watch() was given a {type(x).__name__}, in {place()}. Give arrays or floats."
    )


__all__ = ["GradientTape", "Variable", "constant"]
