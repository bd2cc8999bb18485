"""A published stream table whose refreshes are written by deltalake, without Spark."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from streamtables.api import StreamTables
from streamtables.catalog.models import StreamTable
from streamtables.positions import Frontier, RefreshId, Sequence, Standing, Version
from streamtables.publish.reading import Changes
from tests.support.delta_tables import DeltaTableFile
from tests.support.settings import settings_with
from tests.support.web_warehouse import record

KEYED = "SELECT id, note FROM orders"
BAG = "SELECT note FROM orders"
COLUMNS = {"id": "bigint", "note": "string"}

Rows = Counter[tuple[Any, ...]]


@dataclass
class Clock:
    """A clock that a test moves."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **duration: float) -> None:
        self.now += timedelta(**duration)


@dataclass
class Shelf:
    """A warehouse with the tables `t` (keyed) and `bag`, whose rows a test writes."""

    db: StreamTables
    clock: Clock
    files: dict[str, DeltaTableFile] = field(default_factory=dict)

    def fill(self, name: str, *rows: tuple[Any, ...]) -> None:
        """Make the table with these rows, as its first refresh would."""
        table = self.db._catalog.stream_table(name)
        columns = COLUMNS if name == "t" else {"note": "string"}
        self.files[name] = DeltaTableFile(Path(table.location), columns, rows)
        self.moved(name)

    def moved(self, name: str) -> None:
        """Record that a refresh wrote the last version."""
        catalog, table = self.db._catalog, self.db._catalog.stream_table(name)
        known = catalog.standing(table.id)
        began = record(table, Frontier({}), sequence=Sequence(known.sequence + 1 if known else 1))
        version = Version(self.files[name].open().version())
        catalog.finish_refresh(began, _standing(table, version, began.sequence, began.id))

    def append(self, name: str, *rows: tuple[Any, ...]) -> None:
        self.files[name].append(*rows)
        self.moved(name)

    def delete(self, name: str, predicate: str) -> None:
        self.files[name].delete(predicate)
        self.moved(name)

    def overwrite(self, name: str, *rows: tuple[Any, ...]) -> None:
        self.files[name].overwrite(rows)
        self.moved(name)

    def remake(self, name: str, *rows: tuple[Any, ...]) -> None:
        """Drop the table and create it again under its name."""
        self.db.drop(name)
        self.db.create(name, KEYED if name == "t" else BAG)
        self.fill(name, *rows)

    def stored(self, name: str) -> Rows:
        """Return the rows as they are, as a bag."""
        rows = self.db.read_rows(name, 1_000_000).to_pylist()
        return Counter(tuple(row.values()) for row in rows)


def _standing(table: StreamTable, version: Version, sequence: Sequence, refresh: str) -> Standing:
    return Standing(
        version=version,
        sequence=sequence,
        refresh_id=RefreshId(refresh),
        frontier=Frontier({}),
        base_frontier=Frontier({}),
        query_hash=table.defining_query_hash,
        updated_at=datetime.now(UTC),
    )


def open_shelf(folder: Path, **settings: Any) -> Shelf:
    clock = Clock()
    db = StreamTables(folder / "warehouse", clock=clock, settings=settings_with(**settings))
    orders = DeltaTableFile(folder / "orders", COLUMNS)
    db.add_source("orders", path=orders.path, key=["id"])
    db.create("t", KEYED)
    db.create("bag", BAG)
    return Shelf(db, clock)


def applied(copy: Rows, changes: Changes) -> Rows:
    """Return a copy with changes applied; a copy in which a row goes that is not there is wrong."""
    found: Rows = Counter() if changes.reset else Counter(copy)
    for batch in changes.batches:
        for row in batch.to_pylist():
            weight = row.pop("__st_weight")
            found[tuple(row.values())] += weight
    assert all(count >= 0 for count in found.values())
    return Counter({row: count for row, count in found.items() if count})
