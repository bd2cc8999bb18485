"""Rows that rest in a table of their own before they are used, and are read back from there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa

from streamtables.engine.arrow_types import for_spark
from streamtables.engine.key_predicate import EVERY_ROW
from streamtables.engine.small_commit import ROWS_MAX, SmallHandle, read_covered


def staged(location: str, rows: pa.Table) -> pa.Table:
    """Write rows into a new Delta table, and return what it holds; the table goes afterwards."""
    from deltalake import write_deltalake

    Path(location).parent.mkdir(parents=True, exist_ok=True)
    try:
        write_deltalake(location, rows)
        handle = SmallHandle.open(location, 0)
        return for_spark(read_covered(handle, EVERY_ROW, rows_max=ROWS_MAX))
    finally:
        shutil.rmtree(location, ignore_errors=True)
