"""Changes of a PostgreSQL log as typed columns, against what the server needs to give them out.

    python -m benchmarks.postgres_decode

A table of ten columns gets 210,000 changes: inserts, updates, deletes.  The server's own time is a
count over the same changes.  A second table passes a million changes in fetches, to see that memory
does not grow with them.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import Any

from psycopg import Connection

from benchmarks.machine import machine
from benchmarks.options import positive
from streamtables.demo.postgres_server import running_server
from streamtables.sources.postgres import publication, slot
from streamtables.sources.postgres.facts import describe_table, find_table
from streamtables.sources.postgres.row_events import Events, MirrorShape, typed_events
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.snapshot import Position
from streamtables.sources.postgres.spool import Spool
from streamtables.sources.postgres.types import map_columns
from streamtables.sources.postgres.wal import position, read_changes
from streamtables.sources.postgres.wal_drain import Followed, drain

CHANGES = 210_000
MANY = 1_000_000
FETCH = 20_000
MIN_RATE = 130_000
MAX_RATIO = 3.5
MAX_MEMORY = 1.25
"""How much more memory the many changes may take than the fewer ones before them."""
NAME = publication.object_name("be9c4000")

TABLE = """
CREATE TABLE orders (
    id bigint PRIMARY KEY, customer int NOT NULL, status text NOT NULL, amount numeric(12,2),
    weight double precision, paid boolean, placed timestamptz, due date, code varchar(20), note text
)
"""
INSERT = """
INSERT INTO orders
SELECT i, i %% 977, (ARRAY['new', 'paid', 'sent', 'done'])[1 + i %% 4], i * 0.37, i / 7.0,
       i %% 3 = 0, timestamptz '2026-01-01' + i * interval '1 second',
       date '2026-01-01' + (i %% 365)::int, 'C' || i %% 1000,
       CASE WHEN i %% 5 > 0 THEN 'note number ' || i END
FROM generate_series(%s::bigint, %s::bigint) i
"""
EMIT = """
SELECT count(*) FROM pg_catalog.pg_logical_slot_peek_binary_changes(
    %s, %s::pg_lsn, NULL, 'proto_version', '1', 'publication_names', %s)
"""


class Bench:
    """A captured table, and what reading its changes costs."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        connection.execute(TABLE)
        table = describe_table(connection, find_table(connection, "orders"))
        assert table is not None
        self._oid = table.oid
        self._shape = MirrorShape(map_columns(table), table.identity_columns)
        publication.create(connection, NAME)
        slot.create(connection, NAME)
        publication.add_table(connection, NAME, table)
        self._since = position(connection)
        self._upto = self._since

    def write(self, changes: int) -> None:
        """Insert five of seven changes, update one, delete one."""
        count = changes * 5 // 7
        self._connection.execute("TRUNCATE orders")
        self._since = position(self._connection)
        slot.advance(self._connection, NAME, self._since.lsn)
        self._connection.execute(INSERT, (1, count))
        self._connection.execute(
            "UPDATE orders SET status = 'sent' WHERE id <= %s", (changes // 7,)
        )
        self._connection.execute("DELETE FROM orders WHERE id > %s", (count - changes // 7,))
        self._upto = position(self._connection)

    def emit(self) -> float:
        """Return how long the server takes to give the changes out, to nobody."""
        began = perf_counter()
        self._connection.execute(EMIT, (NAME, self._upto.lsn, NAME))
        return perf_counter() - began

    def typed(self) -> tuple[float, int]:
        """Return how long it takes to have all changes as typed columns, and how many there are."""
        began = perf_counter()
        found = sum(len(part.new_at) + len(part.old_at) for part in self._events())
        return perf_counter() - began, found

    def drained(self) -> float:
        """Return how long it takes to have the last row of every key."""
        began = perf_counter()
        tables = {self._oid: Followed(self._shape, self._since.snapshot)}
        with Spool() as spool:
            drain(self._connection, **self._reading(), tables=tables, spool=spool)
        return perf_counter() - began

    def _events(self) -> Iterator[Events]:
        since = {self._oid: self._since.snapshot}
        for fetched in read_changes(self._connection, **self._reading(), since=since):
            for part in fetched.changes:
                yield typed_events(part, self._shape)

    def _reading(self) -> dict[str, Any]:
        upto: Position = self._upto
        return {"slot": NAME, "publication": NAME, "upto": upto, "fetch": FETCH}


def main() -> int:
    """Measure and show; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=positive, default=5)
    parser.add_argument("--many", type=positive, default=MANY)
    given = parser.parse_args()
    found = machine()
    print(f"{found['cores']} cores ({found['processor']}), load {found['load_before']} before")
    with running_server() as server, Server(server.url).connected("bench") as connection:
        bench = Bench(connection)
        good = _speed(bench, given.rounds)
        good = _memory(bench, given.many) and good
    return 0 if good else 1


def _speed(bench: Bench, rounds: int) -> bool:
    bench.write(CHANGES)
    # In turn, so that a busy neighbour meets both.
    times = [(bench.emit(), *bench.typed(), bench.drained()) for _ in range(rounds)]
    emit, typed, drained = (median(time[place] for time in times) for place in (0, 1, 3))
    count = times[0][2]
    rate, ratio = count / typed, typed / emit
    print(f"{count:,} changes of 10 columns, median of {rounds}")
    print(f"  the server gives out   {emit:6.2f} s   {count / emit:10,.0f} changes/s")
    print(f"  fetch, decode, type    {typed:6.2f} s   {rate:10,.0f} changes/s (bar {MIN_RATE:,})")
    print(f"  … and last rows        {drained:6.2f} s   {count / drained:10,.0f} changes/s")
    print(f"  ratio to the server    {ratio:6.2f}       (bar {MAX_RATIO})")
    return rate >= MIN_RATE and ratio <= MAX_RATIO


def _memory(bench: Bench, many: int) -> bool:
    before = _peak_mb()
    bench.write(many)
    seconds, count = bench.typed()
    print(
        f"{count:,} changes in fetches of {FETCH:,}: {seconds:.1f} s, peak {_peak_mb():.0f} MB",
        end="",
    )
    print(f" ({before:.0f} MB after {CHANGES:,})")
    return _peak_mb() <= MAX_MEMORY * before


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
