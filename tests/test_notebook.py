"""The notebook of the examples runs, and shows the generated source in colour."""

import os
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


def test_the_stored_notebook_shows_its_outputs():
    book = nbformat.read(TOUR, as_version=4)
    assert all(cell.execution_count for cell in book.cells if cell.cell_type == "code")
    assert not [out for out in outputs(book) if out.output_type == "error"]
    assert any("loss_value_and_grad" in html for html in pages(book))


def test_the_notebook_runs(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    book = nbformat.read(TOUR, as_version=4)
    before = outputs(book)
    book.cells.append(nbformat.v4.new_code_cell("print(loss.source)", id="the-source"))
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    source = outputs(book)[-1]["text"].removesuffix("\n")
    assert page(source) in pages(book)
    assert [o.output_type for o in outputs(book)[:-1]] == [o.output_type for o in before]
