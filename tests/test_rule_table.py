"""Laws of the rule table: every rule has a row, and names NumPy's own arguments."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module

import pytest

from srcgrad.rules.table import LINEAR, MULTILINEAR, RULES, functions_with_rules, load_rules
from srcgrad.trace import function_name

from . import rules as rule_tests
from .cases import Row

load_rules()
# Rules of srcgrad's own marks and of users are tested elsewhere, in test_functions.py.
LIBRARIES = ("numpy", "math", "_operator", "builtins", "")


def all_rows():
    rows = []
    for module in pkgutil.iter_modules(rule_tests.__path__):
        names = vars(import_module(f"{rule_tests.__name__}.{module.name}"))
        tables = [v for v in names.values() if type(v) is list and v and type(v[0]) is Row]
        rows += [row for table in tables for row in table]
    return rows


def is_library(function):
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] in LIBRARIES


def test_every_rule_has_a_row():
    covered = {row.function for row in all_rows()}
    missing = [
        function_name(f) for f in functions_with_rules() if f not in covered and is_library(f)
    ]
    assert missing == []


def signature(function):
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


# Where NumPy says less than it takes: reshape's shape was called newshape in NumPy 2.0, where
# trim_zeros had no axis; pad hides what its modes take behind **kwargs, astype is a method.
FREE = {"reshape", "pad", "astype", "trim_zeros"}
VJPS = [
    pytest.param(f, rule.body, id=function_name(f))
    for f, rule in sorted(RULES.items(), key=lambda item: function_name(item[0]))
    if rule.kind == "vjp" and is_library(f) and signature(f) and f.__name__ not in FREE
]


@pytest.mark.parametrize(("function", "body"), VJPS)
def test_a_rule_names_the_arguments_of_its_function(function, body):
    theirs = signature(function).parameters
    if any(p.kind is p.VAR_POSITIONAL for p in theirs.values()):
        return
    ours = list(inspect.signature(body).parameters.values())[2:]
    given = {p.name for p in ours if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    if not any(p.kind is p.VAR_KEYWORD for p in theirs.values()):
        assert given <= set(theirs)


def test_linear_functions_have_rules():
    assert {function_name(f) for f in (LINEAR | MULTILINEAR) - set(RULES)} == set()
