"""How many changes wait in the log of a server for a drain."""

from __future__ import annotations

from typing import Any

import numpy as np
from psycopg import Connection, errors

from streamtables.sources.postgres.snapshot import Snapshot, widen

MOST = 20_000
"""The transaction in which the count passes this is the last that is counted."""

# Of the messages of pgoutput these change rows: D, I, T and U.
_BY_TRANSACTION = """
SELECT xid::text::int8, count(*) FROM pg_catalog.pg_logical_slot_peek_binary_changes(
    %(slot)s::name, NULL, %(most)s::int4, 'proto_version', '1', 'publication_names',
    quote_ident(%(slot)s::name))
WHERE get_byte(data, 0) IN (68, 73, 84, 85) GROUP BY xid
"""


def pending_in_log(connection: Connection[Any], slot: str, since: str) -> int | None:
    """Return how many changes are committed in the log and not in a snapshot.

    They are decoded for it, once, and the slot stays where it is.  Only one at a time can read a
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
    xids = widen(np.array([xid for xid, _ in found], np.int64), drained.xmax)
    counts = np.array([count for _, count in found], np.int64)
    return int(counts[~drained.sees(xids)].sum())
