"""Where a name of the user's text lives: in the function itself, around it, or in `builtins`.

Python's own `symtable` reads text only; the instrumentation has a tree that it is rewriting.
"""

# ruff: noqa: N815  (the methods of a visitor are named after the classes of nodes)

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator
from typing import Any

import gast

BUILTINS = frozenset(vars(builtins))
FUNCTION, CLASS, COMPREHENSION = "function", "class", "comprehension"


class Scope:
    """The names that a function, a class body or a comprehension binds.

    Parameters
    ----------
    kind : str
        FUNCTION, CLASS or COMPREHENSION.
    binder : Binder
        What it binds and declares.
    parent : Scope or None
        The scope around it, up to the function that is instrumented.
    known : frozenset of str
        For that function: names that are no builtins, since a closure or global hides them.
    """

    def __init__(
        self,
        kind: str,
        binder: Binder,
        parent: Scope | None = None,
        known: frozenset[str] = frozenset(),
    ) -> None:
        self.kind = kind
        self.globals = binder.globals
        self.nonlocals = binder.nonlocals
        self.bound = binder.bound - self.globals - self.nonlocals
        self.parent = parent
        self.known: frozenset[str] = parent.known if parent else known

    def outside(self, name: str) -> bool:
        """Tell whether `name` is a global or free variable of the function it is read in."""
        if name.startswith("__") and name.endswith("__"):
            return False
        return not self._local(name) and not self.builtin(name)

    def builtin(self, name: str) -> bool:
        """Tell whether `name` means what `builtins` says."""
        return name in BUILTINS and name not in self.known and not self._bound_around(name)

    def leaves(self, name: str) -> bool:
        """Tell whether a value stored to `name` leaves the function that is instrumented."""
        if self.kind == COMPREHENSION and self.parent is not None:
            return self.parent.leaves(name)
        if name in self.globals:
            return True
        return name in self.nonlocals and not self._bound_around(name)

    def _local(self, name: str) -> bool:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bound:
                return True
            if scope.kind == FUNCTION or name in scope.globals or name in scope.nonlocals:
                return False
            scope = scope.parent
        return False

    def _bound_around(self, name: str) -> bool:
        around = self.parent
        while around is not None:
            if around.kind != CLASS and name in around.bound:
                return True
            around = around.parent
        return name in self.bound


class Binder(gast.NodeVisitor):
    """Collects what the statements of one scope bind, without entering the scopes in it."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self._comprehensions = 0

    def over(self, nodes: Iterable[gast.AST]) -> Binder:
        for node in nodes:
            self.visit(node)
        return self

    def visit_Name(self, node: gast.Name) -> None:
        if not isinstance(node.ctx, gast.Load) and not self._comprehensions:
            self.bound.add(node.id)

    def visit_NamedExpr(self, node: gast.NamedExpr) -> None:
        self.bound.add(node.target.id)  # from within a comprehension too
        self.visit(node.value)

    def visit_Global(self, node: gast.Global) -> None:
        self.globals.update(node.names)

    def visit_Nonlocal(self, node: gast.Nonlocal) -> None:
        self.nonlocals.update(node.names)

    def visit_FunctionDef(self, node: Any) -> None:
        self.bound.add(node.name)
        self.over(node.decorator_list)
        self.visit_Lambda(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: Any) -> None:
        self.over(default_expressions(node.args))

    def visit_ClassDef(self, node: gast.ClassDef) -> None:
        self.bound.add(node.name)
        self.over((*node.decorator_list, *node.bases, *node.keywords))

    def visit_Import(self, node: Any) -> None:
        for alias in node.names:
            self.bound.add(alias.asname or alias.name.partition(".")[0])

    visit_ImportFrom = visit_Import

    def visit_MatchAs(self, node: Any) -> None:
        if node.name is not None:
            self.bound.add(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: gast.MatchMapping) -> None:
        if node.rest is not None:
            self.bound.add(node.rest)
        self.generic_visit(node)

    def visit_ListComp(self, node: Any) -> None:
        self._comprehensions += 1
        self.generic_visit(node)
        self._comprehensions -= 1

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp


def function_binder(node: Any) -> Binder:
    """Return what a function or lambda binds: its parameters and the stores of its body."""
    body = [node.body] if isinstance(node, gast.Lambda) else node.body
    binder = Binder().over(body)
    binder.bound.update(parameter.id for parameter in parameters(node.args))
    return binder


def parameters(args: gast.arguments) -> Iterator[gast.Name]:
    """Give the parameters of a function, which gast writes as names."""
    yield from (*args.posonlyargs, *args.args, *args.kwonlyargs)
    yield from (a for a in (args.vararg, args.kwarg) if a is not None)


def default_expressions(args: gast.arguments) -> list[gast.AST]:
    """Return the default values of a parameter list, which the code around it evaluates."""
    return [*args.defaults, *(d for d in args.kw_defaults if d is not None)]
