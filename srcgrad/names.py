"""Names for what a trace does: where an operation stands in the user's text, and what it reads.

Names are looked up when a text is generated, never while a program runs: a step keeps its code and
offset only, `co_positions` gives the columns, and the tree of the file the rest.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from itertools import islice
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

from .capture.source import Source, first_line, make_room, source_of

Span: TypeAlias = tuple[int, int, int, int]  # first line, first column, last line, last column

_CODES = 4096  # how many codes are kept
# Modules that are so called also where the import is out of sight, in another cell of a notebook.
_MODULES = frozenset({"np", "numpy", "sp", "scipy", "math", "linalg", "fft", "special"})


class Site(NamedTuple):
    """One operation in the user's text.

    Attributes
    ----------
    file, path, line
        The file's own name, its whole name, and where in it the operation begins.
    target : str or None
        What the statement assigns, if it assigns this very expression.
    operands : tuple of (str or None)
        What the operands are called: the receiver first in the call of a method.
    """

    file: str
    path: str
    line: int
    target: str | None = None
    operands: tuple[str | None, ...] = ()


_sites: dict[int, tuple[CodeType, dict[int, Site]]] = {}  # by id(code), which the entry keeps


def site(code: CodeType, lasti: int) -> Site:
    """Return what the user's text says at an instruction: ``site(frame.f_code, frame.f_lasti)``.

    Where the text is not at hand, the site has a file and a line and no names.
    """
    entry = _sites.get(id(code))
    if entry is None:
        make_room(_sites, _CODES)
        _sites[id(code)] = entry = (code, {})
    found = entry[1].get(lasti)
    if found is None:
        found = entry[1][lasti] = _described(code, lasti)
    return found


def _described(code: CodeType, lasti: int) -> Site:
    path, position = code.co_filename, _position(code, lasti)
    line = position[0] or code.co_firstlineno
    bare = Site(os.path.basename(path) or path, path, line)
    source = None if None in position else source_of(path)
    if source is None:
        return bare
    chain = _chain(source, (line, position[2], position[1], position[3]))
    if not chain:
        return bare
    target, operands = _target(chain), _operands(chain[-1], source)
    if not _fits(code, (target, *operands)):
        return bare  # an edited file: other names stand there now
    return bare._replace(target=_label(target), operands=tuple(map(_label, operands)))


def _position(code: CodeType, lasti: int) -> tuple[Any, Any, Any, Any]:
    """Return first line, last line, first column and last column; what is not known is None."""
    nowhere = (None, None, None, None)
    return next(islice(code.co_positions(), max(lasti, 0) // 2, None), nowhere)


def _fits(code: CodeType, nodes: tuple[ast.AST | None, ...]) -> bool:
    """Tell whether `code` uses the variables among `nodes`; private names are mangled in it."""
    known = {*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars}
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return all(name in known or name.startswith("__") for name in names)


# From a span to its node --------------------------------------------------------------------------


def _chain(source: Source, span: Span) -> list[ast.AST]:
    """Return the nodes around `span`, outermost first, and at last the one that it is of."""
    tree = source.block(span[0]) or source.tree()
    chain: list[ast.AST] = []
    inner: ast.AST | None = tree
    while inner is not None:
        chain.append(inner)
        inner = next((c for c in _located(inner) if _contains(c, span)), None)
    return chain if chain and _is_of(chain[-1], span) else []


def _located(node: ast.AST) -> Iterator[ast.AST]:
    """Give the nearest nodes within `node` that have a place."""
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _located(child)


def _contains(node: Any, span: Span) -> bool:
    line, column, last, end = span
    start = (first_line(node), 0) if hasattr(node, "decorator_list") else _start(node)
    return start <= (line, column) and (last, end) <= _end(node)


def _is_of(node: Any, span: Span) -> bool:
    """Tell whether `span` is that of `node`; a method on a new line begins at its name."""
    if not hasattr(node, "lineno") or _end(node) != span[2:]:
        return False
    return _start(node) == span[:2] or isinstance(node, ast.Call | ast.Attribute)


def _start(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: Any) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset


# What the node says -------------------------------------------------------------------------------


def _target(chain: list[ast.AST]) -> ast.expr | None:
    """Return what is assigned exactly the value of the last node of `chain`."""
    node, parent = chain[-1], chain[-2]
    if isinstance(node, ast.AugAssign):
        return node.target
    if isinstance(parent, ast.Tuple | ast.List) and isinstance(chain[-3], ast.Assign):
        return _element(chain[-3], parent, node)
    if getattr(parent, "value", None) is not node:
        return None
    if isinstance(parent, ast.Assign):
        return parent.targets[0]
    return parent.target if isinstance(parent, ast.AnnAssign | ast.NamedExpr) else None


def _element(assign: ast.Assign, values: ast.Tuple | ast.List, node: ast.AST) -> ast.expr | None:
    """Return the target of `node` in ``a, b = e1, e2``."""
    targets = assign.targets[0]
    if values is not assign.value or not isinstance(targets, ast.Tuple | ast.List):
        return None
    if any(isinstance(e, ast.Starred) for e in (*values.elts, *targets.elts)):
        return None
    pairs = zip(targets.elts, values.elts, strict=False)
    return next((target for target, value in pairs if value is node), None)


def _operands(node: ast.AST, source: Source) -> tuple[ast.expr, ...]:
    match node:
        case ast.BinOp(left=left, right=right):
            return left, right
        case ast.Compare(left=left, comparators=others):
            return left, *others
        case ast.UnaryOp(operand=operand):
            return (operand,)
        case ast.AugAssign(target=target, value=value):
            return target, value
        case ast.Subscript(value=value) | ast.Attribute(value=value):
            return (value,)
        case ast.Call(func=ast.Attribute(value=receiver), args=args):
            return tuple(args) if _is_module(receiver, source) else (receiver, *args)
        case ast.Call(args=args):
            return tuple(args)
    return ()


def _is_module(receiver: ast.expr, source: Source) -> bool:
    """Tell whether what stands before the dot is a module: ``np`` in ``np.linalg.norm(x)``."""
    while isinstance(receiver, ast.Attribute):
        receiver = receiver.value
    return isinstance(receiver, ast.Name) and (
        receiver.id in _MODULES or receiver.id in source.imports()
    )


def _label(node: ast.expr | None) -> str | None:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key
    return None
