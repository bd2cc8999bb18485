"""How each captured table stands: which way, why not another one, how far behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection

from streamtables.catalog.models import Capture, CaptureEvent
from streamtables.catalog.store import Catalog
from streamtables.errors import StreamTablesError
from streamtables.observe.lag_window import RECENT, Percentiles, percentiles
from streamtables.positions import Drain
from streamtables.sources.postgres import triggers
from streamtables.sources.postgres.buffer_waiting import Waiting, waiting
from streamtables.sources.postgres.facts import PgTable, describe_table
from streamtables.sources.postgres.moves import Ways
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.slot import what_broke
from streamtables.sources.postgres.turns import alone_if_free
from streamtables.sources.postgres.wal_pending import InLog, pending_in_log


@dataclass(frozen=True)
class CaptureStatus:
    """Where the capture of one source stands."""

    source: str
    table: str
    server: str
    wish: str
    mode: str
    moving_to: str | None
    blocked: tuple[str, ...]
    """Every reason why the WAL is not read."""
    note: str
    slot: str | None
    publication: str | None
    lag_bytes: int | None
    """How much of the server's log is not yet confirmed; None by triggers."""
    lag_seconds: float | None
    """For how long the oldest change that waits has been there; 0 when none does, None unknown.

    By WAL it is the oldest of all tables of its slot.
    """
    true_lag: Percentiles | None
    """From the commit at the source to the mirror, over the last 15 minutes.

    By triggers, from the start of the transaction where the server keeps no commit times.
    """
    pending_changes: int | None
    """Rows that wait in the change buffer; None by WAL."""
    pending_estimated: bool
    """Whether more than 100,000 wait: `pending_changes` is then an estimate."""
    wal_decoder_pending_records: int | None
    """Changes of all its slot's tables that are committed in the log and not drained.

    Counted by decoding them, up to the transaction that makes them 20,000; None by triggers, and
    while somebody drains.
    """
    drained_at: datetime | None
    error: str | None
    history: tuple[CaptureEvent, ...]


def capture_status(catalog: Catalog, now: datetime) -> list[CaptureStatus]:
    """Return how all captured tables stand; a server that does not answer is part of the answer."""
    captures = sorted(catalog.captures().values(), key=lambda c: c.table_name)
    found: list[CaptureStatus] = []
    for address in dict.fromkeys(capture.server for capture in captures):
        here = [capture for capture in captures if capture.server == address]
        found += _of_server(catalog, Server(address), here, now)
    return sorted(found, key=lambda status: status.source)


def _of_server(
    catalog: Catalog, server: Server, captures: Sequence[Capture], now: datetime
) -> Iterable[CaptureStatus]:
    try:
        with server.connected("status") as connection:
            tags = [c.tag for c in captures if "triggers" in (c.mode, c.moving_to)]
            database = captures[0].database
            last = catalog.last_drain(database)
            ways = Ways.of(connection, catalog.capture_tag(database))
            found = _Found(
                ways,
                waiting(connection, tags, last.position.snapshot if last else None),
                _in_log(connection, last, ways),
                last,
            )
            return [_asked(catalog, connection, c, found, now) for c in captures]
    except StreamTablesError as error:
        return [_known(catalog, capture, now, error=error.message) for capture in captures]


@dataclass(frozen=True)
class _Found:
    """What a server says of all its captured tables."""

    ways: Ways
    in_buffers: Mapping[str, Waiting]
    in_log: InLog | None
    last: Drain | None


def _in_log(connection: Connection[Any], last: Drain | None, ways: Ways) -> InLog | None:
    if last is None or not ways.slot.exists:
        return None
    with alone_if_free(connection, last.database) as free:
        return pending_in_log(connection, ways.name, last.position.snapshot) if free else None


def _asked(
    catalog: Catalog, connection: Connection[Any], capture: Capture, found: _Found, now: datetime
) -> CaptureStatus:
    ways = found.ways
    table = describe_table(connection, capture.relation)
    blocked = () if table is None else ways.blocks(connection, table)
    by_wal = "wal" in (capture.mode, capture.moving_to)
    return _known(
        catalog,
        capture,
        now,
        blocked=blocked,
        slot=ways.name if by_wal else None,
        lag_bytes=ways.slot.lag_bytes if by_wal and ways.slot.exists else None,
        lag_seconds=_lag_seconds(connection, capture, table, found, now),
        pending=found.in_buffers.get(capture.tag),
        in_log=found.in_log if by_wal else None,
    )


def _lag_seconds(
    connection: Connection[Any],
    capture: Capture,
    table: PgTable | None,
    found: _Found,
    now: datetime,
) -> float | None:
    """Return the age of the oldest change that waits; None where not all changes can be seen."""
    last = found.last
    if table is None or last is None or capture.copy_reason:
        return None
    waits: InLog | Waiting | None
    if capture.mode == "wal":
        waits, blind = found.in_log, bool(what_broke(found.ways.slot, last.position.lsn))
    else:
        waits = found.in_buffers.get(capture.tag)
        blind = triggers.misses(connection, capture.tag, table)
    if waits is None or blind:
        return None
    # The clock of the server may be ahead of ours.
    return max(0.0, (now - waits.oldest_at).total_seconds()) if waits.oldest_at else 0.0


def _known(
    catalog: Catalog,
    capture: Capture,
    now: datetime,
    *,
    blocked: tuple[str, ...] = (),
    slot: str | None = None,
    lag_bytes: int | None = None,
    lag_seconds: float | None = None,
    pending: Waiting | None = None,
    in_log: InLog | None = None,
    error: str | None = None,
) -> CaptureStatus:
    drain = catalog.last_drain(capture.database)
    return CaptureStatus(
        source=catalog.source(capture.source_id).name,
        table=capture.table_name,
        server=Server(capture.server).shown,
        wish=capture.wish,
        mode=capture.mode,
        moving_to=capture.moving_to,
        blocked=blocked,
        note=capture.copy_reason or capture.note,
        slot=slot,
        publication=slot,
        lag_bytes=lag_bytes,
        true_lag=_percentiles(catalog, capture, now),
        lag_seconds=lag_seconds,
        pending_changes=pending.rows if pending else None,
        pending_estimated=pending is not None and pending.estimated,
        wal_decoder_pending_records=in_log.records if in_log else None,
        drained_at=drain.at if drain else None,
        error=error or capture.copy_reason or None,
        history=tuple(catalog.capture_events(capture.source_id)),
    )


def _percentiles(catalog: Catalog, capture: Capture, now: datetime) -> Percentiles | None:
    recent = catalog.recent_drains(capture.database, now - RECENT)
    key = capture.source_id
    return percentiles([drain.lags[key] for drain in recent if key in drain.lags])
