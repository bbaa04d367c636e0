"""What the README shows is what happens.

``python -m tests.test_readme`` writes what its scripts print into it, to be read as a diff.
"""

import doctest
import itertools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def scripts():
    """Return (file name, code, shown output) of each block that begins with a file's name."""
    blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
    found = []
    for (kind, code), (_, output) in itertools.pairwise(blocks):
        name = re.match(r"# (\w+\.py)\n", code)
        if kind == "python" and name:
            found.append((name[1], code, output))
    return found


def printed(name, code, folder):
    """Run a script in a folder of its own, as a reader would, and return what it prints."""
    (folder / name).write_text(code, encoding="utf-8")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    run = subprocess.run(
        [sys.executable, name], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.rstrip() + "\n"


def refresh(folder):
    text = README.read_text(encoding="utf-8")
    for name, code, output in scripts():
        shown = f"{code}```\n"
        before, after = text.split(shown)
        after = after.replace(
            f"```python\n{output}```", f"```python\n{printed(name, code, folder)}```", 1
        )
        text = before + shown + after
    README.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name, code, output", scripts(), ids=[s[0] for s in scripts()])
def test_a_script_prints_what_the_readme_shows(name, code, output, tmp_path):
    assert printed(name, code, tmp_path) == output  # to the letter: the source is the product


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


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        refresh(Path(folder))
