"""What capture by triggers costs a writer: `python -m benchmarks.postgres_writer`.

Two equal tables, one of them captured, are written to in turns in one run, so that the machine's
moods fall on both.  WAL counts from the position of the server before and after a statement.  On
Linux the time that the server's process had a processor is shown as well: it hardly changes with
what else the machine does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from psycopg import Connection

from streamtables.demo.postgres_server import running_server
from streamtables.sources.postgres.facts import describe_table, find_table
from streamtables.sources.postgres.server import SCHEMA, Server
from streamtables.sources.postgres.triggers import install

TIME_BAR, TIME_GOAL, WAL_BAR = 2.3, 1.6, 3.3
_TAG = "0a1b2c3d"
_PLAIN, _CAPTURED = "plain", "captured"
_COLUMNS = (
    "id bigint PRIMARY KEY, a int, b bigint, c text, d text, "
    "e numeric(12, 2), f timestamptz, g date, h boolean, i float8"
)
_BULK = {
    "insert": "INSERT INTO {table} SELECT n, n % 100, n * 7, 'name ' || n, md5(n::text), "
    "n / 100.0, now(), current_date, n % 2 = 0, n * 1.5 FROM generate_series(1, {rows}) n",
    "update": "UPDATE {table} SET a = a + 1, c = c || 'x'",
    "delete": "DELETE FROM {table}",
}
_SINGLE = {
    "insert": "INSERT INTO {table} VALUES (k, 1, 1, 'a', 'b', 1, now(), now(), true, 1)",
    "update": "UPDATE {table} SET a = a + 1 WHERE id = k",
    "delete": "DELETE FROM {table} WHERE id = k",
}
_LOOP = "DO $$BEGIN FOR k IN 1..{rows} LOOP {statement}; END LOOP; END$$"


@dataclass(frozen=True)
class Cost:
    """Seconds, seconds on a processor, and bytes of WAL of one statement."""

    seconds: float
    processor: float
    wal: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when a bar is missed."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--rows", type=int, default=10_000, help="rows of one statement")
    options.add_argument("--rounds", type=int, default=15, help="rounds; the first warms up")
    options.add_argument("--single", type=int, default=2_000, help="statements of one row each")
    chosen = options.parse_args(arguments)
    with running_server() as server, Server(server.url).connected("benchmark") as connection:
        _prepare(connection)
        bulk = _measure(connection, _BULK, chosen.rows, chosen.rounds)
        loops = {event: _LOOP.replace("{statement}", text) for event, text in _SINGLE.items()}
        single = _measure(connection, loops, chosen.single, chosen.rounds)
    print(f"\nOne statement, {chosen.rows:,} rows of 10 columns: medians of {chosen.rounds} rounds")
    missed = _show(bulk, 1_000, "ms")
    print("\nStatements of one row, in one transaction: per statement")
    _show(single, 1_000_000 / chosen.single, "µs")
    print(f"\nbars of one statement: time ≤ {TIME_BAR}× (goal {TIME_GOAL}×), WAL ≤ {WAL_BAR}×")
    print(f"missed by: {', '.join(missed) or 'none'}")
    return 1 if missed else 0


def _prepare(connection: Connection[Any]) -> None:
    for table in (_PLAIN, _CAPTURED):
        connection.execute(f"CREATE TABLE {table} ({_COLUMNS})")
    found = describe_table(connection, find_table(connection, f"public.{_CAPTURED}"))
    assert found is not None
    install(connection, found, _TAG)


def _measure(
    connection: Connection[Any], statements: dict[str, str], rows: int, rounds: int
) -> dict[str, dict[str, Cost]]:
    costs: dict[tuple[str, str], list[Cost]] = {}
    for _ in range(rounds):
        for table in (_PLAIN, _CAPTURED):
            for event, text in statements.items():
                cost = _cost(connection, text.format(table=table, rows=rows))
                costs.setdefault((event, table), []).append(cost)
        # What a drain and its trim leave: a buffer that is empty, and clean.
        connection.execute(f"DELETE FROM {SCHEMA}.changes_{_TAG}")
        for table in (_PLAIN, _CAPTURED, f"{SCHEMA}.changes_{_TAG}"):
            connection.execute(f"VACUUM {table}")
        # The first touch of a page after a checkpoint logs the page; it must not fall in between.
        connection.execute("CHECKPOINT")
    return {
        event: {table: _middle(costs[event, table]) for table in (_PLAIN, _CAPTURED)}
        for event in statements
    }


def _cost(connection: Connection[Any], statement: str) -> Cost:
    before, worked = _wal(connection), _processor(connection)
    start = perf_counter()
    connection.execute(statement)
    seconds = perf_counter() - start
    worked = _processor(connection) - worked
    return Cost(seconds, worked, _wal(connection) - before)


def _processor(connection: Connection[Any]) -> float:
    try:
        found = Path(f"/proc/{connection.info.backend_pid}/schedstat").read_text()
    except OSError:
        return 0.0
    return int(found.split()[0]) / 1e9


def _wal(connection: Connection[Any]) -> float:
    row = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
    return float(row[0]) if row else 0.0


def _middle(costs: list[Cost]) -> Cost:
    kept = costs[1:] or costs
    return Cost(
        median(c.seconds for c in kept),
        median(c.processor for c in kept),
        median(c.wal for c in kept),
    )


def _show(found: dict[str, dict[str, Cost]], scale: float, unit: str) -> list[str]:
    """Print a line per event and one of them together; return those that miss a bar."""
    print(f"  {'':8}{'plain':>9}{'captured':>10}  {unit}   {'time':>6}{'CPU':>7}{'WAL':>7}")
    both = {
        table: Cost(
            sum(costs[table].seconds for costs in found.values()),
            sum(costs[table].processor for costs in found.values()),
            sum(costs[table].wal for costs in found.values()),
        )
        for table in (_PLAIN, _CAPTURED)
    }
    missed = []
    for event, costs in {**found, "together": both}.items():
        plain, captured = costs[_PLAIN], costs[_CAPTURED]
        ratios = Cost(
            captured.seconds / plain.seconds,
            captured.processor / (plain.processor or 1),
            captured.wal / plain.wal,
        )
        print(
            f"  {event:8}{plain.seconds * scale:9.1f}{captured.seconds * scale:10.1f}  {unit}  "
            f"{ratios.seconds:6.2f}×{ratios.processor:6.2f}×{ratios.wal:6.2f}×"
        )
        if ratios.seconds > TIME_BAR or ratios.wal > WAL_BAR:
            missed.append(event)
    return missed


if __name__ == "__main__":
    sys.exit(main())
