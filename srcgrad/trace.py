"""The trace: the only program representation. Its steps, its law (`check`), its meaning (`run`).

A trace is in single assignment form. A step is a `Call` of a NumPy function or operator, a `Guard`
(what Python asked of a traced value), or a `Loop` or `Branch`, which own inner traces. Steps hold
variables and plain static arguments, never live arrays; values belong to a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

Function = Callable[..., Any]
Origin = tuple[CodeType, int]  # code object and instruction offset of the user's operation


class Var:
    """A value of the program: its shape, dtype and kind, and nothing else.

    `kind` is "array" (0-d included), "scalar" (NumPy's), "float", "int", "complex" or "bool"
    (Python's), or "stack" (one value per pass of a loop). Two variables are equal if they are the
    same object.
    """

    __slots__ = ("dtype", "kind", "shape")

    def __init__(self, kind: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self.kind = kind
        self.dtype = dtype
        self.shape = shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def like(self) -> Var:
        """Return a new variable of the same shape, dtype and kind."""
        return Var(self.kind, self.dtype, self.shape)

    def same_type(self, other: Var) -> bool:
        """Tell whether a value of one fits the other; NumPy's scalars are 0-d arrays here."""
        kinds = {"array" if v.kind == "scalar" else v.kind for v in (self, other)}
        return len(kinds) == 1 and (self.dtype, self.shape) == (other.dtype, other.shape)

    def __repr__(self) -> str:
        if self.kind in ("array", "scalar"):
            return f"{self.dtype}[{', '.join(map(str, self.shape))}]"
        return self.kind


PYTHON_KINDS = {float: "float", bool: "bool", int: "int", complex: "complex"}
DTYPES = {t: np.dtype(t) for t in PYTHON_KINDS}


def var_of(value: Any) -> Var:
    """Return a new variable of the type of `value`."""
    kind = PYTHON_KINDS.get(type(value))
    if kind is not None:
        return Var(kind, DTYPES[type(value)], ())
    if type(value) is list:
        return Var("stack", np.dtype(object), ())
    return Var("array" if type(value) is np.ndarray else "scalar", value.dtype, value.shape)


@dataclass(frozen=True, slots=True)
class Input:
    """A variable that enters a trace, and where it comes from.

    `kind` is "argument", "lifted" (read from outside), "opaque" (a result that the recorder did not
    see made), "literal" (a number of the text that differed in a second run), "saved", "seed".
    """

    var: Var
    kind: str = "argument"
    name: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """``out = function(*args, **kwargs)``; `out` is a tuple where there are several results."""

    function: Function
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    out: Var | tuple[Var, ...]
    origin: Origin | None = None

    @property
    def outs(self) -> tuple[Var, ...]:
        return self.out if type(self.out) is tuple else (self.out,)  # type: ignore[return-value]

    def reads(self) -> Iterator[Var]:
        return variables((self.args, self.kwargs) if self.kwargs else self.args)


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """``observe(var)`` was `value` in the recorded run: the trace holds only where it is again."""

    observe: Function
    var: Var
    value: Any
    origin: Origin | None = None
    outs: tuple[Var, ...] = ()

    def reads(self) -> Iterator[Var]:
        yield self.var


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """``outs = then(*args) if condition else orelse(*args)``."""

    condition: Var
    then: Trace
    orelse: Trace
    args: tuple[Var, ...]
    outs: tuple[Var, ...]
    origin: Origin | None = None

    def reads(self) -> Iterator[Var]:
        yield self.condition
        yield from self.args


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """Passes of `body`, which maps (carried, items, constants) to (carried, items to stack).

    A pass reads one item of each of `stacks` (in reverse order if `reverse`) and puts one on each
    of `stacked`, whose items stand in the order of the stacks' items. The number of passes is that
    of the stacks' items, or `count`, or as many as `condition(carried, constants)` allows. `outs`
    are the carried values after the last pass.
    """

    body: Trace
    carried: tuple[Var, ...]
    stacks: tuple[Var, ...]
    constants: tuple[Var, ...]
    outs_carried: tuple[Var, ...]
    stacked: tuple[Var, ...]
    count: int | None = None
    condition: Trace | None = None
    reverse: bool = False
    origin: Origin | None = None

    @property
    def outs(self) -> tuple[Var, ...]:
        return self.outs_carried + self.stacked

    def reads(self) -> Iterator[Var]:
        yield from self.carried
        yield from self.stacks
        yield from self.constants


Step = Call | Guard | Branch | Loop


def plain_call(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Do the call of a step."""
    return function(*args, **kwargs)


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Inputs, steps in order, outputs.

    Examples
    --------
    >>> x, y = Var("float", np.dtype(float), ()), Var("float", np.dtype(float), ())
    >>> square = Trace((Input(x),), (Call(np.multiply, (x, x), {}, y),), (y,))
    >>> square.run(3.0)
    (np.float64(9.0),)
    >>> print(square)
    trace(a: float):
        b = np.multiply(a, a)
        return b
    """

    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    outputs: tuple[Var, ...]

    def check(self) -> Trace:
        """Raise ValueError where the trace breaks its law; return it where it does not."""
        defined: set[Var] = set()
        _define(defined, (i.var for i in self.inputs), "the inputs")
        for step in self.steps:
            _require(defined, step.reads(), step)
            _CHECKS.get(type(step), _check_nothing)(step)
            _define(defined, step.outs, step)
        _require(defined, self.outputs, "the outputs")
        return self

    def run(self, *values: Any, call: Function = plain_call) -> tuple[Any, ...]:
        """Run the steps on `values`, one per input, and return the outputs.

        With a `call` that records, this is how a trace enters another recorder.
        """
        env = self.values(*values, call=call)
        return tuple(env[v] for v in self.outputs)

    def values(self, *values: Any, call: Function = plain_call) -> dict[Var, Any]:
        """Run the steps on `values` and return the value of every variable."""
        if len(values) != len(self.inputs):
            raise TypeError(f"the trace takes {len(self.inputs)} values, not {len(values)}")
        env = {i.var: value for i, value in zip(self.inputs, values, strict=True)}
        for step in self.steps:
            _RUNS[type(step)](step, env, call)
        return env

    def __str__(self) -> str:
        return _Printer().trace(self, "trace")


class GuardError(Exception):
    """A trace was run on values that take another path."""


# The law ------------------------------------------------------------------------------------------


def _define(defined: set[Var], new: Iterable[Var], where: object) -> None:
    for var in new:
        if var in defined:
            raise ValueError(f"a variable is defined twice, in {where}")
        defined.add(var)


def _require(defined: set[Var], read: Iterable[Var], where: object) -> None:
    for var in read:
        if type(var) is not Var or var not in defined:
            raise ValueError(f"{var!r} is read before it is defined, in {where}")


def _check_nothing(step: Step) -> None:
    pass


def _check_call(step: Call) -> None:
    for leaf in leaves((step.args, step.kwargs)):
        if type(leaf) is np.ndarray:
            raise ValueError(f"a live array stands in a step: {step}")


def _check_branch(step: Branch) -> None:
    for arm in (step.then, step.orelse):
        arm.check()
        _fit(step.args, [i.var for i in arm.inputs], step)
        _fit(arm.outputs, step.outs, step)


def _check_loop(step: Loop) -> None:
    step.body.check()
    n = len(step.carried)
    inner = [i.var for i in step.body.inputs]
    _fit(step.carried, inner[:n], step)
    _fit(step.constants, inner[n + len(step.stacks) :], step)
    _fit(step.body.outputs[:n], step.outs_carried, step)
    _fit(step.body.outputs[:n], inner[:n], step)
    if len(step.body.outputs) != n + len(step.stacked):
        raise ValueError(f"the body gives {len(step.body.outputs)} values, in {step}")
    if step.condition is not None:
        step.condition.check()
        _fit(step.carried + step.constants, [i.var for i in step.condition.inputs], step)
    elif step.count is None and not step.stacks:
        raise ValueError(f"nothing says how many passes there are, in {step}")


def _fit(given: Sequence[Var], taken: Sequence[Var], where: object) -> None:
    if len(given) != len(taken) or not all(a.same_type(b) for a, b in zip(given, taken)):
        raise ValueError(f"{list(given)} given where {list(taken)} is taken, in {where}")


_CHECKS: dict[type, Callable[[Any], None]] = {
    Call: _check_call,
    Branch: _check_branch,
    Loop: _check_loop,
}


# The meaning --------------------------------------------------------------------------------------


def _run_call(step: Call, env: dict[Var, Any], call: Function) -> None:
    args = substitute(step.args, env.__getitem__)
    result = call(step.function, args, substitute(step.kwargs, env.__getitem__))
    if type(step.out) is tuple:
        env.update(zip(step.out, result, strict=True))
    else:
        env[step.out] = result  # type: ignore[index]


def _run_guard(step: Guard, env: dict[Var, Any], call: Function) -> None:
    if step.observe(env[step.var]) != step.value:
        raise GuardError(f"{step.observe.__name__} is no longer {step.value!r}")


def _run_branch(step: Branch, env: dict[Var, Any], call: Function) -> None:
    arm = step.then if env[step.condition] else step.orelse
    env.update(zip(step.outs, arm.run(*(env[v] for v in step.args), call=call), strict=True))


def _run_loop(step: Loop, env: dict[Var, Any], call: Function) -> None:
    carried = [env[v] for v in step.carried]
    constants = [env[v] for v in step.constants]
    stacked: list[list[Any]] = [[] for _ in step.stacked]
    for items in _passes(step, env, carried, constants, call):
        results = step.body.run(*carried, *items, *constants, call=call)
        carried[:] = results[: len(carried)]
        for stack, item in zip(stacked, results[len(carried) :], strict=True):
            stack.append(item)
    if step.reverse:
        for stack in stacked:
            stack.reverse()
    env.update(zip(step.outs, [*carried, *stacked], strict=True))


def _passes(
    step: Loop, env: dict[Var, Any], carried: list[Any], constants: list[Any], call: Function
) -> Iterator[tuple[Any, ...]]:
    """Give the stacks' items of each pass; `carried` is the list that the loop changes."""
    if step.condition is not None:
        while step.condition.run(*carried, *constants, call=call)[0]:
            yield ()
    elif step.stacks:
        order = reversed if step.reverse else iter
        yield from zip(*(order(env[v]) for v in step.stacks), strict=True)
    else:
        yield from (() for _ in range(step.count or 0))


_RUNS: dict[type, Callable[[Any, dict[Var, Any], Function], None]] = {
    Call: _run_call,
    Guard: _run_guard,
    Branch: _run_branch,
    Loop: _run_loop,
}


# Argument trees -----------------------------------------------------------------------------------


_PLAIN = frozenset((int, float, complex, bool, str, type(None), type(Ellipsis)))


def leaves(tree: Any) -> Iterator[Any]:
    """Give the leaves of nested tuples, lists, dicts and slices, in order."""
    t = type(tree)
    if t is tuple or t is list:
        for item in tree:
            yield from leaves(item)
    elif isinstance(tree, Mapping) and t is not Var:
        for item in tree.values():
            yield from leaves(item)
    elif t is slice:
        yield from (tree.start, tree.stop, tree.step)
    else:
        yield tree


def variables(tree: Any) -> Iterator[Var]:
    """Give the variables of an argument tree, in order."""
    found: list[Var] = []
    _collect(tree, found)
    return iter(found)


def _collect(tree: Any, found: list[Var]) -> None:
    """Append the variables of an argument tree; every pass reads every step, so this is quick."""
    t = type(tree)
    if t is Var:
        found.append(tree)
    elif t is tuple or t is list:
        for item in tree:
            if type(item) is Var:
                found.append(item)
            else:
                _collect(item, found)
    elif t is slice or t is dict or (t not in _PLAIN and isinstance(tree, Mapping)):
        found += [leaf for leaf in leaves(tree) if type(leaf) is Var]


def substitute(tree: Any, value_of: Callable[[Var], Any]) -> Any:
    """Return the argument tree with each variable replaced."""
    t = type(tree)
    if t is Var:
        return value_of(tree)
    if t is tuple:
        return tuple([substitute(item, value_of) for item in tree])
    if t is list:
        return [substitute(item, value_of) for item in tree]
    if t is dict:
        return {key: substitute(item, value_of) for key, item in tree.items()}
    if t is slice:
        return slice(*[substitute(item, value_of) for item in (tree.start, tree.stop, tree.step)])
    return tree


# Printing -----------------------------------------------------------------------------------------


class _Printer:
    """Prints a trace with letters for names, for people who work on srcgrad."""

    def __init__(self) -> None:
        self.names: dict[Var, str] = {}

    def name(self, var: Var) -> str:
        n = len(self.names)
        letter = chr(97 + n % 26) + (str(n // 26) if n >= 26 else "")
        return self.names.setdefault(var, letter)

    def show(self, tree: Any) -> str:
        t = type(tree)
        if t is Var:
            return self.name(tree)
        if t is tuple or t is list:
            inner = ", ".join(map(self.show, tree))
            return f"[{inner}]" if t is list else f"({inner})"
        if t is slice:
            return f"slice({self.show(tree.start)}, {self.show(tree.stop)}, {self.show(tree.step)})"
        return repr(tree) if not callable(tree) else function_name(tree)

    def trace(self, trace: Trace, head: str, indent: str = "") -> str:
        inputs = ", ".join(f"{self.name(i.var)}: {i.var!r}" for i in trace.inputs)
        lines = [f"{indent}{head}({inputs}):"]
        lines += [self.step(step, indent + "    ") for step in trace.steps]
        lines.append(f"{indent}    return {', '.join(map(self.name, trace.outputs))}")
        return "\n".join(lines)

    def step(self, step: Step, indent: str) -> str:
        outs = ", ".join(map(self.name, step.outs))
        if isinstance(step, Call):
            args = [self.show(a) for a in step.args]
            args += [f"{k}={self.show(a)}" for k, a in step.kwargs.items()]
            return f"{indent}{outs} = {function_name(step.function)}({', '.join(args)})"
        if isinstance(step, Guard):
            return f"{indent}guard {step.observe.__name__}({self.show(step.var)}) == {step.value!r}"
        if isinstance(step, Branch):
            given = ", ".join(map(self.name, step.args))
            arms = [self.trace(step.then, "then", indent), self.trace(step.orelse, "else", indent)]
            head = f"{indent}{outs} = branch {self.name(step.condition)} ({given})"
            return "\n".join([head, *arms])
        reads = ", ".join(map(self.name, step.reads()))
        head = f"{indent}{outs} = {'reverse ' if step.reverse else ''}loop ({reads})"
        parts = [head, self.trace(step.body, "body", indent)]
        if step.condition is not None:
            parts.append(self.trace(step.condition, "while", indent))
        return "\n".join(parts)


def function_name(function: Function) -> str:
    """Return the name by which the text of a program calls `function`: ``np.linalg.solve``.

    Examples
    --------
    >>> function_name(np.sin), function_name(np.linalg.solve)
    ('np.sin', 'np.linalg.solve')
    """
    name = getattr(function, "__name__", type(function).__name__)
    module = getattr(function, "__module__", None) or ""
    if isinstance(function, np.ufunc):
        return f"np.{name}" if getattr(np, name, None) is function else name
    root, _, rest = module.partition(".")
    if root == "numpy":
        return f"np.{rest}.{name}" if rest in ("linalg", "fft") else f"np.{name}"
    return f"{module}.{name}" if module not in ("", "builtins") else name
