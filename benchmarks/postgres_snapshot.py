"""The first copy of a table into its mirror, against a bare JDBC read and Delta write.

    python -m benchmarks.postgres_snapshot

Both run in one Spark, in turns, with the same parts of the table and the same rows per fetch.  The
bare one reads no exported snapshot, checks no value, and knows nothing of mirrors.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from psycopg import Connection

from benchmarks.options import positive
from benchmarks.pages import Results, conditions
from benchmarks.postgres_report import add_results_option, at_most, is_so, report
from streamtables.catalog.models import Source
from streamtables.demo.postgres_server import running_server
from streamtables.engine.session import SparkSessions
from streamtables.engine.spark_start import SparkSettings
from streamtables.positions import InputId
from streamtables.positions import Sequence as Number
from streamtables.settings import load_settings
from streamtables.sources.postgres.copying import copy_table
from streamtables.sources.postgres.facts import PgTable, describe_table, find_table
from streamtables.sources.postgres.parts import ctid_parts
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.types import map_columns

BAR = 1.5
OURS, BARE = "first copy", "bare JDBC and Delta"
TABLE = """
CREATE TABLE orders (
    id bigint PRIMARY KEY, customer int NOT NULL, status text NOT NULL, amount numeric(12,2),
    weight double precision, paid boolean, placed timestamptz, due date, code varchar(20), note text
)
"""
ROWS = """
INSERT INTO orders
SELECT i, i %% 977, (ARRAY['new', 'paid', 'sent', 'done'])[1 + i %% 4], (i %% 10000000) * 0.37,
       i / 7.0, i %% 3 = 0, timestamptz '2026-01-01 00:00:00+00' + i * interval '1 second',
       date '2026-01-01' + (i %% 365)::int, 'C' || i %% 1000,
       CASE WHEN i %% 5 > 0 THEN 'note number ' || i END
FROM generate_series(%s::bigint, %s::bigint) i
"""
_FETCH = "10000"


@dataclass(frozen=True)
class Copies:
    """One table, and two ways to copy it into a new Delta table."""

    server: Server
    table: PgTable
    pages: int
    parts: int
    sessions: SparkSessions

    def ours(self, location: Path) -> None:
        """Copy as a source is copied when it is added."""
        mirror = Source(
            id=InputId(location.name),
            name="orders",
            location=str(location),
            columns=(),
            delta_table_id="",
            added_at=datetime.now(UTC),
            key_columns=self.table.primary_key,
            kind="postgres",
        )
        copy_table(
            self.server,
            self.table,
            map_columns(self.table),
            mirror,
            Number(0),
            head=None,
            parts=self.parts,
            sessions=self.sessions,
        )

    def bare(self, location: Path) -> None:
        """Copy with Spark alone."""
        url, properties = self.server.jdbc()
        with self.sessions.lease("bulk") as spark:
            rows = spark.read.option("fetchsize", _FETCH).jdbc(
                url,
                self.table.identifier.as_string(None),
                predicates=list(ctid_parts(self.pages, self.parts)),
                properties={"driver": "org.postgresql.Driver", **properties},
            )
            rows.write.format("delta").save(str(location))

    def digest(self, location: Path) -> tuple[int, int]:
        """Return the number of rows of a copy, and one number of all that is in them."""
        names = ", ".join(column.name for column in self.table.columns)
        with self.sessions.lease("bulk") as spark:
            row = spark.sql(
                f"SELECT count(*), coalesce(bit_xor(xxhash64({names})), 0) FROM delta.`{location}`"
            ).collect()[0]
        return int(row[0]), int(row[1])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show; 1 when the two copies differ."""
    options = _options(arguments)
    results = conditions() | {"rows": options.rows, "parts": options.parts}
    settings = SparkSettings(jars_dir=load_settings().jars_dir, driver_memory=options.driver_memory)
    sessions = SparkSessions(settings)
    with (
        running_server() as server,
        TemporaryDirectory(prefix="streamtables-snapshot-") as folder,
    ):
        place = Server(server.url)
        with place.connected("benchmark") as connection:
            table, pages = _filled(connection, options.rows)
        copies = Copies(place, table, pages, options.parts, sessions)
        try:
            results |= measured(copies, Path(folder), options.rounds)
        finally:
            sessions.stop()
    return _report(results, options)


def measured(copies: Copies, folder: Path, rounds: int) -> Results:
    """Copy in both ways, in turns; the first round warms up and is compared."""
    ways: dict[str, Callable[[Path], None]] = {OURS: copies.ours, BARE: copies.bare}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    digests = {}
    for number in range(rounds + 1):
        for place, way in enumerate(ways if number % 2 else reversed(ways)):
            location = folder / f"copy-{number}-{place}"
            began = perf_counter()
            ways[way](location)
            seconds[way].append(perf_counter() - began)
            print(f"round {number}: {way}: {seconds[way][-1]:.1f} s", flush=True)
            if not number:
                digests[way] = copies.digest(location)
            rmtree(location)
    return {
        "rounds": rounds,
        "seconds": {way: median(found[1:]) for way, found in seconds.items()},
        "all_seconds": seconds,
        "equal": digests[OURS] == digests[BARE],
        "copied_rows": digests[OURS][0],
    }


def _filled(connection: Connection[Any], rows: int) -> tuple[PgTable, int]:
    print(f"writing {rows:,} rows", flush=True)
    connection.execute(TABLE)
    for start in range(1, rows + 1, 500_000):
        connection.execute(ROWS, (start, min(rows, start + 499_999)))
    # The first reader would otherwise write what the others only read.
    connection.execute("VACUUM (FREEZE, ANALYZE) orders")
    connection.execute("CHECKPOINT")
    table = describe_table(connection, find_table(connection, "public.orders"))
    row = connection.execute(
        "SELECT pg_relation_size('orders') / current_setting('block_size')::int8"
    ).fetchone()
    assert table is not None
    assert row is not None
    return table, int(row[0])


def _report(results: Results, options: argparse.Namespace) -> int:
    ours, bare = (results["seconds"][way] for way in (OURS, BARE))
    rows = results["rows"]
    print(f"\n{rows:,} rows of 10 columns in {options.parts} parts, medians of {options.rounds}")
    print(f"  {OURS:22}{ours:8.1f} s  {rows / ours:12,.0f} rows/s")
    print(f"  {BARE:22}{bare:8.1f} s  {rows / bare:12,.0f} rows/s")
    complete = results["equal"] and results["copied_rows"] == rows
    bars = [
        at_most(f"the first copy of {rows:,} rows ÷ bare JDBC and Delta", ours / bare, BAR),
        is_so("… both copies have the same rows", complete),
    ]
    return report(results, bars, options.results, "postgres_snapshot")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.postgres_snapshot",
        description=__doc__.splitlines()[0] if __doc__ else "",
    )
    parser.add_argument("--rows", type=positive, default=5_000_000, help="rows of the table")
    parser.add_argument("--parts", type=positive, default=load_settings().snapshot_parts)
    parser.add_argument("--rounds", type=positive, default=3, help="counted rounds; the median")
    parser.add_argument("--driver-memory", default="4g", help="memory of Spark's driver")
    add_results_option(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
