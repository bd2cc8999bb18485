"""A catalog with many tables, written at once; no table is on disk."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import insert

from streamtables.api import StreamTables
from streamtables.catalog.models import Column, Input, RefreshRecord, Source, StreamTable, new_id
from streamtables.catalog.schema import dependencies, refreshes, sources, standings, stream_tables
from streamtables.positions import Frontier, InputId
from tests.support.web_warehouse import record

LEVELS = 4


@dataclass(frozen=True)
class Size:
    """How much there is of everything."""

    tables: int = 1_000
    sources: int = 100
    namespaces: int = 20
    refreshes: int = 1


def fill_catalog(db: StreamTables, size: Size | None = None) -> None:
    """Put definitions in four levels, their standings and their refreshes into a catalog."""
    size = size or Size()
    now = datetime.now(UTC)
    roots = [_source(db, number, now) for number in range(size.sources)]
    tables: list[StreamTable] = []
    for number in range(size.tables):
        level = number * LEVELS // size.tables
        below = [table.id for table in tables if _level(table, size) == level - 1]
        found = below if level else [source.id for source in roots]
        tables.append(_table(db, number, size, found, now))
    records = [
        record(
            table, Frontier.EMPTY, started_at=now - timedelta(seconds=number % 3000 + 60 * again)
        )
        for number, table in enumerate(tables)
        for again in range(size.refreshes)
    ]
    with db._catalog._changing() as (connection, _):
        connection.execute(insert(sources), [_row(source) for source in roots])
        connection.execute(insert(stream_tables), [_row(table) for table in tables])
        connection.execute(insert(dependencies), [e for table in tables for e in _edges(table)])
        connection.execute(insert(standings), [_standing(table, now) for table in tables])
        connection.execute(insert(refreshes), [_row(item) for item in records])


def _level(table: StreamTable, size: Size) -> int:
    return int(table.name[-4:]) * LEVELS // size.tables


def _source(db: StreamTables, number: int, now: datetime) -> Source:
    columns = (Column("id", "bigint"),)
    place = f"{db.warehouse}/none/{number}"
    return Source(new_id(), f"raw_{number:03d}", place, columns, f"delta-{number}", now, ("id",))


def _table(
    db: StreamTables, number: int, size: Size, below: list[InputId], now: datetime
) -> StreamTable:
    reads = {below[(number * 7 + part * 3) % len(below)] for part in range(1 + number % 3)}
    kind: Any = "stream-table" if number * LEVELS // size.tables else "source"
    name = f"team_{number % size.namespaces:02d}.table_{number:04d}"
    return StreamTable(
        id=new_id(),
        name=name,
        query=f"SELECT id FROM x -- {name}",
        defining_query_hash=f"hash-{number}",
        location=f"{db.warehouse}/tables/{name}",
        columns=(Column("id", "bigint"),),
        created_at=now,
        altered_at=now,
        schedule="1 minute",
        inputs=tuple(Input(key, kind, ("id",)) for key in sorted(reads)),
    )


def _row(entry: Source | StreamTable | RefreshRecord) -> dict[str, Any]:
    names = (field.name for field in fields(entry) if field.name != "inputs")
    found = {name: getattr(entry, name) for name in names}
    return found if isinstance(entry, RefreshRecord) else found | {"name_key": entry.name.lower()}


def _edges(table: StreamTable) -> list[dict[str, Any]]:
    return [
        {
            "stream_table_id": table.id,
            "input_id": item.id,
            "input_kind": item.kind,
            "columns_read": item.columns,
        }
        for item in table.inputs
    ]


def _standing(table: StreamTable, now: datetime) -> dict[str, Any]:
    return {
        "stream_table_id": table.id,
        "delta_version": 0,
        "sequence": 1,
        "refresh_id": "none",
        "frontier": Frontier.EMPTY,
        "base_frontier": Frontier.EMPTY,
        "query_hash": table.defining_query_hash,
        "updated_at": now,
    }
