"""When a captured change was committed, as well as the server can say it.

A trigger runs before its transaction commits, so a buffer row has the time at which the transaction
began.  A server with `track_commit_timestamp` knows the time of each commit, and is asked for it.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection, sql

# Of a transaction from before the server kept times, or long ago, it has none.
_KNOWN = "coalesce(pg_catalog.pg_xact_commit_timestamp(__st_xid::xid), __st_at)"


def written_at(connection: Connection[Any]) -> sql.SQL:
    """Return the expression for the time of a row in a buffer.

    The function that has commit times fails where the server keeps none, so that is asked first.
    """
    row = connection.execute(
        "SELECT pg_catalog.current_setting('track_commit_timestamp')"
    ).fetchone()
    return sql.SQL(_KNOWN if row == ("on",) else "__st_at")
