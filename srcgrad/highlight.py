"""A page part that shows Python text in colour, for notebooks.

The standard library's tokenize finds the words. Colours stand in the elements themselves, so the
HTML needs no style sheet, and they are of middle lightness: readable on white and on black.
"""

from __future__ import annotations

import builtins
import io
import keyword
import tokenize
from collections.abc import Iterator
from html import escape

COLOURS = {
    "comment": "color:#7f848e;font-style:italic",
    "keyword": "color:#c0569c;font-weight:600",
    "name": "color:#3b82d0;font-weight:600",
    "builtin": "color:#2a9299",
    "number": "color:#c06a2b",
    "string": "color:#4d9a45",
}
PRE = (
    "margin:0;padding:0.6em 0.8em;overflow-x:auto;line-height:1.45;white-space:pre;"
    "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:13px;"
    "background:transparent;color:inherit;border-left:3px solid #8886"
)
_BUILTINS = frozenset(n for n in dir(builtins) if not n.startswith("_"))
_STRINGS = {tokenize.STRING} | {
    getattr(tokenize, name)
    for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
    if hasattr(tokenize, name)  # from Python 3.12 on
}
_KINDS = {tokenize.COMMENT: "comment", tokenize.NUMBER: "number"} | dict.fromkeys(
    _STRINGS, "string"
)


def page(source: str) -> str:
    """Return self-contained HTML of Python `source`, highlighted.

    Text that is no Python is shown as it is.

    Examples
    --------
    >>> print(page("x = 1"))
    <pre ...>x = <span style="color:#c06a2b">1</span></pre>
    """
    try:
        body = "".join(_pieces(source))
    except (tokenize.TokenError, SyntaxError):
        body = escape(source)
    return f'<pre class="srcgrad-source" style="{PRE}">{body}</pre>'


def _pieces(source: str) -> Iterator[str]:
    """Give the text in order: what lies between the words as it is, the words in colour."""
    starts = _line_starts(source)
    done, before = 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        begin, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        kind = _kind(token, before)
        if kind is not None and begin >= done:
            yield escape(source[done:begin])
            yield f'<span style="{COLOURS[kind]}">{escape(source[begin:end])}</span>'
            done = end
        before = token.string
    yield escape(source[done:])


def _line_starts(source: str) -> list[int]:
    """Return the offset of each line, and of what stands behind the last one."""
    starts = [0]
    for line in io.StringIO(source):
        starts.append(starts[-1] + len(line))
    return [*starts, starts[-1]]


def _kind(token: tokenize.TokenInfo, before: str) -> str | None:
    """Return how a word is shown; `before` is the word that stands before it."""
    if token.type != tokenize.NAME:
        return _KINDS.get(token.type)
    if keyword.iskeyword(token.string):
        return "keyword"
    if before in ("def", "class"):
        return "name"
    return "builtin" if token.string in _BUILTINS and before != "." else None
