"""Whether a server is still the one that was drained, further on in the same history.

A server that was put back to an earlier time gives numbers of transactions, and places in its log,
a second time: what a position sees there need not be what it saw before.  So nothing that was
captured leads on, and the tables are copied.

    another server or database     the identifier of the cluster, or the oid of the database
    another line of history        recovery to a moment, and a standby that took over, begin one
    numbers or places went back    a folder that was put back as files stays on its line

A folder that was put back as files and has since written more than was ever drained is not told
from one that went on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from streamtables.positions import Drain, PgPosition
from streamtables.sources.postgres.snapshot import Snapshot, lsn_number
from streamtables.sources.postgres.wal import HERE, position_of


@dataclass(frozen=True)
class Here:
    """Where a server stands, and on which line: `cluster/database timeline`."""

    position: PgPosition
    line: str


def here(connection: Connection[Any]) -> Here:
    """Ask a server."""
    row = connection.execute(HERE).fetchone()
    assert row is not None
    return Here(PgPosition(*position_of(*row)), row[4])


def what_went_back(now: Here, last: Drain, line: str) -> str:
    """Return why what was drained is not in the history of a server; empty when it is."""
    database, timeline = now.line.split(" ")
    known = line.split(" ") if line else [last.database, timeline]
    if database != known[0]:
        return "another PostgreSQL server or database answers at the address"
    if timeline != known[1]:
        return (
            f"the PostgreSQL server is on timeline {int(timeline, 16)}, and was on "
            f"{int(known[1], 16)}: it was restored, or a standby took over"
        )
    if lsn_number(now.position.lsn) < lsn_number(last.position.lsn):
        return (
            f"the log of the PostgreSQL server ends at {now.position.lsn}, before "
            f"{last.position.lsn}, which was drained: it was restored from an older copy"
        )
    if Snapshot.parse(now.position.snapshot).xmax < Snapshot.parse(last.position.snapshot).xmax:
        return "the PostgreSQL server counts transactions anew: it was restored from an older copy"
    return ""
