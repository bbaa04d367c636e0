"""What the README shows is what happens."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def scripts():
    """Return (file name, code, expected output) of each block that begins with a file's name."""
    blocks = [(kind, text) for kind, text in BLOCK.findall(README.read_text(encoding="utf-8"))]
    found = []
    for (kind, code), (after, output) in zip(blocks, blocks[1:]):
        name = re.match(r"# (\w+\.py)\n", code)
        if kind == "python" and name:
            assert after in ("python", "text"), f"no output follows {name[1]}"
            found.append((name[1], code, output))
    return found


@pytest.mark.parametrize(
    "name, code, output", scripts(), ids=lambda v: v if v.endswith(".py") else ""
)
def test_a_script_prints_what_the_readme_shows(name, code, output, tmp_path):
    (tmp_path / name).write_text(code, encoding="utf-8")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.rstrip() == output.rstrip()  # to the letter: the source is the product


def test_the_readme_opens_with_a_script():
    assert scripts()[0][0] == "train.py"
    assert "_bar" in scripts()[0][2]


@pytest.mark.parametrize(
    "path", [README, *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name
)
def test_doctests(path):
    found = doctest.testfile(str(path), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert found.failed == 0
    assert found.attempted > 0


def test_two_commands_do_all_the_setup():
    lines = [
        line for line in README.read_text(encoding="utf-8").splitlines() if " -m venv " in line
    ]
    assert len(lines) == 2
    assert "examples/quickstart.py" in lines[0]
    assert "-m pytest" in lines[1]
