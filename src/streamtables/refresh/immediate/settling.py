"""Bringing tables forward that lack a write: of somebody else, or of a writer that died."""

from __future__ import annotations

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import StreamTable
from streamtables.engine.delta_log import DeltaLog
from streamtables.errors import HistoryGoneError
from streamtables.positions import InputId, Version
from streamtables.refresh.results import Refresh
from streamtables.refresh.round import Round, with_ancestors
from streamtables.refresh.surroundings import Surroundings


def settle(
    around: Surroundings, snapshot: CatalogSnapshot, tables: tuple[StreamTable, ...]
) -> list[Refresh]:
    """Bring tables forward by ordinary refreshes; an error is raised."""
    results = Round(around, snapshot, with_ancestors(snapshot, tables)).run()
    for result in results:
        if result.error is not None:
            raise result.error
    return results


def settled(
    around: Surroundings, snapshot: CatalogSnapshot, tables: tuple[StreamTable, ...]
) -> CatalogSnapshot:
    """Refresh tables that are behind; one look at each log where none is."""
    if not any(_is_behind(table, snapshot) for table in with_ancestors(snapshot, tables)):
        return snapshot
    settle(around, snapshot, tables)
    return around.catalog.snapshot()


def _is_behind(table: StreamTable, snapshot: CatalogSnapshot) -> bool:
    standing = snapshot.standings.get(table.id)
    if table.state != "active" or standing is None:
        return True
    if standing.query_hash != table.defining_query_hash:
        return True
    return any(
        _moved_past(item.id, standing.frontier[item.id], snapshot)
        if item.id in standing.frontier
        else True
        for item in table.inputs
    )


def _moved_past(input_id: InputId, seen: Version, snapshot: CatalogSnapshot) -> bool:
    """Whether an input has rows that a reader at a version has not seen."""
    if (upstream := snapshot.standings.get(input_id)) is not None:
        return upstream.version != seen
    source = snapshot.sources.get(input_id)
    if source is None:
        return True
    log = DeltaLog(source.location)
    head = log.head(seen)
    if head == seen:
        return False
    try:
        return head is None or any(entry.changes_rows for entry in log.entries(seen, head))
    except HistoryGoneError:
        return True
