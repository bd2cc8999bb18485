"""A small Delta table to begin with, made without Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa


def write_example(path: Path, rows: pa.Table) -> None:
    """Write rows as a new Delta table whose change feed is on."""
    from deltalake import write_deltalake

    path.parent.mkdir(parents=True, exist_ok=True)
    write_deltalake(str(path), rows, configuration={"delta.enableChangeDataFeed": "true"})
