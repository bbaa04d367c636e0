"""Which adjoint serves this run: the tries of known programs, and the adjoints at their nodes.

A trie belongs to a user's code object, so that every `g`, lambda or closure over that code shares
what was generated. A run ends at a node; the adjoint for (targets, sources) found there is run, or
is built from the values of the run at hand.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .capture.arrays import do
from .capture.recorder import TRACED, Handle, Node, Recorder, live, pausing, type_key
from .differentiate import Adjoint, at, reverse, rule_kind
from .rules import table
from .trace import Guard, Input, Step, Trace, Var

MAX_CODES = 4096
MAX_STEPS = 200_000  # of one code's trie; more, and it starts anew


class CacheInfo(NamedTuple):
    """Counts of what was generated: programs, calls that found one, codes and recorded steps."""

    programs: int
    hits: int
    codes: int
    steps: int


class Root(Node):
    """The beginning of a code's trie; holds what must live as long as the trie."""

    __slots__ = ("held", "steps")

    def __init__(self, held: Any) -> None:
        super().__init__()
        self.held = held
        self.steps = 0


class Cache:
    """The tries, by user code; bounded, and safe to use from several threads."""

    def __init__(self) -> None:
        self.roots: OrderedDict[Any, Root] = OrderedDict()
        self.lock = threading.RLock()
        self.generated = 0
        self.hits = 0

    def root(self, code: Any) -> Root:
        """Return the trie of a code object (or of what else identifies a program)."""
        root = self.roots.get(id(code))
        if root is not None and root.steps < MAX_STEPS:
            return root
        with self.lock:
            root = self.roots[id(code)] = Root(code)
            while len(self.roots) > MAX_CODES:
                self.roots.popitem(last=False)
            return root

    def count(self, node: Node) -> None:
        """Note that a program was generated at `node`."""
        with self.lock:
            self.generated += 1
            root: Any = node
            while root.parent is not None:
                root = root.parent
            root.steps += node.depth

    def clear(self) -> None:
        with self.lock:
            self.roots.clear()
            self.generated = self.hits = 0


cache = Cache()


def cache_info() -> CacheInfo:
    """Return how many adjoints were generated and found again, of how many codes and steps.

    Examples
    --------
    >>> import srcgrad
    >>> srcgrad.clear_cache()
    >>> srcgrad.grad(lambda x: x * x)(3.0), srcgrad.cache_info().programs
    (np.float64(6.0), 1)
    """
    steps = sum(root.steps for root in cache.roots.values())
    return CacheInfo(cache.generated, cache.hits, len(cache.roots), steps)


def clear_cache() -> None:
    """Forget every generated function."""
    cache.clear()


class Program:
    """An adjoint: what it must be given, its trace, its text and its function.

    Attributes
    ----------
    joint : Trace
        Forward and backward in one, optimized.
    trace : Trace
        The backward half; its inputs are the `saved` variables and the seeds.
    places : tuple
        For each source its cotangent among the outputs, or None.
    connected : tuple of bool
        For each source, whether the targets depend on it at all.
    """

    def __init__(self, forward: Trace, adjoint: Adjoint, sources: tuple[Var, ...]) -> None:
        self.forward = forward
        self.bars = adjoint.bars
        self.sources = sources
        self.reusable = not adjoint.lifted and not adjoint.once
        steps = tuple(adjoint.replaced.get(s, s) for s in forward.steps)
        results = adjoint.cotangents
        outputs = tuple(dict.fromkeys(v for v in results if v is not None))
        seeds = tuple(Input(v, "seed", _numbered("seed", i)) for i, v in enumerate(adjoint.seeds))
        lifted = tuple(Input(v, "lifted") for v in adjoint.lifted)
        whole = Trace(
            forward.inputs + lifted + seeds, steps + adjoint.steps, forward.outputs + outputs
        )
        from .optimize import optimize

        self.joint = optimize(whole)
        self.outputs = self.joint.outputs[len(forward.outputs) :]
        self.places = tuple(None if v is None else self.outputs[outputs.index(v)] for v in results)
        inputs = [i.var for i in forward.inputs]
        known = dict.fromkeys([*inputs, *(v for s in steps for v in s.outs)])
        backward = [s for s in self.joint.steps if not all(v in known for v in s.outs)]
        self.lifted = adjoint.lifted
        self.guards: tuple[str, ...] = ()
        self.trace, self.saved = backward_half(backward, self.outputs, known, lifted + seeds)
        targets = forward.outputs
        self.connected = tuple(depends(forward.steps, targets, v) for v in sources)
        self._function: Callable[..., Any] | None = None
        self._source: str | None = None

    def load(self) -> None:
        from .text import load_adjoint

        self._source, self._function = load_adjoint(self)

    @property
    def function(self) -> Callable[..., Any]:
        """The generated adjoint function: (saved values, seeds) to cotangents."""
        if self._function is None:
            self.load()
        return self._function  # type: ignore[return-value]

    @property
    def source(self) -> str:
        """The text of the generated adjoint function."""
        if self._source is None:
            self.load()
        return self._source  # type: ignore[return-value]


def _numbered(name: str, i: int) -> str:
    return name if i == 0 else f"{name}_{i}"


def backward_half(
    steps: list[Step], outputs: tuple[Var, ...], known: dict[Var, None], seeds: tuple[Input, ...]
) -> tuple[Trace, tuple[Var, ...]]:
    """Return the backward steps as a trace, and the forward variables that it reads."""
    read = {v for s in steps for v in s.reads()} | set(outputs)
    saved = tuple(v for v in known if v in read)
    inputs = tuple(Input(v, "saved") for v in saved)
    return Trace(inputs + seeds, tuple(steps), outputs), saved


def depends(steps: tuple[Step, ...], targets: tuple[Var, ...], source: Var) -> bool:
    """Tell whether a target depends on `source`, through floats."""
    reached = {source}
    for step in steps:
        if any(v in reached for v in step.reads()) and rule_kind(step) != "cut":
            reached.update(v for v in step.outs if v.dtype.kind in "fcO")
    return any(t in reached for t in targets)


class Gradient:
    """The result of differentiating a run: cotangents, and the program that gave them."""

    def __init__(self, program: Program, values: list[Any]) -> None:
        self.program = program
        self.values = values


def differentiate(
    recorder: Recorder,
    targets: tuple[Handle, ...],
    sources: tuple[Handle, ...],
    seeds: tuple[Any, ...] | None = None,
    node: Node | None = None,
) -> Gradient:
    """Return the cotangents of `sources`, from a program found in the trie or built now.

    Where a recorder is live, it follows what the adjoint does, and the results are traced values.
    """
    node = node or recorder.node
    target_vars = tuple([recorder.known[t.id] for t in targets])
    source_vars = tuple([recorder.known[s.id] for s in sources])
    types = None if seeds is None else tuple([type_key(_plain(s)) for s in seeds])
    key = (target_vars, source_vars, types, table.restated)
    program = node.programs.get(key)
    if program is None:
        plain_seeds = None if seeds is None else tuple(map(_plain, seeds))
        program, values = build(recorder, node, target_vars, source_vars, plain_seeds)
        if program.reusable:
            node.programs[key] = program
        cache.count(node)
        if not live.recorders:
            return Gradient(program, values)
    else:
        cache.hits += 1
    return Gradient(program, run(program, recorder, seeds or ()))


def _plain(value: Any) -> Any:
    return value.value if type(value) in TRACED else value


def build(
    recorder: Recorder,
    node: Node,
    targets: tuple[Var, ...],
    sources: tuple[Var, ...],
    seeds: tuple[Any, ...] | None,
) -> tuple[Program, list[Any]]:
    """Differentiate the run that ended at `node`; return the program, and this run's result."""
    path = node.trace(targets)
    forward = sliced(path, sources)
    values = {var: handle.value for var, handle in recorder.values.items()}
    with pausing():
        adjoint = reverse(forward.steps, values, targets, sources, seeds)
        program = Program(forward, adjoint, sources)
    program.guards = guards_of(path)
    return program, owned(adjoint.values, values)


def sliced(trace: Trace, sources: tuple[Var, ...]) -> Trace:
    """Drop the steps that the outputs do not need, and the inputs that only they read."""
    needed = set(trace.outputs)
    steps = []
    for step in reversed(trace.steps):
        if any(v in needed for v in step.outs):
            steps.append(step)
            needed.update(step.reads())
    read = needed | set(sources)
    inputs = tuple(i for i in trace.inputs if i.kind == "argument" or i.var in read)
    return Trace(inputs, tuple(reversed(steps)), trace.outputs)


def owned(values: tuple[Any, ...], others: dict[Var, Any]) -> list[Any]:
    """Copy the arrays that are views or belong to somebody else."""
    taken = {id(v) for v in others.values()}
    result = []
    for v in values:
        if type(v) is np.ndarray and (v.base is not None or id(v) in taken):
            v = v.copy()
        taken.add(id(v))
        result.append(v)
    return result


def run(program: Program, recorder: Recorder, seeds: tuple[Any, ...]) -> list[Any]:
    """Run the adjoint on the values of the run at hand."""
    if live.recorders:
        handles = [recorder.values[v] for v in program.saved]
        saved = [h if type(h) in TRACED else h.value for h in handles]
        lifted = [h if type(h) in TRACED else h.value for h in program.lifted.values()]
        outs = program.trace.run(*saved, *lifted, *seeds, call=do)
        found = dict(zip(program.outputs, outs, strict=True))
        return [None if v is None else found[v] for v in program.places]
    values = recorder.values
    saved = [numpy_scalar(values[v].value) for v in program.saved]
    try:
        out = program.function(*saved, *seeds)
    except Exception as error:
        from .load import note_user_line

        note_user_line(error, program.function)
        raise
    return [out] if len(program.places) == 1 else list(out)


def numpy_scalar(value: Any) -> Any:
    """Return a Python float as NumPy's: in an adjoint, 1.0 / 0.0 is inf, as rules mean it."""
    return np.float64(value) if type(value) is float else value


class Specialization:
    """One generated program, as a user looks at it.

    Attributes
    ----------
    source : str
        Forward and backward in one function, as NumPy.
    adjoint_source : str
        The backward half alone, which runs after the recorded forward run.
    function : callable
        The joint function, loaded: the inputs of the header, in order, to the results.
    guards : tuple of str
        What Python asked of traced values on the recorded path.
    signature : tuple of str
        The inputs with their types.
    """

    def __init__(self, program: Program, name: str, title: str, with_value: bool) -> None:
        from .text import joint_text

        self.program = program
        self.source, self.function = joint_text(program, name, title, with_value)
        self.signature = tuple(f"{i.name}: {i.var!r}" for i in program.joint.inputs)
        self.guards = program.guards

    @property
    def adjoint_source(self) -> str:
        return self.program.source

    def _repr_html_(self) -> str:
        from .text import highlighted

        return highlighted(self.source)


def guards_of(trace: Trace) -> tuple[str, ...]:
    return tuple(
        f"{s.observe.__name__} is {s.value!r}{at(s)}" for s in trace.steps if type(s) is Guard
    )


__all__ = ["cache", "cache_info", "clear_cache", "differentiate"]
