"""grad, value_and_grad, vjp, elementwise_grad: argument handling, no mathematics."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from . import tree
from .call import (
    Argument,
    Parameters,
    Run,
    cited,
    is_active,
    name_of,
    plain_tree,
    refuse_function,
    running,
    trace_run,
)
from .capture.arrays import TRACEABLE_KINDS, Traced, do, is_value, plain
from .capture.recorder import TRACED, Handle, live
from .errors import CotangentError, OutputError, UnconnectedGradientWarning, place, warn
from .specialize import Gradient, Specialization, differentiate

Argnums = int | str | tuple[int | str, ...]
UNSEEN = "# Call the function once: its source is made for the types of its arguments.\n"


# Gradients ----------------------------------------------------------------------------------------


def grad(
    f: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    replay: str = "auto",
    backend: str = "numpy",
) -> Any:
    """Return a function that computes the gradient of `f`.

    Parameters
    ----------
    f : callable
        Gives a real float, or an array of size 1, of any shape.
    argnums : int, str, or tuple of them
        The argument (by position or name) to differentiate with respect to; a tuple gives a tuple
        of gradients.
    has_aux : bool
        `f` gives ``(value, aux)``; the result is ``(gradient, aux)``.
    replay : {"auto", "never"}
        How a call is served. At present each call traces the function anew and finds its adjoint
        in a cache, which is what "never" asks for.
    backend : {"numpy"}
        What the generated source is made of.

    Returns
    -------
    callable
        Takes what `f` takes. The gradient has the structure, shape and dtype of the argument.
        The attribute `source` holds the generated program, `adjoint_source` its backward half.

    Raises
    ------
    ArgumentError
        The argument holds no floats.
    OutputError
        The output is not a real number.
    NoDerivativeError
        The gradient flows through a function without a rule.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> srcgrad.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0, 3.0]))
    array([2., 4., 6.])
    >>> @srcgrad.grad(argnums="b")
    ... def f(a, b):
    ...     return a * b
    >>> f(3.0, b=4.0)
    np.float64(3.0)
    """
    return _gradient_function(f, "grad", argnums, has_aux, replay, backend)


def value_and_grad(
    f: Callable[..., Any] | None = None,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    replay: str = "auto",
    backend: str = "numpy",
) -> Any:
    """Return a function that computes the value of `f` and its gradient.

    Parameters and errors are those of `grad`. The result is ``(value, gradient)``; with `has_aux`
    ``((value, aux), gradient)``.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> srcgrad.value_and_grad(lambda x: np.sum(np.exp(x)))(np.zeros(2))
    (np.float64(2.0), array([1., 1.]))
    """
    return _gradient_function(f, "value_and_grad", argnums, has_aux, replay, backend)


def elementwise_grad(
    f: Callable[..., Any] | None = None, argnums: Argnums = 0, *, replay: str = "auto"
) -> Any:
    """Return a function that computes the gradient of the sum of the outputs of `f`.

    Where each output element depends on its own input element only, that is the derivative
    element by element.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> srcgrad.elementwise_grad(np.sin)(np.zeros(3))
    array([1., 1., 1.])
    """
    return _gradient_function(f, "elementwise_grad", argnums, False, replay, "numpy")


def _gradient_function(
    f: Any, kind: str, argnums: Argnums, has_aux: bool, replay: str, backend: str
) -> Any:
    check_options(replay, backend)
    if f is None:
        return lambda function: _gradient_function(
            function, kind, argnums, has_aux, replay, backend
        )
    refuse_function(f)
    plan = Plan(f, kind, argnums, has_aux)

    def g(*args: Any, **kwargs: Any) -> Any:
        return plan.serve(args, kwargs)

    functools.update_wrapper(g, f, updated=())
    g.__dict__.setdefault("__name__", name_of(f))
    plan.attach(g)
    return g


def check_options(replay: str, backend: str) -> None:
    """Raise for an option that does not exist, or that this version does not have yet."""
    if replay not in ("auto", "always", "never"):
        raise ValueError(f"replay is 'auto', 'always' or 'never', not {replay!r}.")
    if backend not in ("numpy", "numba"):
        raise ValueError(f"backend is 'numpy' or 'numba', not {backend!r}.")
    if replay == "always" or backend == "numba":
        raise ValueError(
            f"{'replay' if replay == 'always' else 'backend'}="
            f"{replay if replay == 'always' else backend!r} is not there yet. Leave it out."
        )


class Plan:
    """What a gradient function does at a call; the function's attributes show what it made."""

    def __init__(self, function: Any, kind: str, argnums: Argnums, has_aux: bool) -> None:
        self.function = function
        self.kind = kind
        self.single = type(argnums) is not tuple
        given = argnums if type(argnums) is tuple else (argnums,)
        self.argnums = tuple(map(argnum, given))
        self.has_aux = has_aux
        self.parameters = Parameters(function)
        self.specializations: dict[Any, Specialization] = {}

    def attach(self, g: Any) -> None:
        self.g = g
        g.__wrapped__ = self.function
        g.source = g.adjoint_source = UNSEEN
        g.specializations = []
        g._repr_html_ = self.html

    def html(self) -> str:
        from .text import highlighted

        return highlighted(self.g.source)

    def serve(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.g in running.functions:
            raise RecursionError(
                f"{name_of(self.function)} calls its own name, which is the gradient function now, "
                f"in {place()}. Leave the function undecorated and write "
                f"`d{name_of(self.function)} = srcgrad.{self.kind}({name_of(self.function)})` "
                "beside it."
            )
        before = running.functions
        running.functions = (*before, self.g)
        try:
            run = trace_run(self.function, self.parameters, self.argnums, args, kwargs)
        finally:
            running.functions = before
        value, aux = self.split(run.out)
        target = self.target(value)
        if target is None or target.id not in run.recorder.known:
            gradients = [self.unconnected(a) for a in run.arguments]
        else:
            found = self.differentiate(run, target)
            gradients = [self.gradient(a, found, run) for a in run.arguments]
        result = gradients[0] if self.single else tuple(gradients)
        return self.packed(value, aux, result)

    def split(self, out: Any) -> tuple[Any, Any]:
        if not self.has_aux:
            return out, None
        if not (type(out) is tuple and len(out) == 2):
            raise OutputError(
                f"{cited(self.function)} gave a {type(out).__name__}, and has_aux=True means "
                "(value, aux). Return both, or leave has_aux out."
            )
        return out

    def target(self, out: Any) -> Handle | None:
        """Return the traced output, None if it holds no floats; raise where it is no number."""
        if type(out) not in TRACED or out.dtype.kind != "f" or out.size != 1:
            self.refuse_output(out)
        return out if type(out) in TRACED and is_active(out.value) else None

    def refuse_output(self, out: Any) -> None:
        name = cited(self.function)
        if out is None:
            raise no_output(self.function)
        if type(out) not in TRACED and not is_value(out) and type(out) is not int:
            hint = " Use has_aux=True for extra results." if isinstance(out, tuple) else ""
            raise OutputError(
                f"{name} gave a {type(out).__name__}, which has no gradient.{hint} "
                "srcgrad.vjp takes functions with several outputs."
            )
        if self.kind != "elementwise_grad" and np.size(getattr(out, "value", out)) != 1:
            raise OutputError(
                f"{name} gave an array of shape {out.shape}, and a gradient is that of one number. "
                "Sum it (np.sum), or take srcgrad.jacobian, elementwise_grad or vjp."
            )
        if np.result_type(getattr(out, "value", out)).kind == "c":
            raise OutputError(
                f"{name} gave a complex number, which has no gradient as a whole. "
                "Return its np.real, np.imag or np.abs, or use srcgrad.vjp."
            )

    def differentiate(self, run: Run, target: Handle) -> Gradient:
        found = differentiate(run.recorder, (target,), run.sources)
        program = found.program
        unseen = self.g.source is UNSEEN
        if program not in self.specializations and (program.reusable or unseen):
            self.show(program)
        return found

    def show(self, program: Any) -> None:
        title = f"{self.kind} of {full_name(self.function)}"
        with_value = self.kind == "value_and_grad"
        name = name_of(self.function)
        name = f"{name if name.isidentifier() else 'f'}_{self.kind}"
        made = Specialization(program, name, title, with_value)
        if program.reusable:
            self.specializations[program] = made
            self.g.specializations = list(self.specializations.values())
        self.g.source = made.source
        self.g.adjoint_source = made.adjoint_source

    def gradient(self, argument: Argument, found: Gradient, run: Run) -> Any:
        """Return the gradient of one argument, in its structure; warn where there is none."""
        results = {}
        linked = False
        for source, value, connected in zip(
            run.sources, found.values, found.program.connected, strict=True
        ):
            results[source.id] = None if value is None else finished(value, source)
            linked = linked or connected
        mine = {h.id for h in argument.traced()}
        linked = any(
            c for s, c in zip(run.sources, found.program.connected, strict=True) if s.id in mine
        )
        if not linked:
            self.warn(argument)
        return argument.rebuild(results, zeros_like)

    def unconnected(self, argument: Argument) -> Any:
        self.warn(argument)
        return argument.rebuild({}, zeros_like)

    def warn(self, argument: Argument) -> None:
        warn(
            f"the output of {name_of(self.function)} does not depend on {argument.name!r}: "
            "its gradient is zero",
            UnconnectedGradientWarning,
        )

    def packed(self, value: Any, aux: Any, result: Any) -> Any:
        if self.kind == "value_and_grad":
            value = returned(value)
            return ((value, plain_tree(aux)) if self.has_aux else value), result
        return (result, plain_tree(aux)) if self.has_aux else result


def argnum(given: Any) -> int | str:
    """Return what names one argument; raise where it is no int and no name."""
    if isinstance(given, str):
        return given
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise TypeError(
            f"argnums is an int, a name or a tuple of them, not {given!r}, in {place()}."
        )
    return operator.index(given)


def full_name(function: Any) -> str:
    """Return a function's name with its module and place: ``train.loss (train.py:11)``."""
    import os

    inner = getattr(function, "func", function)
    code = getattr(inner, "__code__", None)
    module = getattr(inner, "__module__", None)
    name = getattr(inner, "__qualname__", name_of(function)).replace("<locals>.", "")
    prefix = f"{module}." if module not in (None, "__main__", "builtins") else ""
    if code is None:
        return f"{prefix}{name}"
    return f"{prefix}{name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def returned(value: Any) -> Any:
    """Return an output as the plain call gives it; traced, where an outer run goes on."""
    if live.recorders:
        return value
    value = value.value if type(value) in TRACED else value
    return value.copy() if type(value) is np.ndarray else value


def finished(value: Any, source: Handle) -> Any:
    """Return a cotangent as the public gradient.

    It is conjugated, 0-d where the argument is, and in the byte order of the argument.
    """
    dtype = value.dtype if type(value) in TRACED else np.result_type(value)
    if dtype.kind == "c":  # 1j * np.float64(1.0) is a Python complex
        value = np.conj(value)
    if (
        type(value) is np.ndarray
        and type(source.value) is np.ndarray
        and dtype != source.value.dtype
    ):
        value = value.astype(source.value.dtype)
    if type(source.value) is np.ndarray and source.value.ndim == 0:
        if type(value) in TRACED:
            return value if type(value.value) is np.ndarray else do(np.asarray, (value,))
        return np.asarray(value)
    return value


def zeros_like(leaf: Handle) -> Any:
    value = leaf.value
    return np.zeros_like(value) if type(value) is np.ndarray else np.result_type(value).type(0)


# vjp ----------------------------------------------------------------------------------------------


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., tuple[Any, ...]]]:
    """Return the value of `f` at `primals`, and its pullback.

    Parameters
    ----------
    f : callable
        Gives an array, a float, or a nested container of them.
    *primals
        Arrays, floats, or nested containers of them; each is differentiated.

    Returns
    -------
    value
    pull : callable
        Takes a cotangent of the structure, shapes and dtypes of the value; gives a tuple with the
        cotangent of each primal, for the real inner product. It can be called many times.

    Raises
    ------
    CotangentError
        The cotangent does not fit the value.

    Examples
    --------
    >>> import numpy as np, srcgrad
    >>> value, pull = srcgrad.vjp(lambda x, y: x * y, np.array([1.0, 2.0]), 3.0)
    >>> pull(np.array([1.0, 10.0]))
    (array([ 3., 30.]), np.float64(21.0))
    """
    refuse_function(f)
    parameters = Parameters(f)
    run = trace_run(f, parameters, tuple(range(len(primals))), primals, {}, copy=True)
    outs, structure = outputs(run.out, f)
    node = run.recorder.node

    def pull(cotangent: Any) -> tuple[Any, ...]:
        return _pull(run, outs, structure, node, cotangent)

    if structure is None:
        return returned(run.out), pull
    return tree.unflatten(structure, [returned(o) for o in outs]), pull


def no_output(function: Any) -> OutputError:
    return OutputError(
        f"{cited(function)} returned None, which has no gradient. "
        "Let it return its value (is there a return?)."
    )


def outputs(out: Any, f: Any) -> tuple[list[Any], Any]:
    """Return the leaves of an output and its structure (None for a leaf)."""
    if out is None:
        raise no_output(f)
    if type(out) in TRACED or not tree.is_container(out):
        return [out], None
    return tree.flatten(out)


def _pull(run: Run, outs: list[Any], structure: Any, node: Any, cotangent: Any) -> tuple[Any, ...]:
    seeds = seeds_of(outs, structure, cotangent)
    known = run.recorder.known
    pairs = [
        (o, s)
        for o, s in zip(outs, seeds, strict=True)
        if type(o) in TRACED and o.id in known and is_active(o.value) and s is not None
    ]
    results: dict[int, Any] = {}
    if pairs:
        targets, given = zip(*pairs, strict=True)
        found = differentiate(run.recorder, targets, run.sources, given, node)
        for source, value in zip(run.sources, found.values, strict=True):
            results[source.id] = None if value is None else finished(value, source)
    return tuple(a.rebuild(results, zeros_like) for a in run.arguments)


def seeds_of(outs: list[Any], structure: Any, cotangent: Any) -> list[Any]:
    """Return a cotangent's leaves as seeds, one per output leaf, checked."""
    if structure is None and not tree.is_container(plain(cotangent)):
        leaves = [cotangent]
    else:
        leaves, given = tree.flatten(cotangent)
        if given != structure:
            expected = "*" if structure is None else tree.described(structure)
            raise CotangentError(
                f"the cotangent has the structure {tree.described(given)}, the output "
                f"{expected}, in {place()}. "
                "Give one of the output's structure; None stands for zero."
            )
    return [None if c is None else seed(o, c) for o, c in zip(outs, leaves, strict=True)]


def seed(out: Any, cotangent: Any, what: str = "the cotangent", of: str = "output") -> Any:
    """Return a cotangent in the shape and dtype of an output, conjugated for the pairing."""
    value = out.value if type(out) in TRACED else out
    given = plain(cotangent)
    if np.shape(given) != np.shape(value):
        raise CotangentError(
            f"{what} has shape {np.shape(given)}, the {of} {np.shape(value)}, in {place()}. "
            f"Give one of the {of}'s shape."
        )
    dtype, kind = np.result_type(value), np.asarray(given).dtype.kind
    if kind not in TRACEABLE_KINDS:
        raise CotangentError(
            f"{what} is a {type(given).__name__}, the {of} {dtype}, in {place()}. Give numbers."
        )
    if kind == "c" and dtype.kind != "c":
        raise CotangentError(
            f"{what} is complex, the {of} real, in {place()}. Give a real one: np.real(...)."
        )
    if type(cotangent) in TRACED and live.recorders:
        return np.conj(cotangent) if cotangent.dtype.kind == "c" else cotangent
    given = np.conj(np.asarray(given)).astype(dtype)
    return given if type(value) is np.ndarray else given[()]


__all__ = ["Traced", "elementwise_grad", "grad", "value_and_grad", "vjp"]
