"""Results that the page is made of: small files of JSON, kept with the project when measured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from benchmarks.options import RESULTS
from benchmarks.pages import Results


def keep(results: Results, stem: str, folder: Path = RESULTS) -> Path:
    """Write results that the page shows; the last ones under a name stand."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}.json"
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return path


def kept(stem: str, folder: Path = RESULTS) -> Results | None:
    """Return the kept results of a name; None where nothing was measured."""
    path = folder / f"{stem}.json"
    if not path.is_file():
        return None
    found: Results = json.loads(path.read_text(encoding="utf-8"))
    return found


def without(results: Results, *names: str) -> Results:
    """Return results without some entries of their cells, which the page does not show."""
    cells = [_cut(cell, names) for cell in results["cells"]]
    return {**results, "cells": cells}


def _cut(cell: Mapping[str, object], names: tuple[str, ...]) -> dict[str, object]:
    return {name: value for name, value in cell.items() if name not in names}
