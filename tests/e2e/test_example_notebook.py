"""The example notebook runs from its first cell to its last, and shows what its words say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "notebook" / "first_table.ipynb"
# What packages of the notebook's own server warn of.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def read() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


def shown(notebook: Any, cell: str) -> dict[str, str]:
    """Return what a cell shows, by the kind of it."""
    [found] = [item for item in notebook.cells if item.id == cell]
    return {kind: text for output in found.outputs for kind, text in output.get("data", {}).items()}


def test_the_notebook_is_kept_without_what_it_showed() -> None:
    notebook = read()
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)


@pytest.mark.spark
@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path) -> None:
    notebook = read()
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    assert "Rome" not in shown(notebook, "filled")["text/plain"]
    assert "differential" in shown(notebook, "write")["text/html"]
    assert "Rome" in shown(notebook, "followed")["text/plain"]
    assert "equal to its query" in shown(notebook, "verify")["text/html"]
    assert "<svg" in shown(notebook, "explain")["text/html"]
    assert "large" in shown(notebook, "graph")["text/html"]
