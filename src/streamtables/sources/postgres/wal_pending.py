"""How many changes wait in the log of a server for a drain."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from psycopg import Connection, errors

from streamtables.sources.postgres.snapshot import Snapshot, widen

MOST = 20_000
"""The transaction in which the count passes this is the last that is counted."""

# Of the messages of pgoutput these change rows: D, I, T and U.  A B tells, after the place of the
# commit, its time in microseconds since 2000.
_BY_TRANSACTION = """
SELECT xid::text::int8, count(*) FILTER (WHERE get_byte(data, 0) IN (68, 73, 84, 85)),
       max(('x' || encode(substr(data, 10, 8), 'hex'))::bit(64)::int8)
           FILTER (WHERE get_byte(data, 0) = 66)
FROM pg_catalog.pg_logical_slot_peek_binary_changes(
    %(slot)s::name, NULL, %(most)s::int4, 'proto_version', '1', 'publication_names',
    quote_ident(%(slot)s::name))
GROUP BY xid
"""
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class InLog:
    """The changes of a slot's tables that no drain has brought yet."""

    records: int
    oldest_at: datetime | None
    """When the first of them was committed."""


def pending_in_log(connection: Connection[Any], slot: str, since: str) -> InLog | None:
    """Return what is committed in the log and not in a snapshot.

    It is decoded for that, once, and the slot stays where it is.  Only one at a time can read a
    slot, so nobody may be draining.  None where the slot cannot be read.
    """
    try:
        found = connection.execute(_BY_TRANSACTION, {"slot": slot, "most": MOST}).fetchall()
    except (
        errors.InsufficientPrivilege,
        errors.ObjectInUse,
        errors.ObjectNotInPrerequisiteState,
        errors.UndefinedObject,
    ):
        return None
    drained = Snapshot.parse(since)
    xids = widen(np.array([xid for xid, _, _ in found], np.int64), drained.xmax)
    new = [row for row, seen in zip(found, drained.sees(xids), strict=True) if row[1] and not seen]
    oldest = min((at for _, _, at in new), default=None)
    return InLog(
        sum(count for _, count, _ in new),
        None if oldest is None else _EPOCH + timedelta(microseconds=oldest),
    )
