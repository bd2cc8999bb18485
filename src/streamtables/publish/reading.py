"""Reading what a subscriber lacks, as one answer of bounded batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from streamtables.catalog.database import FOLDER_NAME
from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import StreamTable
from streamtables.catalog.publication_models import Publication, Subscriber
from streamtables.engine.change_batches import (
    Sight,
    altered_columns,
    changes_in,
    rows_in,
    sight,
)
from streamtables.engine.delta_log import DeltaLog
from streamtables.errors import HistoryGoneError, PositionRefusedError
from streamtables.positions import Version
from streamtables.publish.windows import ALTERED, GONE, Window, last_version, reset_reason
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.verify import stored_standing

DEFAULT_LIMIT = 10_000


@dataclass(frozen=True)
class Published:
    """A published table as it stands: its last version, and what readers see of it."""

    publication: Publication
    table: StreamTable
    current: Version
    sight: Sight


@dataclass(frozen=True)
class Changes:
    """What a subscriber lacks, up to a version.

    `batches` hold the visible columns and `__st_weight`: how many such rows came, or, below zero,
    went.  With a `reset`, the batches are all rows of the table, and what the subscriber held
    before counts no longer.  They can be read once.
    """

    publication: str
    table: str
    incarnation: str
    after: int | None
    upto: int
    current: int
    reset: str
    key_columns: tuple[str, ...] | None
    key: str
    """The name of this window of changes: the same whenever it is given again."""
    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to apply."""
        return not self.reset and self.after == self.upto


def published(
    publication: Publication, snapshot: CatalogSnapshot, around: Surroundings
) -> Published:
    """Return the table of a publication as its last refresh left it.

    Raises:
        NotFoundError: there is no table of this name now.
        NotFilledError: it has no rows yet.
    """
    table = snapshot.definitions.stream_table(publication.table_name)
    standing = stored_standing(table, snapshot, around)
    return Published(publication, table, standing.version, sight(table.location, standing.version))


def window_of(found: Published, subscriber: Subscriber, limit: int) -> Window:
    """Choose the versions that a subscriber is given next."""
    whole = Window(found.sight.incarnation, None, found.current, found.current)
    reason = reset_reason(subscriber, found.sight.incarnation, found.current)
    if reason:
        return replace(whole, reset=reason)
    assert subscriber.version is not None
    after, location = subscriber.version, found.table.location
    try:
        entries = DeltaLog(location).entries(after, found.current)
        # What was offered once is offered with the same bounds until it is confirmed.
        offered = subscriber.offered
        if offered is not None and after < offered <= found.current:
            upto = offered
        else:
            upto = last_version(after, found.current, (e.changed_rows for e in entries), limit)
        if altered_columns(location, after, upto):
            return replace(whole, reset=ALTERED)
    except HistoryGoneError:
        return replace(whole, reset=GONE)
    return Window(found.sight.incarnation, after, upto, found.current)


def changes_of(found: Published, window: Window, around: Surroundings) -> Changes:
    """Open the changes of a window."""
    location = found.table.location
    batches: Iterator[pa.RecordBatch] = iter(())
    if window.reset:
        batches = rows_in(location, window.upto)
    elif not window.is_empty:
        assert window.after is not None
        batches = changes_in(
            location,
            window.after,
            window.upto,
            around.sessions,
            rows_max=around.settings.driver_rows_max,
            spool=around.warehouse.inside(FOLDER_NAME, "published"),
        )
    seen = found.sight if window.upto == found.current else sight(location, window.upto)
    return Changes(
        publication=found.publication.name,
        table=found.table.name,
        incarnation=window.incarnation,
        after=None if window.reset or window.after is None else int(window.after),
        upto=int(window.upto),
        current=int(window.current),
        reset=window.reset,
        key_columns=_visible_key(found.table, seen),
        key=window.key(found.publication.id),
        schema=seen.weighted,
        batches=batches,
    )


def _visible_key(table: StreamTable, seen: Sight) -> tuple[str, ...] | None:
    """Return the key, where a reader can see all of it."""
    key = table.key_columns
    return key if key is not None and set(key) <= set(seen.schema.names) else None


def resumed_at(subscriber: Subscriber, after: int, found: Published) -> Subscriber:
    """Return a subscriber as if it stood at a version, for one answer."""
    if not 0 <= after <= found.current:
        raise PositionRefusedError(
            f'version {after} is not one of "{found.publication.name}"',
            detail=f"Its versions go from 0 to {int(found.current)}.",
            hint="Leave the version out to go on after the one that was acknowledged.",
        )
    if subscriber.version is not None and after < subscriber.version:
        raise PositionRefusedError(
            f"version {after} lies before {int(subscriber.version)}, which was acknowledged",
            hint="What was acknowledged is not kept; subscribe anew from the start.",
        )
    if reason := reset_reason(subscriber, found.sight.incarnation, found.current):
        raise PositionRefusedError(
            f'subscriber "{subscriber.name}" has to start from a snapshot',
            detail=f"Reason: {reason}.",
            hint="Ask without a version, apply the snapshot, and acknowledge it.",
        )
    return replace(subscriber, version=Version(after), offered=None)
