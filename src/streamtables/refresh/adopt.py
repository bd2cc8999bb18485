"""Making the catalog agree with a table's own log before anything is computed.

A commit that is ahead of the catalog is adopted: its stamp says where it stands.  A commit that
changed rows and is not ours means that the stored rows are no longer those we wrote.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from streamtables.catalog.models import StreamTable
from streamtables.catalog.store import Catalog
from streamtables.engine.delta_log import LATE_SECONDS, DeltaLog
from streamtables.engine.log_facts import facts_of
from streamtables.engine.stores import local_path
from streamtables.errors import HistoryGoneError, TableDamagedError, TransientError
from streamtables.positions import (
    Adopt,
    Sequence,
    Standing,
    Tampered,
    Version,
    classify_log,
)

LATE = timedelta(seconds=LATE_SECONDS)


@dataclass(frozen=True)
class Reconciled:
    """Where a table stands, and the head of its log: later only by commits that changed no row."""

    standing: Standing
    head: Version


def reconciled(
    table: StreamTable, standing: Standing | None, catalog: Catalog, now: datetime
) -> Reconciled | None:
    """Return where a table stands by its own log, recording what the catalog had missed.

    Raises:
        TableDamagedError: somebody else changed rows, or the table is gone.
        TransientError: a store does not show what was written a moment ago.
    """
    log = DeltaLog(table.location)
    if standing is None:
        return _adopt_from_start(table, log, catalog, now)
    head = log.head(standing.version)
    if head == standing.version:
        return Reconciled(standing, head)
    if head is None or head < standing.version:
        if local_path(table.location) is None and now - standing.updated_at < LATE:
            raise _not_shown(table, standing)
        raise _damaged(table, catalog, "its Delta table is gone or was made again", now)
    try:
        entries = log.entries(standing.version, head)
    except HistoryGoneError as error:
        raise _damaged(table, catalog, "its log was cut short", now) from error
    found = classify_log(facts_of(entries), table.id, standing.sequence, standing.refresh_id)
    if isinstance(found, Tampered):
        text = f"version {found.version} was not written by a refresh"
        raise _damaged(table, catalog, text, now)
    if isinstance(found, Adopt):
        standing = _recorded(table, found, catalog, now)
    return Reconciled(standing, head)


def _adopt_from_start(
    table: StreamTable, log: DeltaLog, catalog: Catalog, now: datetime
) -> Reconciled | None:
    head = log.head()
    if head is None:
        return None
    try:
        entries = log.entries(Version(-1), head)
    except HistoryGoneError as error:
        raise _damaged(table, catalog, "its log was cut short", now) from error
    found = classify_log(facts_of(entries), table.id, Sequence(0), None)
    if isinstance(found, Adopt):
        return Reconciled(_recorded(table, found, catalog, now), head)
    text = "another table stands where its rows belong"
    raise _damaged(table, catalog, text, now)


def _recorded(table: StreamTable, found: Adopt, catalog: Catalog, now: datetime) -> Standing:
    standing = Standing.from_stamp(found.stamp, found.version, now)
    catalog.adopt_standing(table.id, standing)
    return standing


def _not_shown(table: StreamTable, standing: Standing) -> TransientError:
    return TransientError(
        f'version {standing.version} of stream table "{table.name}" is not shown yet',
        detail="It was written a moment ago, and the store does not show it.",
        hint="It is tried again by itself; the table is damaged if that stays so.",
    )


def _damaged(table: StreamTable, catalog: Catalog, reason: str, now: datetime) -> TableDamagedError:
    catalog.set_state(table.id, "damaged", reason, at=now)
    return TableDamagedError(
        f'stream table "{table.name}" is damaged',
        detail=f"The stored rows cannot be trusted: {reason}.",
        hint=f'Run repair("{table.name}") to rebuild it.',
    )
