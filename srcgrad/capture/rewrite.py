"""The rewriting of a function's tree so that its calls, loads, stores and loops report.

What a hook wraps keeps its place in the user's text: every node that is made here is located
where the one that it stands for is.
"""

# ruff: noqa: N815  (the methods of a visitor are named after the classes of nodes)

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import gast

from .scopes import CLASS, COMPREHENSION, FUNCTION, Binder, Scope, function_binder

# What each hook is called in rewritten code; ends in underscores, or classes would mangle it.
HOOKS = {
    name: f"__srcgrad_{name}__"
    for name in ("call", "load", "iterate", "store_attribute", "store_item", "leave")
}
# These look at the frame that calls them; the second of any module.
FRAME_BUILTINS = frozenset(
    {"super", "locals", "globals", "vars", "dir", "eval", "exec", "__import__", "breakpoint"}
)
FRAME_FUNCTIONS = frozenset({"_getframe", "_getframemodulename", "currentframe", "set_trace"})


class Rewriter(gast.NodeTransformer):
    """Rewrites one function, with all that is nested in it."""

    def __init__(self, node: Any, owner: str | None, known: frozenset[str]) -> None:
        self.scope = Scope(FUNCTION, function_binder(node), None, known)
        self.owner = owner
        self.node = node

    def rewrite(self) -> Any:
        """Rewrite the body; defaults and decorators of the outermost function are not run again."""
        self._body(self.node)
        return self.node

    # Calls, loads

    def visit_Call(self, node: gast.Call) -> gast.Call:
        args, keywords = self._all(node.args), self._all(node.keywords)
        if self._reads_frame(node.func):
            return at(node, gast.Call(self._link(node.func), args, keywords))
        call = gast.Call(_name("call", node), [self._link(node.func), *args], keywords)
        return _from_method(node.func, at(node, call))

    def visit_Name(self, node: gast.Name) -> gast.AST:
        if isinstance(node.ctx, gast.Load) and self.scope.outside(node.id):
            return _load(node, node.id)
        return node

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        self._link(node)
        return _load(node, node.attr) if isinstance(node.ctx, gast.Load) else node

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        label = name_of(node)
        node = self._all_of(node)
        return _load(node, label) if isinstance(node.ctx, gast.Load) else node

    def _link(self, node: Any) -> Any:
        """Rewrite what stands before a dot or a call: names and chains of attributes stay."""
        if isinstance(node, gast.Attribute):
            node.value = self._link(node.value)
            return node
        return node if isinstance(node, gast.Name) else self.visit(node)

    def _reads_frame(self, function: Any) -> bool:
        if isinstance(function, gast.Name) and function.id in FRAME_BUILTINS:
            return self.scope.builtin(function.id)
        return name_of(function) in FRAME_FUNCTIONS

    # Loops

    def visit_For(self, node: gast.For) -> gast.For:
        iterable = _hook("iterate", node.iter, self.visit(node.iter))
        leaving = self._leaving([node.target], node.target)
        target, body = self.visit(node.target), self._all(node.body)
        return at(node, gast.For(target, iterable, leaving + body, self._all(node.orelse), None))

    def visit_ListComp(self, node: Any) -> Any:
        generators = node.generators
        generators[0].iter = self._iterable(generators[0])  # evaluated in the scope around
        bound = Binder().over(g.target for g in generators)
        with self._inside(COMPREHENSION, bound):
            for g in generators[1:]:
                g.iter = self._iterable(g)
            for g in generators:
                g.target, g.ifs = self.visit(g.target), self._all(g.ifs)
            for field in {"elt", "key", "value"}.intersection(node._fields):
                setattr(node, field, self.visit(getattr(node, field)))
        return node

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def _iterable(self, generator: gast.comprehension) -> Any:
        iterable = self.visit(generator.iter)
        return iterable if generator.is_async else _hook("iterate", generator.iter, iterable)

    # Stores

    def visit_Assign(self, node: gast.Assign) -> Any:
        if len(node.targets) == 1:
            return self._single(node, node.targets[0])
        return [self._all_of(node), *self._leaving(node.targets, node)]

    def visit_AnnAssign(self, node: gast.AnnAssign) -> Any:
        if node.value is None:
            return node
        if self.scope.kind == FUNCTION and not isinstance(node.target, gast.Name):
            return self._store(node, node.target)  # a function never evaluates the annotation
        node.target, node.value = self.visit(node.target), self.visit(node.value)
        return node

    def visit_NamedExpr(self, node: gast.NamedExpr) -> Any:
        value = self.visit(node.value)
        leaves = self.scope.leaves(node.target.id)
        node.value = _hook("leave", node.value, value) if leaves else value
        return node

    def visit_AugAssign(self, node: gast.AugAssign) -> Any:
        return [self._all_of(node), *self._leaving([node.target], node)]

    def visit_With(self, node: gast.With) -> gast.With:
        targets = [i.optional_vars for i in node.items if i.optional_vars is not None]
        leaving = self._leaving(targets, node)
        return at(node, gast.With(self._all(node.items), leaving + self._all(node.body), None))

    def _single(self, node: gast.Assign, target: Any) -> Any:
        if isinstance(target, gast.Attribute | gast.Subscript):
            return self._store(node, target)
        if isinstance(target, gast.Name) and self.scope.leaves(target.id):
            node.value = _hook("leave", node.value, self.visit(node.value))
            return node
        return [self._all_of(node), *self._leaving([target], node)]

    def _store(self, node: Any, target: Any) -> gast.Expr:
        value = self.visit(node.value)
        if isinstance(target, gast.Attribute):
            key = at(target, gast.Constant(mangled(target.attr, self.owner), None))
            store = _hook("store_attribute", node, value, self._link(target.value), key)
        else:
            key = self.visit(target.slice)
            store = _hook("store_item", node, value, self.visit(target.value), key)
        return at(node, gast.Expr(store))

    def _leaving(self, targets: list[Any], node: Any) -> list[Any]:
        """Return statements ``x = leave(x)`` for the outer names among `targets`."""
        names = [n for target in targets for n in stored_names(target) if self.scope.leaves(n.id)]
        return [at(node, gast.Assign([n], _hook("leave", node, _read(n)), None)) for n in names]

    # Scopes

    def visit_FunctionDef(self, node: Any) -> Any:
        node.decorator_list = self._all(node.decorator_list)
        return self.visit_Lambda(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: Any) -> Any:
        args = node.args
        args.defaults = self._all(args.defaults)
        args.kw_defaults = [None if d is None else self.visit(d) for d in args.kw_defaults]
        with self._inside(FUNCTION, function_binder(node)):
            self._body(node)
        return node

    def visit_ClassDef(self, node: gast.ClassDef) -> gast.ClassDef:
        node.decorator_list = self._all(node.decorator_list)
        node.bases, node.keywords = self._all(node.bases), self._all(node.keywords)
        owner, self.owner = self.owner, node.name
        with self._inside(CLASS, Binder().over(node.body)):
            node.body = self._all(node.body)
        self.owner = owner
        return node

    @contextmanager
    def _inside(self, kind: str, binder: Binder) -> Iterator[None]:
        around = self.scope
        self.scope = Scope(kind, binder, around)
        yield
        self.scope = around

    def _body(self, node: Any) -> None:
        node.body = self.visit(node.body) if isinstance(node, gast.Lambda) else self._all(node.body)

    # What is left alone in part or whole

    def visit_Match(self, node: gast.Match) -> gast.Match:
        node.subject = self.visit(node.subject)
        for case in node.cases:  # a pattern is no expression
            case.guard = case.guard and self.visit(case.guard)
            case.body = self._all(case.body)
        return node

    def visit_ExceptHandler(self, node: gast.ExceptHandler) -> gast.ExceptHandler:
        node.body = self._all(node.body)
        return node

    def visit_TypeAlias(self, node: Any) -> Any:
        return node

    def _all_of(self, node: Any) -> Any:
        return self.generic_visit(node)

    def _all(self, nodes: Iterable[Any]) -> list[Any]:
        """Rewrite a list of nodes; a statement may become several."""
        rewritten: list[Any] = []
        for node in nodes:
            new = self.visit(node)
            if isinstance(new, list):
                rewritten.extend(new)
            else:
                rewritten.append(new)
        return rewritten


# Nodes --------------------------------------------------------------------------------------------


def at(node: Any, new: Any) -> Any:
    """Return `new`, located where `node` is."""
    return gast.copy_location(new, node)


def name_of(node: Any) -> str | None:
    """Return the name a reader gives a value: its variable, attribute, key or container."""
    while isinstance(node, gast.Subscript):
        key = getattr(node.slice, "value", None)
        if isinstance(key, str):
            return key
        node = node.value
    name = getattr(node, "attr" if isinstance(node, gast.Attribute) else "id", None)
    return name if isinstance(name, str) else None


def stored_names(target: Any) -> Iterator[gast.Name]:
    """Give the names that an assignment to `target` binds."""
    for node in gast.walk(target):
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store):
            yield node


def mangled(attribute: str, owner: str | None) -> str:
    """Return the name under which a class keeps its private `attribute`."""
    private = attribute.startswith("__") and not attribute.endswith("__")
    prefix = (owner or "").lstrip("_")
    return f"_{prefix}{attribute}" if private and prefix else attribute


def _from_method(function: Any, call: Any) -> Any:
    """Let the call of a method on a line of its own begin there, as it does in plain code."""
    if isinstance(function, gast.Attribute) and call.lineno != function.end_lineno:
        call.lineno = function.end_lineno
        call.col_offset = max(function.end_col_offset - len(function.attr), 0)
    return call


def _name(hook: str, node: Any) -> Any:
    return at(node, gast.Name(HOOKS[hook], gast.Load(), None, None))


def _read(name: gast.Name) -> Any:
    return at(name, gast.Name(name.id, gast.Load(), None, None))


def _hook(hook: str, node: Any, *args: Any) -> Any:
    return at(node, gast.Call(_name(hook, node), list(args), []))


def _load(node: Any, label: str | None) -> Any:
    return _hook("load", node, node, at(node, gast.Constant(label, None)))
