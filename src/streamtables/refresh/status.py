"""Where every stream table stands, for people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import StreamTable
from streamtables.engine.describe import describe
from streamtables.errors import StreamTablesError
from streamtables.refresh.surroundings import Surroundings


@dataclass(frozen=True)
class TableStatus:
    """One stream table at a glance."""

    name: str
    state: str
    mode: str
    schedule: str
    rows: int | None
    version: int | None
    last_mode: str | None
    last_reason: str | None
    last_refreshed_at: datetime | None
    seconds: float | None
    changes_pending: bool
    reason: str | None


def status_of(table: StreamTable, snapshot: CatalogSnapshot, around: Surroundings) -> TableStatus:
    """Return the status of one table; looking moves nothing."""
    standing = snapshot.standings.get(table.id)
    last = next(iter(around.catalog.history(table.id, 1)), None)
    return TableStatus(
        name=table.name,
        state=table.state,
        mode=table.mode,
        schedule=table.schedule,
        rows=_stored_rows(table) if standing else None,
        version=int(standing.version) if standing else None,
        last_mode=last.mode if last else None,
        last_reason=last.reason_text if last else None,
        last_refreshed_at=last.finished_at if last else None,
        seconds=last.seconds if last else None,
        changes_pending=_is_behind(table, snapshot, around),
        reason=table.state_reason or None,
    )


def _is_behind(table: StreamTable, snapshot: CatalogSnapshot, around: Surroundings) -> bool:
    standing = snapshot.standings.get(table.id)
    if standing is None or snapshot.needs_fill(table.id):
        return True
    for root in snapshot.definitions.roots(table.id):
        consumed = standing.base_frontier.get(root)
        try:
            position = around.watch.look(snapshot.sources[root], consumed)
        except StreamTablesError:
            # A source that cannot be read is shown by the refresh that fails on it.
            return True
        if consumed is None or position.version > consumed:
            return True
    return False


def _stored_rows(table: StreamTable) -> int | None:
    """Return how many rows a table holds, as its log tells; no row is read."""
    try:
        return describe(table.location).rows
    except StreamTablesError:
        # A table that cannot be opened is shown by its next refresh.
        return None
