"""Catalog values with defaults, so that a test names only what it is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from streamtables.catalog import (
    Column,
    Input,
    RefreshRecord,
    Source,
    Standing,
    StreamTable,
    new_id,
    new_refresh_id,
)
from streamtables.catalog.models import Function, View
from streamtables.positions import Frontier, InputId, RefreshId, Sequence, Version

START = datetime(2030, 1, 1, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def source(name: str, **changes: Any) -> Source:
    values: dict[str, Any] = {
        "id": new_id(),
        "name": name,
        "location": f"/data/{name}",
        "columns": (Column("id", "bigint", nullable=False), Column("amount", "decimal(12,2)")),
        "delta_table_id": f"delta-{name}",
        "added_at": START,
        "key_columns": ("id",),
    }
    return Source(**{**values, **changes})


def stream_table(name: str, **changes: Any) -> StreamTable:
    values: dict[str, Any] = {
        "id": new_id(),
        "name": name,
        "query": f"SELECT * FROM orders -- {name}",
        "defining_query_hash": f"hash-{name}",
        "location": f"/warehouse/{name}",
        "columns": (Column("id", "bigint"),),
        "created_at": START,
        "altered_at": START,
    }
    return StreamTable(**{**values, **changes})


def view(name: str, **changes: Any) -> View:
    values: dict[str, Any] = {
        "id": new_id(),
        "name": name,
        "query": f"SELECT * FROM orders -- {name}",
        "created_at": START,
        "altered_at": START,
    }
    return View(**{**values, **changes})


def function(name: str, **changes: Any) -> Function:
    values: dict[str, Any] = {
        "id": new_id(),
        "name": name,
        "language": "sql",
        "returns": "int",
        "created_at": START,
        "altered_at": START,
        "parameters": (Column("x", "int"),),
        "body": "x + 1",
    }
    return Function(**{**values, **changes})


def reads(*entries: Source | StreamTable) -> tuple[Input, ...]:
    return tuple(
        Input(entry.id, "source" if isinstance(entry, Source) else "stream-table", ("id",))
        for entry in entries
    )


def standing(sequence: int, versions: dict[str, int], **changes: Any) -> Standing:
    frontier = Frontier.from_dict(versions)
    values: dict[str, Any] = {
        "version": Version(sequence - 1),
        "sequence": Sequence(sequence),
        "refresh_id": RefreshId(f"refresh-{sequence}"),
        "frontier": frontier,
        "base_frontier": frontier,
        "query_hash": "hash",
        "updated_at": START,
    }
    return Standing(**{**values, **changes})


def record(table_id: InputId, **changes: Any) -> RefreshRecord:
    values: dict[str, Any] = {
        "id": new_refresh_id(),
        "stream_table_id": table_id,
        "sequence": Sequence(1),
        "process": "host:1",
        "started_at": START,
    }
    return RefreshRecord(**{**values, **changes})
