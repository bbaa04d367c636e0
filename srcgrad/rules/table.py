"""The words a rule is written with.

A rule is what one would write on paper: `g` is the cotangent, `out` the result, then NumPy's own
argument names. It runs alone on plain arrays; under the engine it runs on traced ones and what it
does becomes the adjoint. Cotangents pair bilinearly, ``dL = Re(sum(g * dout))``, so a rule of a
holomorphic function has no conj. Summing down broadcasts, adding contributions, dropping what
nobody asked for, dtype and real projection are the engine's chores.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """How one function is differentiated.

    Attributes
    ----------
    kind : str
        "partials": `body(out, *operands)` gives one partial derivative per operand;
        "vjp": `body(g, out, *arguments)` gives one cotangent per argument;
        "nograd": the derivative is zero wherever there is one;
        "cut": there is none by the user's word, and what lies behind it is not connected.
    body : callable or None
        The formula.
    strict : bool
        A user's rule: its cotangents must have the shapes of the arguments.
    once : bool
        It runs code that the user expects to run at every backward pass.
    """

    kind: str
    body: Function | None = None
    strict: bool = False
    once: bool = False


MODULES = (
    "ufuncs",
    "math",
    "operators",
    "reductions",
    "shapes",
    "joining",
    "indexing",
    "products",
    "einsum",
    "linalg",
    "norms",
    "spectral",
)
RULES: dict[Function, Rule] = {}
restated = 0  # how often a user stated a rule: adjoints made before are not used any more
LINEAR: set[Function] = set()  # jvp = the function itself
MULTILINEAR: set[Function] = set()  # jvp = one term per operand
CREATION: set[Function] = set()  # makes an array of what is no array: sizes, values, a shape


def partials(table: Mapping[Function, Function]) -> None:
    """State elementwise derivatives: ``np.multiply: lambda out, x, y: (y, x)``.

    A formula gives one partial per operand (a tuple, or the partial itself where there is one);
    None stands for an operand without a derivative, the plain ints 1 and -1 for themselves.
    """
    for function, formula in table.items():
        _add(function, Rule("partials", formula))


def defvjp(*functions: Function) -> Callable[[Function], Function]:
    """State a reverse rule: ``rule(g, out, <the function's own arguments>)``.

    The rule gives the cotangent of the first argument, or a tuple with one entry per argument
    (None: no derivative). The entry of an argument that is a sequence of arrays is a list.
    Where the function gives several results, `g` and `out` are tuples, and an entry of `g` is
    None where nothing depends on that result.
    """

    def add(rule: Function) -> Function:
        for function in functions:
            _add(function, Rule("vjp", rule))
        return rule

    return add


def linear(*functions: Function) -> None:
    """Name functions that are linear in their first argument (a sequence of arrays: jointly)."""
    LINEAR.update(functions)


def multilinear(*functions: Function) -> None:
    """Name functions that are linear in each array argument on its own."""
    MULTILINEAR.update(functions)


def nograd(*functions: Function) -> None:
    """Name functions whose result is piecewise constant, an int or a bool."""
    for function in functions:
        _add(function, Rule("nograd"))


def creation(*functions: Function) -> None:
    """Name functions that make an array out of sizes and values."""
    CREATION.update(functions)


def _add(function: Function, rule: Rule) -> None:
    if function in RULES:
        raise ValueError(f"{function!r} has a rule already")
    RULES[function] = rule


def stated(function: Function) -> Function:
    """Return the formula that was stated for `function`, to state it for its twin."""
    body = RULES[function].body
    assert body is not None
    return body


def state_user_rule(function: Function, rule: Function) -> None:
    """State a user's rule, in place of one that there may be."""
    global restated
    load_rules()
    RULES[function] = Rule("vjp", rule, strict=True, once=not is_closed(rule))
    restated += 1


def is_closed(rule: Function) -> bool:
    """Tell whether a rule reads nothing from outside but modules and their functions.

    Only the adjoint of such a rule serves another call: a number, a flag or a helper that it reads
    may be another one then.
    """
    code = getattr(rule, "__code__", None)
    if code is None or code.co_freevars or rule.__defaults__ or rule.__kwdefaults__:
        return False
    if any(type(constant) is type(code) for constant in code.co_consts):
        return False  # an inner function, with reads of its own
    reads = {
        i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    return all(_is_fixed(name, rule.__globals__) for name in reads)


def _is_fixed(name: str, names: Mapping[str, Any]) -> bool:
    if name not in names:
        return hasattr(builtins, name)
    return type(names[name]) is ModuleType


def rule_of(function: Function) -> Rule | None:
    """Return the rule of `function`, or None."""
    load_rules()
    return RULES.get(function)


@cache
def load_rules() -> None:
    """Import the modules that state the rules, when the first one is asked for.

    They are a quarter of the time of ``import srcgrad`` otherwise.
    """
    for name in MODULES:
        import_module(f"srcgrad.rules.{name}")


def functions_with_rules() -> Iterable[Function]:
    """Return every function that can be differentiated."""
    load_rules()
    return (f for f, rule in RULES.items() if rule.kind != "nograd")
