"""The lines of a text: indentation, comments that name the user's line, wrapping, the line map."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

from srcgrad.naming import Place
from srcgrad.trace import Origin

WIDTH = 88
COMMENT_COLUMN = 61
INDENT = "    "
OPENING = ("(", "[", "{")
CLOSING = (")", "]", "}")


class Page:
    """Takes statements in order and gives the text."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.origins: dict[int, Origin] = {}  # by number of the line, from 1
        self.indent = 0
        self._shown: tuple[str, int] | None = None

    @property
    def room(self) -> int:
        """How many characters a statement may have."""
        return WIDTH - len(INDENT) * self.indent

    def put(self, text: str, origin: Origin | None = None, place: Place | None = None) -> None:
        """Add a statement; its comment names `place` where that is news."""
        lines = [INDENT * self.indent + text]
        if len(lines[0]) > WIDTH:
            lines = wrap(lines[0])
        if place is not None:
            self._comment(lines, place)
        for line in lines:
            self.lines.append(line)
            if origin is not None:
                self.origins[len(self.lines)] = origin

    def _comment(self, lines: list[str], place: Place) -> None:
        if (place.file, place.line) == self._shown:
            return
        note = f"# {place.file}:{place.line}"
        column = max(COMMENT_COLUMN, len(lines[0]) + 2)
        if column + len(note) <= WIDTH:
            lines[0] = lines[0].ljust(column) + note
            self._shown = (place.file, place.line)

    def blank(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def backward(self, sentence: str) -> None:
        """Open the backward half."""
        self.blank()
        self.put(sentence)
        self._shown = None

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def wrap(line: str) -> list[str]:
    """Break a long statement inside brackets, of its own or added around its right side.

    Examples
    --------
    >>> wrap("x = " + "a" * 40 + " + " + "b" * 40 + " + c")[1]
    '        + bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb + c)'
    """
    lines = _broken(line)
    if max(map(len, lines)) <= WIDTH:
        return lines
    bracketed = _broken(_bracketed(line))
    return bracketed if max(map(len, bracketed)) < max(map(len, lines)) else lines


def _bracketed(line: str) -> str:
    """Put brackets around the right side of a statement."""
    for head in ("return ", " = ", " += ", " -= "):
        before, found, after = line.partition(head)
        if found:
            return f"{before}{found}({after})"
    return line


def _broken(line: str) -> list[str]:
    body = line.lstrip()
    indent = " " * (len(line) - len(body))
    lines, prefix, start = [], indent, 0
    places = list(_breaks(body))
    while len(prefix) + len(body) - start > WIDTH:
        fitting = [p for p in places if start < p <= start + WIDTH - len(prefix)]
        if not fitting:
            break
        lines.append(prefix + body[start : fitting[-1]].strip())
        prefix, start = indent + INDENT * 2, fitting[-1]
    return [*lines, prefix + body[start:].strip()]


def _breaks(body: str) -> Iterator[int]:
    """Give the columns at which a statement may be broken.

    They are inside brackets, after commas and before operators with spaces around them.
    """
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(body).readline):
        depth += (token.string in OPENING) - (token.string in CLOSING)
        if depth > 0 and token.type == tokenize.OP:
            start = token.start[1]
            if token.string == ",":
                yield token.end[1]
            elif body[start - 1 : start] == " " and body[token.end[1] : token.end[1] + 1] == " ":
                yield start
