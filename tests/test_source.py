"""Whose text a code object is, and that a function without its text is left alone."""

from __future__ import annotations

import doctest
import importlib
import linecache
import warnings

import pytest

from srcgrad.capture import source
from srcgrad.capture.instrument import instrument

from . import shapes
from . import shapes_of_classes as classes
from .plain_hooks import Recording, both, module


def test_no_text():
    names = {}
    exec("def f(x):\n    return x\n", names)
    assert instrument(names["f"], Recording()) is None
    assert instrument(classes.Layer.__init__, Recording()) is None  # written by dataclass
    assert instrument(len, Recording()) is None

    async def coroutine():
        return 1

    assert instrument(coroutine, Recording()) is None


def test_a_text_of_another_name():
    names = {}
    exec(compile("\n" * 40 + "def f(x):\n    return x\n", shapes.__file__, "exec"), names)
    assert source.find(names["f"].__code__) is None


EDITS = {
    "other body": ("return x + 1", "return x + 2"),
    "other constant type": ("return x + 1", "return x + 1.0"),
    "shifted": ("def f", "import os\n\n\ndef f"),
    "gone": ("def f(x):\n    return x + 1\n", ""),
    "not Python": ("def f", "def def f"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_file_edited_after_import(edit, tmp_path):
    m = module(tmp_path, "import math\n\ndef f(x):\n    return x + 1\n")
    path = tmp_path / "sample.py"
    path.write_text(path.read_text().replace(*edit))
    linecache.checkcache(str(path))
    assert source.find(m.f.__code__) is None


def test_an_edit_that_changes_no_code(tmp_path):
    m = module(tmp_path, "import math\n\ndef f(x):\n    return math.floor(x)\n")
    path = tmp_path / "sample.py"
    path.write_text(path.read_text() + "# a comment\n")
    linecache.checkcache(str(path))
    assert source.find(m.f.__code__).name == "f"


def test_a_module_loaded_again(tmp_path):
    old = module(tmp_path, "def f(x):\n    return x + 1\n")
    assert source.find(old.f.__code__) is not None
    new = module(tmp_path, "\n\ndef f(x):\n    return x + 123\n")
    assert source.find(new.f.__code__).lineno == 3
    assert source.find(old.f.__code__) is None


AWKWARD = {
    "text that looks like code": '''
        """
        def f(x):
        """
        def f(x):
            return x
        ''',
    "brackets at the margin": """
        def deco(*a):
            return lambda g: g
        @deco(
        1,
        )
        def f(x):
            return (
        x
            )
        """,
    "one line": "import math; f = lambda x: math.floor(x)",
    "import in a try": """
        try: import math
        except ImportError: pass
        def f(x):
            return math.floor(x)
        """,
    "import in brackets": """
        from os import (
            path as p,
            sep,
        )
        def f(x):
            return p.basename(str(x))
        """,
    "import in a function": """
        import math as m
        def other():
            import collections as math
        def f(x):
            math = m
            return math.floor(x), m.floor(x)
        """,
    "else": """
        if not __name__:
            pass
        else:
            def f(x):
                return x
        """,
    "future": """
        from __future__ import annotations
        def f(x: "T") -> U:
            y: undefined = x
            return y
        """,
    "warning": """
        def f(x):
            return x is 1, "\\d"
        """,
}


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_awkward_texts(text, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = module(tmp_path, text)
    plain, instrumented = both(m.f, 1)
    assert plain == instrumented


def test_a_notebook_cell():
    text = "import math\ndef f(x):\n    return math.floor(x) + (lambda: x)()\n"
    names = {}
    for i, name in enumerate(["<cell 1>", "<cell 1>"]):
        cell = text.replace("floor", "ceil") if i else text
        linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
        exec(compile("\n" + cell.split("\n", 1)[1], name, "exec"), names, names)
        names["math"] = importlib.import_module("math")
        plain, instrumented = both(names["f"], 2.5)
        assert plain == instrumented


def test_caches_keep_what_came_last():
    kept = {}
    for i in range(9):
        source.make_room(kept, 4)
        kept[i] = i
        assert list(kept) == list(range(max(i - 3, 0), i + 1))


def documented(x):
    """Be run by doctest.

    >>> y = 2
    >>> def inner(x):
    ...     return [x * y for x in range(x)], (lambda: x)()
    >>> both(inner, 3)[1]
    ([0, 2, 4], 3)
    >>> f, g = lambda x: x * y, lambda x: x + y
    >>> both(f, 3)[1], both(g, 3)[1]
    (6, 5)
    """


def test_a_doctest():
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(documented, globs=globals()):
        runner.run(test)
    assert runner.summarize() == (0, 5)
