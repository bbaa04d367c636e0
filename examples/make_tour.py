"""Write and execute tour.ipynb: ``python examples/make_tour.py [output]``.

Without an output the notebook is executed but not written, which shows that it runs.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

CELLS = [
    """# A tour of srcgrad

Exact gradients of plain NumPy functions, as NumPy source that you can read.""",
    ">>>",
    """import numpy as np
import srcgrad
from srcgrad import GradientTape, Variable, constant""",
    """## The tape

What runs in the block is recorded. Variables are watched when they are read, constants when you
say so.""",
    ">>>",
    """x = constant(3.0)
with GradientTape() as tape:
    tape.watch(x)
    y = x * x
tape.gradient(y, x)""",
    "`if`, `for` and `while` simply run: the path that was taken is the one differentiated.",
    ">>>",
    """def with_if(x):
    if x <= 0:
        return x * 2
    return x * x * x


for n in (-3.0, 0.0, 3.0):
    x = Variable(n)
    with GradientTape() as tape:
        y = with_if(x)
    print(f"n = {n:.1f}: gradient = {tape.gradient(y, x).numpy():.1f}")""",
    "A tape inside a tape gives second derivatives.",
    ">>>",
    """x = Variable(1.0)
with GradientTape() as outer:
    with GradientTape() as inner:
        y = x * x * x
    dy = inner.gradient(y, x)
dy.numpy(), outer.gradient(dy, x).numpy()""",
    """## The decorator

A decorated function takes and gives plain arrays. Its arguments may be nested dicts and lists.""",
    ">>>",
    """@srcgrad.value_and_grad
def loss(w, X, y, l2):
    logits = X @ w
    nll = np.mean(np.logaddexp(0.0, logits) - y * logits)
    if l2 > 0.0:
        nll = nll + l2 * np.sum(w * w)
    return nll


rng = np.random.default_rng(0)
X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, 100).astype(float)
loss(np.zeros(3), X, y, 0.1)""",
    """## Reading the source

The gradient is a program. Shown as the last expression of a cell, it comes in colour; as text it
is `loss.source`.""",
    ">>>",
    "loss",
    "Another path through the `if` is another specialization.",
    ">>>",
    """loss(np.zeros(3), X, y, 0.0)
len(loss.specializations)""",
    "It is a function too, and runs on its own.",
    ">>>",
    """newest = loss.specializations[-1]
print(newest.signature)
newest.function(np.zeros(3), X, y, 0.0)""",
]


def notebook():
    """Return the notebook, not executed: a text after ">>>" is a code cell."""
    cells, code = [], False
    for text in CELLS:
        if text == ">>>":
            code = True
            continue
        name = f"cell-{len(cells)}"
        cells.append((new_code_cell if code else new_markdown_cell)(text, id=name))
        code = False
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def executed(book):
    """Run all cells; drop what differs from run to run."""
    NotebookClient(book, timeout=120, kernel_name="python3").execute()
    book.metadata = {"kernelspec": book.metadata["kernelspec"]}
    for cell in book.cells:
        cell.metadata = {}
    return book


def main():
    book = executed(notebook())
    if sys.argv[1:]:
        nbformat.write(book, Path(sys.argv[1]))
    print(f"the notebook ran: {len(book.cells)} cells")


if __name__ == "__main__":
    main()
