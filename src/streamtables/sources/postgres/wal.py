"""One drain's reading of a slot: which changes it takes, which it holds back, how far it confirms.

The log has transactions in the order of their commits; a snapshot knows another order, the one in
which they became visible.  A drain takes the transactions that its snapshot sees and that the
mirror's last position did not see.  What is committed in the log but not yet visible is held back,
and the slot stays before it.

A transaction is sent again as long as the slot does not stand past the start of its commit record.
Invariant: a drain confirms up to where the first commit begins that it held back, and else to its
own place in the log, so that a quiet source keeps no log.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from psycopg import Connection
from psycopg.pq import TransactionStatus

from streamtables.errors import TransientError
from streamtables.sources.postgres.descriptions import Truncated
from streamtables.sources.postgres.pgoutput import (
    Decoded,
    Decoder,
    Flags,
    Places,
    RowChanges,
    Transactions,
    Tuples,
    Values,
)
from streamtables.sources.postgres.snapshot import (
    Position,
    Snapshot,
    end_of_log,
    lsn_number,
    lsn_text,
    widen,
)

_CURSOR = "streamtables_changes"
_POLL_SECONDS = 0.02

# The snapshot is taken before a statement runs, so what it sees is in the log before the place.
HERE = """
SELECT pg_catalog.pg_current_snapshot()::text AS snapshot,
       pg_catalog.pg_current_wal_insert_lsn()::text AS insert_at,
       current_setting('wal_block_size')::int8 AS block,
       (SELECT setting::int8 FROM pg_catalog.pg_settings
        WHERE name = 'wal_segment_size') AS segment,
       (SELECT system_identifier FROM pg_catalog.pg_control_system())::text || '/' ||
       (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())::text || ' ' ||
       left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8) AS line
"""
_CHANGES = """
SELECT data FROM pg_catalog.pg_logical_slot_peek_binary_changes(
    %s, %s::pg_lsn, NULL, 'proto_version', '1', 'publication_names', quote_ident(%s))
"""


@dataclass(frozen=True)
class DecodedFetch:
    """What a drain takes of one fetch; messages are numbered through the whole drain."""

    changes: tuple[RowChanges, ...]
    truncations: tuple[Truncated, ...]
    messages: int
    """How many messages have been read so far."""
    held_back: int | None
    """Where the first commit begins that is held back so far."""
    committed_us: Mapping[int, int]
    """By table, when the first of its changes in this fetch was committed."""


def position(connection: Connection[Any], *, patience: float = 10.0) -> Position:
    """Return where the database stands, when all that it sees can be read from the log.

    Raises:
        TransientError: the server does not write its log out.
    """
    here = current_position(connection)
    wait_until_flushed(connection, here.lsn, patience=patience)
    return here


def current_position(connection: Connection[Any]) -> Position:
    """Return where the database stands; in a transaction, what that transaction sees."""
    row = connection.execute(HERE).fetchone()
    assert row is not None
    return position_of(*row)


def position_of(
    snapshot: str, insert_at: str, block: int, segment: int, line: str = ""
) -> Position:
    """Return the position that a row of `HERE` tells; `line` is for `continuity`."""
    end = end_of_log(lsn_number(insert_at), block=block, segment=segment)
    return Position(snapshot, lsn_text(end))


def wait_until_flushed(connection: Connection[Any], lsn: str, *, patience: float = 10.0) -> None:
    """Return when the log is written out up to a place: decoding reads no further.

    Commits need not wait for it (`synchronous_commit = off`), and rows of an open transaction wait
    until somebody commits.  So we commit something ourselves, which writes out all before it.
    """
    give_up_at = time.monotonic() + patience
    if is_flushed(connection, lsn):
        return
    if connection.info.transaction_status == TransactionStatus.IDLE:
        with connection.transaction():
            connection.execute("SET LOCAL synchronous_commit TO local")
            connection.execute(
                "SELECT pg_catalog.pg_logical_emit_message(true, 'streamtables', '')"
            )
    while not is_flushed(connection, lsn):
        if time.monotonic() > give_up_at:
            raise TransientError(
                "the PostgreSQL server has not written out its log",
                detail=f"It is not yet on disk up to {lsn} after {patience:g} s.",
            )
        time.sleep(_POLL_SECONDS)


def read_changes(
    connection: Connection[Any],
    *,
    slot: str,
    publication: str,
    upto: Position,
    since: Mapping[int, str],
    fetch: int,
) -> Iterator[DecodedFetch]:
    """Give the changes up to a position, of each table those that `since` does not see.

    The slot is left as it is.  Of tables that `since` does not name nothing is given.  `fetch` is
    how many messages are in memory at a time.
    """
    reading = _Reading(Snapshot.parse(upto.snapshot), _snapshots(since))
    with connection.transaction(), connection.cursor(_CURSOR, binary=True) as cursor:
        cursor.execute(_CHANGES, (slot, upto.lsn, publication))
        while rows := cursor.fetchmany(fetch):
            yield reading.next([row[0] for row in rows])


def confirmable(upto: str, held_back: int | None) -> str:
    """Return how far the slot may be confirmed after a drain; never less than it was before."""
    if held_back is None:
        return upto
    return lsn_text(min(lsn_number(upto), held_back))


class _Reading:
    """The state between fetches: a transaction may go on in the next one."""

    def __init__(self, upto: Snapshot, since: Mapping[int, Snapshot]) -> None:
        self._upto = upto
        self._since = since
        self._decoder = Decoder()
        self._open_xid = 0
        self._open_time_us = 0
        self._messages = 0
        self._held_back: int | None = None

    def next(self, messages: list[bytes]) -> DecodedFetch:
        decoded = self._decoder.decode(messages)
        begun = decoded.transactions
        xids = widen(np.concatenate(([self._open_xid], begun.xids)), self._upto.xmax)
        visible = self._upto.sees(xids)
        self._note_held_back(begun, visible[1:])
        wanted = {oid: visible & ~since.sees(xids) for oid, since in self._since.items()}
        first = self._messages
        self._messages += len(messages)
        self._open_xid = int(xids[-1]) & 0xFFFFFFFF
        times = np.concatenate(([self._open_time_us], begun.commit_times_us))
        self._open_time_us = int(times[-1])
        changes = tuple(_taken_changes(decoded, wanted, first))
        return DecodedFetch(
            changes,
            tuple(_taken_truncations(decoded, wanted, first)),
            self._messages,
            self._held_back,
            {
                part.relation.oid: int(times[np.searchsorted(begun.messages, at - first)].min())
                for part in reversed(changes)
                if len(at := np.concatenate((part.old.messages, part.new.messages)))
            },
        )

    def _note_held_back(self, begun: Transactions, visible: Flags) -> None:
        later = begun.commit_lsns[~visible]
        if self._held_back is None and len(later):
            self._held_back = int(later[0])


def _taken_changes(
    decoded: Decoded, wanted: Mapping[int, Flags], first: int
) -> Iterator[RowChanges]:
    begins = decoded.transactions.messages
    for changes in decoded.changes:
        flags = wanted.get(changes.relation.oid)
        if flags is None:
            continue
        old = _taken(changes.old, flags, begins, first)
        new = _taken(changes.new, flags, begins, first)
        if len(old.messages) or len(new.messages):
            updated = changes.updated[_of_wanted(changes.updated, flags, begins)] + first
            yield replace(changes, old=old, new=new, updated=updated)


def _taken_truncations(
    decoded: Decoded, wanted: Mapping[int, Flags], first: int
) -> Iterator[Truncated]:
    begins = decoded.transactions.messages
    for cut in decoded.truncations:
        place = int(np.searchsorted(begins, cut.message))
        oids = tuple(oid for oid in cut.relations if oid in wanted and wanted[oid][place])
        if oids:
            yield Truncated(cut.message + first, oids)


def _taken(tuples: Tuples, flags: Flags, begins: Places, first: int) -> Tuples:
    taken = _of_wanted(tuples.messages, flags, begins)
    if taken.all():
        return Tuples(tuples.messages + first, tuples.columns)
    columns = (
        Values(column.data, column.starts[taken], column.lengths[taken], column.kinds[taken])
        for column in tuples.columns
    )
    return Tuples(tuples.messages[taken] + first, tuple(columns))


def _of_wanted(messages: Places, flags: Flags, begins: Places) -> Flags:
    """Whether each message belongs to a wanted transaction; `flags` has the one before first."""
    return np.asarray(flags[np.searchsorted(begins, messages)], np.bool_)


def _snapshots(since: Mapping[int, str]) -> dict[int, Snapshot]:
    # Tables of one database mostly have the same position.
    parsed = {text: Snapshot.parse(text) for text in set(since.values())}
    return {oid: parsed[text] for oid, text in since.items()}


def is_flushed(connection: Connection[Any], lsn: str) -> bool:
    """Whether the log is written out up to a place, so that a crash of the server keeps it."""
    row = connection.execute(
        "SELECT pg_catalog.pg_current_wal_flush_lsn() >= %s::pg_lsn", (lsn,)
    ).fetchone()
    return bool(row and row[0])
