"""The notebook of the examples runs, and shows the generated source in colour."""

import html
import os
import re
from pathlib import Path

import pytest

from srcgrad.highlight import page

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).resolve().parent.parent
TOUR = ROOT / "examples" / "tour.ipynb"


def outputs(book):
    return [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]


def pages(book):
    """Return the HTML that was shown."""
    return [o.data["text/html"] for o in outputs(book) if "text/html" in o.get("data", {})]


def text_of(page):
    return html.unescape(re.sub("<[^>]*>", "", page))


def test_the_stored_notebook_shows_its_outputs():
    book = nbformat.read(TOUR, as_version=4)
    assert all(cell.execution_count for cell in book.cells if cell.cell_type == "code")
    assert not [out for out in outputs(book) if out.output_type == "error"]
    assert any("loss_value_and_grad" in text for text in pages(book))


def test_the_notebook_runs_and_is_stored_as_it_runs(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    book = nbformat.read(TOUR, as_version=4)
    stored = pages(book)
    shown = next(i for i, cell in enumerate(book.cells) if cell.source == "loss")
    book.cells.insert(shown + 1, nbformat.v4.new_code_cell("print(loss.source, end='')", id="it"))
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    source = book.cells[shown + 1].outputs[0]["text"]
    assert page(source) in pages(book)
    written_anew = "python examples/make_tour.py examples/tour.ipynb"
    assert [*map(text_of, stored)] == [*map(text_of, pages(book))], written_anew
