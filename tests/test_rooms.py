"""Data flows one way: no room imports one that comes after it."""

import ast
from pathlib import Path

import pytest

import srcgrad

HERE = Path(srcgrad.__file__).parent

# The rooms in the order in which data flows; rooms of one row may import each other. The words that
# rules are written with stand before capture, which knows the functions that make arrays by them.
ROOMS = """
errors trace tree rules.table
capture
rules runtime
differentiate regions
optimize
names naming
emit
load highlight text
specialize
call
api custom diagnosis tape testing
__init__
"""
ORDER = {name: row for row, names in enumerate(ROOMS.split("\n")) for name in names.split()}


def room(module):
    """Return the room of a dotted module name: ``srcgrad.capture.hooks`` is in capture."""
    parts = module.split(".")[1:]
    longest = ".".join(parts[:2])
    return longest if longest in ORDER else parts[0] if parts else "__init__"


def module_name(path):
    parts = path.relative_to(HERE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path):
    """Give (line, module) of each import of srcgrad that runs when the module is imported."""
    package = (
        module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    )
    for node in at_import(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = from_names(node, package)
        else:
            continue
        for name in names:
            if name == "srcgrad" or name.startswith("srcgrad."):
                yield node.lineno, name


def at_import(body):
    """Give the statements that run at import: not those in functions, nor for type checkers."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from at_import(node.orelse)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for field in ("body", "orelse", "handlers", "finalbody"):
                yield from at_import(getattr(node, field, []))


def from_names(node, package):
    """Return the modules that ``from ... import ...`` may load."""
    base = node.module or ""
    if node.level:
        parent = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*parent, base] if base else parent)
    if base == "srcgrad":
        return [f"srcgrad.{alias.name}" for alias in node.names]
    return [base]


def backward_imports(path):
    mine = ORDER[room(module_name(path))]
    for line, name in imported(path):
        if ORDER.get(room(name), 0) > mine:
            yield f"{path.relative_to(HERE.parent)}:{line} imports {name}, which comes later"


@pytest.mark.parametrize("path", sorted(HERE.rglob("*.py")), ids=module_name)
def test_no_import_points_back(path):
    assert list(backward_imports(path)) == []


def test_every_module_has_a_room():
    found = {room(module_name(p)) for p in HERE.rglob("*.py")}
    assert found - ORDER.keys() <= {"__main__"}
    assert ORDER.keys() - found == set()


def test_a_backward_import_is_seen():
    """The check itself: it follows relative imports, and looks into neither functions nor types."""
    source = """
from .api import grad
from ..tape import GradientTape
from . import specialize
import srcgrad.emit.body
def f():
    from .custom import primitive
if TYPE_CHECKING:
    from .testing import check_grads
"""
    nodes = list(at_import(ast.parse(source).body))
    names = [
        from_names(n, "srcgrad.rules") if isinstance(n, ast.ImportFrom) else [n.names[0].name]
        for n in nodes
        if isinstance(n, (ast.Import, ast.ImportFrom))
    ]
    assert names == [
        ["srcgrad.rules.api"],
        ["srcgrad.tape"],
        ["srcgrad.rules"],
        ["srcgrad.emit.body"],
    ]
