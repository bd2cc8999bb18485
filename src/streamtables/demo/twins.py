"""Full refreshes of the same queries on the same data, for comparison.

Each stream table has a twin in a second warehouse whose mode is full.  The twin of a table on
another stream table reads that table's own rows, so every twin costs one plain recomputation and
one overwrite, and none carries the cost of having readers.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from streamtables.api import StreamTables, connect
from streamtables.demo.tables import DEFINITIONS

if TYPE_CHECKING:
    from streamtables.refresh.results import Refresh


def make_twins(db: StreamTables, warehouse: Path) -> StreamTables:
    """Open the second warehouse on the same Spark, with one twin of each stream table."""
    twins = connect(warehouse, spark=db.spark)
    for source in db.sources():
        twins.add_source(source.name, path=source.location, key=source.key_columns)
    locations = {table.name: table.location for table in db.stream_tables()}
    for definition in DEFINITIONS:
        if " sales " in definition.query:
            twins.add_source("sales", path=locations["sales"])
        twins.create(twin_of(definition.name), definition.query, mode="full")
    return twins


def twin_of(name: str) -> str:
    """Return the name of a table's twin."""
    return f"{name}_by_full"


def full_seconds(twins: StreamTables, name: str) -> float | None:
    """Refresh one twin; None when nothing that it reads has changed."""
    done: Refresh = twins.refresh(twin_of(name))
    return done.seconds if done.outcome == "applied" else None
