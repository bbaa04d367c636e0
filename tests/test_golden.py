"""The generated source, held against tests/golden and against a gradient by hand.

``SRCGRAD_GOLDEN=write python -m pytest tests/test_golden.py`` writes the files anew; read the
difference as you would read a change of a public text.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import srcgrad
from srcgrad import tree

from .programs import PROGRAMS

GOLDEN = Path(__file__).parent / "golden"
each = pytest.mark.parametrize("name", PROGRAMS)


def generated(name):
    """Return the gradient function of a program after a call, and what the call gave."""
    program, _, argnums, args = PROGRAMS[name]
    g = srcgrad.value_and_grad(program, argnums)
    return g, g(*args)


def text_of(name):
    g, _ = generated(name)
    return f"{g.source}\n\n{g.adjoint_source}"


def code_lines(text):
    """Return the lines of a text that are code: no comments, imports or blank lines."""
    lines = [line.split("  # ")[0].strip() for line in text.splitlines()]
    return [s for s in lines if s and not s.startswith(("#", "import ", '"""'))]


def assert_same(found, expected, rtol=1e-12):
    found, expected = tree.flatten(found)[0], tree.flatten(expected)[0]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-14)


@each
def test_text(name):
    path = GOLDEN / f"{name}.py"
    text = text_of(name)
    if os.environ.get("SRCGRAD_GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text()


@each
def test_gradient_by_hand(name):
    _, by_hand, _, args = PROGRAMS[name]
    g, first = generated(name)
    assert_same(first, by_hand(*args))
    assert_same(g(*args), by_hand(*args))


@each
def test_the_joint_text_gives_what_the_run_gives(name):
    program, _, _, args = PROGRAMS[name]
    g, (value, gradient) = generated(name)
    (made,) = g.specializations
    joint_value, joint = made.function(*tree.flatten(list(args))[0])
    np.testing.assert_allclose(joint_value, value, rtol=1e-13)
    assert_same(list(joint) if type(joint) is tuple else [joint], tree.flatten(gradient)[0])


@each
def test_at_most_twice_the_lines_of_a_person(name):
    _, by_hand, _, _ = PROGRAMS[name]
    g, _ = generated(name)
    assert len(code_lines(g.source)) <= 2 * len(code_lines(inspect.getsource(by_hand)))


@each
def test_form(name):
    text = text_of(name)
    assert max(map(len, text.splitlines())) <= 88
    assert "\t" not in text
    compile(text, name, "exec")


def test_text_is_the_same_in_every_process():
    code = "from tests.test_golden import text_of; print(text_of('network'))"
    texts = set()
    for seed in ("0", "1", "77"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        run = [sys.executable, "-c", code]
        root = GOLDEN.parents[1]
        done = subprocess.run(run, env=env, capture_output=True, text=True, check=True, cwd=root)
        texts.add(done.stdout)
    assert texts == {text_of("network") + "\n"}
