"""Expressions: steps become `ast` nodes, astor puts the parentheses.

What binds as tightly as a name (names, calls, subscripts, literals) is kept as a name node that
holds its text; astor prints only what operators are made of, once per statement.
"""

from __future__ import annotations

import ast
import threading
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # astor touches ast.Num and its kin, gone in Python 3.14
    from astor.code_gen import SourceGenerator, set_precedence
    from astor.op_util import Precedence

UNTRACKED: frozenset[str] = frozenset()


class Expr:
    """An expression of the text.

    Attributes
    ----------
    node : ast.expr
        What astor prints.
    width : int
        How long the text is, up to some parentheses.
    depth : int
        How many operations are nested in it.
    tracked : frozenset of str
        The names in it that are written to again later.
    """

    __slots__ = ("_text", "depth", "node", "tracked", "width")

    def __init__(
        self, node: ast.expr, width: int, depth: int = 0, tracked: frozenset[str] = UNTRACKED
    ) -> None:
        self.node = node
        self.width = width
        self.depth = depth
        self.tracked = tracked
        self._text: str | None = node.id if type(node) is ast.Name else None

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = _print(self.node)
        return self._text


def atom(text: str, tracked: frozenset[str] = UNTRACKED) -> Expr:
    """Return a name, or a text that binds as tightly as one."""
    return Expr(ast.Name(text), len(text), 0, tracked)


def tight(text: str, parts: list[Expr]) -> Expr:
    """Return a call or the like, whose text holds `parts`."""
    return Expr(ast.Name(text), len(text), _depth(parts), _tracked(parts))


def binary(op: ast.operator, symbol: str, left: Expr, right: Expr) -> Expr:
    return _operator(ast.BinOp(left.node, op, right.node), [left, right], len(symbol) + 2)


def compare(op: ast.cmpop, symbol: str, left: Expr, right: Expr) -> Expr:
    return _operator(ast.Compare(left.node, [op], [right.node]), [left, right], len(symbol) + 2)


def unary(op: ast.unaryop, symbol: str, operand: Expr) -> Expr:
    return _operator(ast.UnaryOp(op, operand.node), [operand], len(symbol))


def item(value: Expr, index: str, parts: list[Expr]) -> Expr:
    """Return ``value[index]``."""
    return tight(f"{_primary(value)}[{index}]", [value, *parts])


def attribute(value: Expr, name: str) -> Expr:
    """Return ``value.name``."""
    return tight(f"{_primary(value)}.{name}", [value])


def without_minus(expr: Expr) -> Expr | None:
    """Return what a minus stands before, in ``-x`` or in ``-x * y``; None where there is none."""
    node = expr.node
    if type(node) is ast.BinOp and type(node.op) in (ast.Mult, ast.Div, ast.MatMult):
        left = _positive(node.left)
        positive: ast.expr | None = left and ast.BinOp(left, node.op, node.right)
    else:
        positive = _positive(node)
    return None if positive is None else _operator(positive, [expr], 0)


def _positive(node: ast.expr) -> ast.expr | None:
    minus = type(node) is ast.UnaryOp and type(node.op) is ast.USub
    return node.operand if minus else None  # type: ignore[attr-defined]


def number(value: complex) -> Expr:
    """Return a literal; a negative one is a minus before it, so that ``(-2.0) ** y`` prints right.

    Examples
    --------
    >>> binary(ast.Pow(), "**", number(-2.0), atom("y")).text
    '(-2.0) ** y'
    """
    if isinstance(value, complex):
        return _complex(value)
    text = repr(value)
    minus = text.startswith("-")
    text = text.lstrip("-")
    literal = atom(f"np.{text}" if text in ("inf", "nan") else text)
    return unary(ast.USub(), "-", literal) if minus else literal


def _complex(value: complex) -> Expr:
    if repr(value.real) == "0.0" and value.imag >= 0 and repr(value.imag) not in ("inf", "-0.0"):
        return atom(repr(value))
    return atom(f"complex({number(value.real).text}, {number(value.imag).text})")


def _primary(value: Expr) -> str:
    """Return the text of a value that a bracket or a dot follows."""
    text = value.text
    if type(value.node) is ast.Name and not text[0].isdigit():
        return text
    return f"({text})"


def _operator(node: ast.expr, parts: list[Expr], own: int) -> Expr:
    return Expr(node, sum(p.width for p in parts) + own, _depth(parts), _tracked(parts))


def _depth(parts: list[Expr]) -> int:
    return 1 + max((p.depth for p in parts), default=0)


def _tracked(parts: list[Expr]) -> frozenset[str]:
    tracked = UNTRACKED
    for part in parts:
        if part.tracked:
            tracked = tracked | part.tracked
    return tracked


_thread = threading.local()  # a generator of astor's is slow to make
_SYMBOLS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.Pow: "**",
}


def _print(node: ast.expr) -> str:
    """Return the text of `node` as it stands between commas."""
    if type(node) is ast.BinOp and type(node.op) in _SYMBOLS:  # two names need no brackets
        left, right = node.left, node.right
        if type(left) is ast.Name and type(right) is ast.Name:
            return f"{left.id} {_SYMBOLS[type(node.op)]} {right.id}"
    generator = getattr(_thread, "generator", None)
    if generator is None:
        generator = _thread.generator = SourceGenerator("    ")
    generator.result.clear()
    set_precedence(Precedence.Comma, node)
    generator.visit(node)
    return "".join(generator.result)
