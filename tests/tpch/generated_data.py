"""Data of any scale factor, made by tpchgen-cli as one Parquet file for each table."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.tpch.schema import TABLES


def generate(folder: Path, scale: float) -> Path:
    """Make the files unless they are there, and return their folder."""
    target = folder / f"scale-{scale:g}"
    if not all((target / f"{table}.parquet").is_file() for table in TABLES):
        command = [_program(), "parquet", "--scale-factor", f"{scale:g}", "--quiet", "--overwrite"]
        subprocess.run([*command, "--output-dir", str(target)], check=True)
    return target


def _program() -> str:
    # Beside the interpreter first: a virtual environment need not be activated to be used.
    beside = Path(sys.executable).with_name("tpchgen-cli")
    found = str(beside) if beside.is_file() else shutil.which("tpchgen-cli")
    if found is None:
        raise RuntimeError("tpchgen-cli is missing: install the package with its dev extra")
    return found
