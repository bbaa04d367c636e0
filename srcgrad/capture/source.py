"""From a code object to the node of its text.

A file is read through linecache, so cells of a notebook and doctests are files too. Only the
top-level block around a function is parsed: parsing 300 lines takes 3 ms, one block 0.2 ms. That a
block really is what a function was loaded from is decided by compiling it and comparing code, so
edited files, several lambdas on a line and text that only looks like code are all told apart.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import linecache
import threading
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

make: Any = ast  # the node classes without their stubs, which differ between Pythons
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
FACTORY, INNER = "__srcgrad_factory__", "__srcgrad_function__"  # ends keep them from mangling

_SOURCES = 256  # how many files are kept
_CONTINUES = ("else", "elif", "except", "finally", "#")  # lines that begin no statement
_INDENTED = frozenset({"", " ", "\t", "\f", "\r", "\n", ")", "]", "}"})
_FUTURE = sum({getattr(__future__, f).compiler_flag for f in __future__.all_feature_names})
_SHAPE = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.ExceptHandler)
_quiet = threading.RLock()  # warnings.catch_warnings is not made for two threads at once


class Place(NamedTuple):
    """A function's node, and the class whose name its private names take."""

    node: FunctionNode
    owner: str | None


class Source:
    """The lines of a file, parsed where they are asked for."""

    def __init__(self, filename: str, lines: list[str]) -> None:
        self.filename = filename
        self.lines = lines
        self._starts = statement_starts(lines)
        self._parsed: dict[tuple[int, int], ast.Module | None] = {}
        self._imports: frozenset[str] | None = None

    def block(self, line: int) -> ast.Module | None:
        """Return the top-level statement around `line`, or None if it cannot stand alone."""
        i = bisect_right(self._starts, line)
        first = self._starts[i - 1] if i else 1
        last = self._starts[i] - 1 if i < len(self._starts) else len(self.lines)
        return self._parse(first, last)

    def tree(self) -> ast.Module | None:
        """Return the whole file, or None if it is not Python."""
        return self._parse(1, len(self.lines))

    def imports(self) -> frozenset[str]:
        """Return the names that the file's own lines seem to import; no parsing of the file."""
        if self._imports is None:
            self._imports = frozenset(_imported_by_lines(self.lines))
        return self._imports

    def _parse(self, first: int, last: int) -> ast.Module | None:
        key = (first, last)
        if key not in self._parsed:
            text = "\n" * (first - 1) + "".join(self.lines[first - 1 : last])
            self._parsed[key] = parse(text, self.filename)
        return self._parsed[key]


_sources: dict[str, Source] = {}


def source_of(filename: str) -> Source | None:
    """Return the text that linecache has for `filename` now."""
    lines = linecache.getlines(filename)
    source = _sources.get(filename)
    if source is not None and (source.lines is lines or source.lines == lines):
        return source
    _sources.pop(filename, None)
    if not lines:
        return None
    make_room(_sources, _SOURCES)
    _sources[filename] = source = Source(filename, lines)
    return source


def make_room(cache: dict[Any, Any], limit: int) -> None:
    """Drop the oldest entries of a full `cache`, so that one more makes `limit`."""
    for key in list(cache)[: max(len(cache) - limit + 1, 0)]:
        cache.pop(key, None)


def find(code: CodeType) -> FunctionNode | None:
    """Return the node that `code` was compiled from, or None if no text is its text."""
    place = locate(code)
    return None if place is None else place.node


def locate(code: CodeType) -> Place | None:
    """Return where `code` comes from: its node and the class around it."""
    source = source_of(code.co_filename)
    place = None if source is None else _locate_in(source, code)
    if place is None:  # the module may have been loaded again from a file that was edited
        linecache.checkcache(code.co_filename)
        fresh = source_of(code.co_filename)
        if fresh is not None and fresh is not source:
            place = _locate_in(fresh, code)
    return place


def _locate_in(source: Source, code: CodeType) -> Place | None:
    """Look in the block around the code, and if that is not its text, in the whole file.

    Python compiles ``np.sin(x)`` in one way where the module imports np and in another where it
    does not; IPython compiles each statement of a cell as a module.
    """
    line = code.co_firstlineno
    places = functions_at(source.block(line), line)
    imports = source.imports()
    place = _chosen(places, code, imports) or (imports and _chosen(places, code, frozenset()))
    if place:
        return place
    tree = source.tree()
    return None if tree is None else _chosen(functions_at(tree, line), code, _imported_by(tree))


def _chosen(places: list[Place], code: CodeType, imports: frozenset[str]) -> Place | None:
    """Return the place whose code is `code`; of equal ones on a line that at the same column."""
    chosen = None
    for place in places:
        compiled = compile_alone(place, code, imports=imports)
        if compiled is None or not same_text(compiled, code):
            continue
        if compiled.co_linetable == code.co_linetable:
            return place
        chosen = chosen or place
    return chosen


# Parsing ------------------------------------------------------------------------------------------


def parse(text: str, filename: str) -> ast.Module | None:
    """Parse `text` without repeating the warnings that its import has given."""
    try:
        with _quiet, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, filename)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def statement_starts(lines: list[str]) -> list[int]:
    """Return the numbers of the lines that begin a top-level statement, decorators included."""
    starts: list[int] = []
    decorated = False
    for number, line in enumerate(lines, 1):
        if line[:1] in _INDENTED or line.startswith(_CONTINUES):
            continue
        if not decorated:
            starts.append(number)
        decorated = line[0] == "@"
    return starts


def functions_at(tree: ast.AST | None, line: int) -> list[Place]:
    """Return the functions in `tree` whose code says that it begins at `line`."""
    return [] if tree is None else list(_functions_at(tree, line, None))


def _functions_at(tree: ast.AST, line: int, owner: str | None) -> Iterator[Place]:
    for child in ast.iter_child_nodes(tree):
        last = getattr(child, "end_lineno", None)
        if last is not None and not first_line(child) <= line <= last:
            continue
        if isinstance(child, FUNCTIONS) and first_line(child) == line:
            yield Place(child, owner)
        inside = child.name if isinstance(child, ast.ClassDef) else owner
        yield from _functions_at(child, line, inside)


def first_line(node: Any) -> int:
    """Return the line on which `node` begins: that of its first decorator, if it has any."""
    decorators = getattr(node, "decorator_list", None)
    line: int = (decorators[0] if decorators else node).lineno
    return line


def _imported_by(tree: ast.AST) -> frozenset[str]:
    """Return the names that a module imports, not those that its functions import."""
    names: set[str] = set()
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Import | ast.ImportFrom):
            names.update((a.asname or a.name).partition(".")[0] for a in child.names)
        elif isinstance(child, _BLOCKS):
            names |= _imported_by(child)
    return frozenset(names)


def _imported_by_lines(lines: list[str]) -> Iterator[str]:
    for i, line in enumerate(lines):
        text = line.lstrip()
        if text.startswith(("import ", "from ")):
            end = i + 1
            while "(" in text and ")" not in text and end < min(len(lines), i + 99):
                text, end = text + lines[end], end + 1
            tree = parse(text, "<import>")
            yield from () if tree is None else _imported_by(tree)


# Compiling ----------------------------------------------------------------------------------------


def compile_alone(
    place: Place, code: CodeType, hidden: Iterable[str] = (), imports: Iterable[str] = ()
) -> CodeType | None:
    """Compile a function outside of its module.

    The function stands in a factory whose parameters are its free variables, those of `code` and
    the `hidden` ones, and in a class of the owner's name, which mangles private names. Decorators,
    defaults and annotations belong to the code around the function and are left out.
    """
    module = _module(place, (*code.co_freevars, *hidden))
    module.body[:0] = [_import(name) for name in imports]
    flags = code.co_flags & _FUTURE
    try:
        with _quiet, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled: CodeType = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for _ in range(2 if place.owner is None else 3):
        compiled = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    compiled = _requalified(compiled, compiled.co_qualname, code.co_qualname)
    return compiled.replace(co_name=code.co_name)


def _requalified(code: CodeType, old: str, new: str) -> CodeType:
    """Return `code` with the qualified names that it had in its module; a class body holds its own.

    Names that are declared global are not qualified by what is around them.
    """
    if not code.co_qualname.startswith(old):
        return code
    name = new + code.co_qualname.removeprefix(old)
    own = code.co_qualname
    consts = [name if type(c) is str and c == own else c for c in code.co_consts]
    consts = [_requalified(c, old, new) if isinstance(c, CodeType) else c for c in consts]
    return code.replace(co_qualname=name, co_consts=tuple(consts))


def _module(place: Place, free: tuple[str, ...]) -> ast.Module:
    node: Any = _bare_function(place.node)
    at = {"lineno": node.lineno, "col_offset": node.col_offset}
    blank = {"decorator_list": [], "type_params": [], **at}
    body = make.Return(node, **at) if isinstance(node, ast.Lambda) else node
    parameters = _arguments(args=[make.arg(name, **at) for name in free])
    outer = make.FunctionDef(name=FACTORY, args=parameters, body=[body], **blank)
    if place.owner is not None:
        outer = make.ClassDef(name=place.owner, bases=[], keywords=[], body=[outer], **blank)
    return ast.Module([outer], [])


def _import(name: str) -> ast.Import:
    return ast.Import([ast.alias(name, lineno=1, col_offset=0)], lineno=1, col_offset=0)


def _bare_function(node: FunctionNode) -> FunctionNode:
    """Return `node` without what is evaluated around it; a decorator still sets the first line."""
    args = _bare_arguments(node.args)
    if isinstance(node, ast.Lambda):
        return ast.copy_location(ast.Lambda(args, node.body), node)
    decorators = [ast.copy_location(ast.Constant(None), d) for d in node.decorator_list[:1]]
    parts = {"args": args, "body": node.body, "decorator_list": decorators, "type_params": []}
    bare: FunctionNode = getattr(make, type(node).__name__)(name=INNER, **parts)
    return ast.copy_location(bare, node)


def _bare_arguments(args: ast.arguments) -> ast.arguments:
    return _arguments(
        posonlyargs=[_bare_arg(a) for a in args.posonlyargs],
        args=[_bare_arg(a) for a in args.args],
        vararg=args.vararg and _bare_arg(args.vararg),
        kwonlyargs=[_bare_arg(a) for a in args.kwonlyargs],
        kwarg=args.kwarg and _bare_arg(args.kwarg),
    )


def _bare_arg(arg: ast.arg) -> ast.arg:
    return ast.copy_location(ast.arg(arg.arg), arg)


def _arguments(
    posonlyargs: list[ast.arg] | None = None,
    args: list[ast.arg] | None = None,
    vararg: ast.arg | None = None,
    kwonlyargs: list[ast.arg] | None = None,
    kwarg: ast.arg | None = None,
) -> ast.arguments:
    """Return a parameter list without defaults."""
    only = kwonlyargs or []
    return ast.arguments(
        posonlyargs or [], args or [], vararg, only, [None for _ in only], kwarg, []
    )


# Comparing ----------------------------------------------------------------------------------------


def same_text(compiled: CodeType, code: CodeType) -> bool:
    """Tell whether `code` was compiled from the text that `compiled` comes from.

    Code that pytest has rewritten never compares equal; there the first line, which the caller
    has compared, the name and the parameters have to do.
    """
    if _bare(compiled) == _bare(code):
        return True
    return _rewritten_by_pytest(code) and _signature(compiled) == _signature(code)


def _bare(code: CodeType) -> CodeType:
    """Return `code` without its lines, for `==`, which compares all the rest."""
    consts = [_bare(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return code.replace(
        co_consts=tuple(consts),
        co_firstlineno=1,
        co_linetable=b"",
        co_flags=code.co_flags & _SHAPE,
    )


def _rewritten_by_pytest(code: CodeType) -> bool:
    if any(name.startswith("@py") for name in (*code.co_names, *code.co_varnames)):
        return True
    return any(_rewritten_by_pytest(c) for c in code.co_consts if isinstance(c, CodeType))


def _signature(code: CodeType) -> tuple[object, ...]:
    flags = code.co_flags & _SHAPE
    stars = bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[: count + stars]
    return (code.co_argcount, code.co_posonlyargcount, flags, names)
