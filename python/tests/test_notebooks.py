"""The notebooks run from top to bottom; their own assertions hold."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs), "it draws something"
    # What is kept in the repository has no outputs, which would be of another version.
    kept = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in kept.cells)


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["choose", "policy_spare", "review"]
