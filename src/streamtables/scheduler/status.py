"""Where every stream table stands, for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import RefreshRecord, StreamTable
from streamtables.catalog.scheduler_models import Event
from streamtables.errors import StreamTablesError
from streamtables.positions import InputId, Version
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.book import Book
from streamtables.scheduler.holds import STOPPED
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
    last_reason: str | None
    last_refreshed_at: datetime | None
    seconds: float | None
    changes_pending: bool
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
    versions: dict[InputId, Version | None] = {}
    return [
        _status(
            table, book, last.get(table.id), held, _is_behind(table, snapshot, around, versions)
        )
        for table in tables
    ]


def _status(
    table: StreamTable,
    book: Book,
    last: RefreshRecord | None,
    held: Mapping[str, Event],
    behind: bool,
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
        last_reason=last.reason_text if last else None,
        last_refreshed_at=last.finished_at if last else None,
        seconds=last.seconds if last else None,
        changes_pending=behind,
        next_due_at=entry.due_at(entry.last_started or table.created_at)
        if entry.runs_by_itself and not entry.follows_changes
        else None,
        waits_for=waits,
        reason=table.state_reason or None,
    )


def _is_behind(
    table: StreamTable,
    snapshot: CatalogSnapshot,
    around: Surroundings,
    versions: dict[InputId, Version | None],
) -> bool:
    standing = snapshot.standings.get(table.id)
    if standing is None or snapshot.needs_fill(table.id):
        return True
    for root in snapshot.definitions.roots(table.id):
        consumed = standing.base_frontier.get(root)
        if root not in versions:
            versions[root] = _version(root, consumed, snapshot, around)
        found = versions[root]
        if found is None or consumed is None or found > consumed:
            return True
    return False


def _version(
    root: InputId, consumed: Version | None, snapshot: CatalogSnapshot, around: Surroundings
) -> Version | None:
    try:
        return around.watch.look(snapshot.sources[root], consumed).version
    except StreamTablesError:
        # A source that cannot be read is shown by the refresh that fails on it.
        return None
