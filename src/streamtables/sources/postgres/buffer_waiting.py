"""What waits in change buffers, at a cost that does not grow with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection, sql

from streamtables.sources.postgres.buffer import rows_after
from streamtables.sources.postgres.buffer_columns import buffer_name
from streamtables.sources.postgres.commit_times import written_at

MOST = 100_000
"""So many rows of a buffer are counted one by one; of more, the server's own count is taken."""

# The server counts what is written and removed, about a second late, and anew after a crash.
_WAITING = """
SELECT {tag}, count(*), min(w.at), CASE WHEN count(*) > {most} THEN
    GREATEST(pg_catalog.pg_stat_get_live_tuples({name}::regclass), count(*)) END
FROM (SELECT {at} AS at FROM {buffer} WHERE {after} LIMIT {most} + 1) AS w
"""


@dataclass(frozen=True)
class Waiting:
    """The rows of one buffer that no drain has brought yet."""

    rows: int
    oldest_at: datetime | None
    """When the first of those that were counted was committed, or its transaction began."""
    estimated: bool = False
    """Whether there are more than are counted, and `rows` is the count of the server."""


def waiting(
    connection: Connection[Any], tags: Sequence[str], since: str | None, most: int = MOST
) -> dict[str, Waiting]:
    """Return what each buffer holds that a snapshot does not see, in one statement for all."""
    if not tags:
        return {}
    at = written_at(connection)
    selects = (
        sql.SQL(_WAITING).format(
            tag=sql.Literal(tag),
            most=sql.Literal(most),
            name=sql.Literal(buffer_name(tag).as_string(None)),
            at=at,
            buffer=buffer_name(tag),
            after=rows_after(since),
        )
        for tag in tags
    )
    found = connection.execute(sql.SQL(" UNION ALL ").join(selects)).fetchall()
    return {
        tag: Waiting(more or rows, oldest, more is not None) for tag, rows, oldest, more in found
    }
