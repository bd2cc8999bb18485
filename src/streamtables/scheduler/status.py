"""Where every stream table stands, for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import RefreshRecord, StreamTable
from streamtables.catalog.scheduler_models import Event
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.book import Book
from streamtables.scheduler.holds import STOPPED
from streamtables.scheduler.lags import LagReader, TableLag
from streamtables.scheduler.stored_rows import STORED_ROWS


@dataclass(frozen=True)
class TableStatus:
    """One stream table at a glance."""

    name: str
    state: str
    mode: str
    schedule: str
    tier: str
    rows: int | None
    version: int | None
    last_mode: str | None
    last_outcome: str | None
    """How the last refresh ended: applied, no-change, failed, deferred, …"""
    last_reason: str | None
    last_refreshed_at: datetime | None
    seconds: float | None
    changes_pending: bool
    lag_seconds: float | None
    """For how long the oldest change that it lacks has been in its source's log; 0 with none.

    None before the first fill, and where the log no longer tells.
    """
    next_due_at: datetime | None
    """When its schedule wants it next; None for one that never starts by itself."""
    waits_for: str | None
    """What held it back when it was last due."""
    reason: str | None


def statuses(
    tables: Iterable[StreamTable], snapshot: CatalogSnapshot, around: Surroundings
) -> list[TableStatus]:
    """Return the status of some tables; looking moves nothing."""
    catalog, now = around.catalog, around.clock()
    book = Book.of(snapshot, catalog.rules(), now)
    last, held = catalog.last_refreshes(), catalog.last_events(("held", "released"))
    lags = LagReader(snapshot, around, last)
    return [_status(table, book, last.get(table.id), held, lags.of(table)) for table in tables]


def _status(
    table: StreamTable,
    book: Book,
    last: RefreshRecord | None,
    held: Mapping[str, Event],
    lag: TableLag,
) -> TableStatus:
    standing = book.standings.get(table.id)
    hold = held.get(table.id)
    waits = hold.text if hold and hold.kind == "held" and table.state not in STOPPED else None
    entry = book.entries[table.id]
    return TableStatus(
        name=table.name,
        state=table.state,
        mode=table.mode,
        schedule=table.schedule,
        tier=table.tier,
        rows=STORED_ROWS.of(table.location) if standing else None,
        version=int(standing.version) if standing else None,
        last_mode=last.mode if last else None,
        last_outcome=last.outcome if last else None,
        last_reason=last.reason_text if last else None,
        last_refreshed_at=last.finished_at if last else None,
        seconds=last.seconds if last else None,
        changes_pending=lag.standing != "current",
        lag_seconds=lag.lag_seconds,
        next_due_at=entry.due_at(entry.last_started or table.created_at)
        if entry.runs_by_itself and not entry.follows_changes
        else None,
        waits_for=waits,
        reason=table.state_reason or None,
    )
