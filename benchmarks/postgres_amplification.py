"""What one changed row comes to: bytes of WAL with and without capture, bytes and files of Delta.

The same transactions run on two servers in turns.  The one without capture logs what a server logs
by default (`wal_level = replica`); the other what its capture needs.  Its WAL counts twice: until
the last transaction is done, and until its changes are drained and the buffer is trimmed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from psycopg import Connection

from benchmarks.pages import Results
from benchmarks.postgres_load_run import Loaded
from benchmarks.postgres_load_work import Work


@dataclass(frozen=True)
class Side:
    """A server, and the work that is done on it."""

    connection: Connection[Any]
    work: Work

    def run(self, transactions: int) -> tuple[int, float]:
        """Run transactions without a pause; return the WAL that they wrote, and their seconds."""
        before, began = wal_bytes(self.connection), perf_counter()
        for _ in range(transactions):
            self.work.run(self.connection)
        return wal_bytes(self.connection) - before, perf_counter() - began


def amplification(
    plain: Side, captured: Side, loaded: Loaded, *, rounds: int, each: int
) -> Results:
    """Return the medians per changed row, of rounds of some transactions; the first warms up."""
    found = []
    for number in range(rounds + 1):
        without = plain.run(each) if number % 2 else None
        within, seconds = captured.run(each)
        before = wal_bytes(captured.connection)
        loaded.drain(captured.connection)
        drained = within + wal_bytes(captured.connection) - before
        without = without or plain.run(each)
        found.append((without[0], within, drained, seconds / without[1]))
    changes = each * plain.work.changes
    bare, within, drained, slower = (median(column) for column in zip(*found[1:], strict=True))
    return {
        "changes": changes,
        "rounds": rounds,
        "wal_bytes_per_change": {
            "without capture": bare / changes,
            "with capture": within / changes,
            "with capture and drain": drained / changes,
        },
        "wal_ratio": within / bare,
        "wal_ratio_with_drain": drained / bare,
        "time_ratio": slower,
    }


def wal_bytes(connection: Connection[Any]) -> int:
    """Return how much WAL the server has written so far."""
    row = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
    assert row is not None
    return int(row[0])


def delta_files(location: Path) -> Results:
    """Return files and bytes under a Delta table, by kind; nothing is removed during a run."""
    kinds = ("data", "change feed", "log", "deletion vectors")
    found = {kind: {"files": 0, "bytes": 0} for kind in kinds}
    for path in location.rglob("*"):
        if not path.is_file():
            continue
        parts = path.relative_to(location).parts
        kind = {"_delta_log": "log", "_change_data": "change feed"}.get(parts[0], "data")
        kind = "deletion vectors" if path.name.startswith("deletion_vector") else kind
        found[kind]["files"] += 1
        found[kind]["bytes"] += path.stat().st_size
    return found


def written_since(before: Results, after: Results) -> Results:
    """Return what came between two counts of files."""
    return {
        kind: {name: after[kind][name] - before[kind][name] for name in ("files", "bytes")}
        for kind in after
    }
