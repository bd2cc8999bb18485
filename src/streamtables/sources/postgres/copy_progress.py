"""How far the first copy of a table is, while Spark makes it.

Neither the server nor every kind of Spark tells how many rows a running read has given.  What can
be seen everywhere are the files of parts that are copied: the rows in them are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event, Thread
from time import perf_counter
from typing import Any

from psycopg import Connection

from streamtables.engine.landed_rows import LandedRows
from streamtables.sources.postgres.copying import Copied
from streamtables.sources.postgres.facts import PgTable

LOOK_SECONDS = 0.5
_SHARE_BEFORE_THE_END = 0.99

# As the planner does: the density when the table was last analysed, over the pages of now.
_EXPECTED = """
SELECT CASE WHEN pg_catalog.bool_and(pages = 0 OR (reltuples >= 0 AND relpages > 0))
       THEN coalesce(sum(CASE WHEN pages > 0 THEN reltuples / relpages * pages END), 0)::int8 END
FROM (SELECT reltuples, nullif(relpages, 0) AS relpages,
             pg_catalog.pg_relation_size(oid) / current_setting('block_size')::int8 AS pages
      FROM pg_catalog.pg_class WHERE oid = ANY(%s)) AS measured
"""


@dataclass(frozen=True)
class CopyProgress:
    """How far a copy is."""

    table: str
    rows: int | None
    """Rows in parts that are copied; None where the storage does not let itself be seen."""
    expected: int | None
    """How many rows the server believes the table has; None for one that it never analysed."""
    seconds: float
    done: bool = False

    @property
    def share(self) -> float | None:
        """How much of the copy is made, from 0 to 1; None where that is not known.

        What is expected is an estimate, so only the end is the whole of it.
        """
        if self.done:
            return 1.0
        if self.rows is None or not self.expected:
            return None
        return min(self.rows / self.expected, _SHARE_BEFORE_THE_END)


Report = Callable[[CopyProgress], None]


def expected_rows(connection: Connection[Any], table: PgTable) -> int | None:
    """Return how many rows a table has by the server's statistics; None without any."""
    row = connection.execute(_EXPECTED, (table.relations,)).fetchone()
    return None if row is None or row[0] is None else int(row[0])


def in_sight(
    copy: Callable[[], Copied], report: Report, begin: CopyProgress, location: str
) -> Copied:
    """Make a copy and report how far it is: at its begin, on the way, and at its end.

    Reports come from a thread of their own; none comes after the end, and none of the end where
    the copy fails.
    """
    began, landed, ended = perf_counter(), LandedRows(location), Event()

    def look() -> None:
        report(begin)
        while not ended.wait(LOOK_SECONDS):
            report(replace(begin, rows=landed.count(), seconds=perf_counter() - began))

    looking = Thread(target=look, daemon=True)
    looking.start()
    try:
        done = copy()
    finally:
        ended.set()
        looking.join()
    seconds = perf_counter() - began
    report(replace(begin, rows=done.rows, seconds=seconds, done=True))
    return done
