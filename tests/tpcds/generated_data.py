"""Data of any scale factor and the texts of the queries, made by DuckDB's TPC-DS extension."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.spark_servers import ROOT

PYTHON = ROOT / ".venv" / "tpcds" / "bin" / "python"
QUERIES = "queries.json"


def generate(folder: Path, scale: float) -> Path:
    """Make the files unless they are there, and return their folder."""
    target = folder / f"scale-{scale:g}"
    # The texts are written last.
    if not (target / QUERIES).is_file():
        if not PYTHON.exists():
            raise RuntimeError(
                "TPC-DS is made in an environment of its own: scripts/setup.sh tpcds"
            )
        made = [str(PYTHON), "-m", "tests.tpcds.maker", str(target.absolute()), f"{scale:g}"]
        subprocess.run(made, check=True, cwd=ROOT)
    return target
