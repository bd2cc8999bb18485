"""How soon a committed PostgreSQL row starts a refresh where writers call, and what that costs.

    python -m benchmarks.scheduler_wake

A stream table on one captured table follows changes with `notify`; the scheduler would poll once an
hour.  From the moment a row's commit returned to the start of the refresh there are the call, the
look, the drain and the commit of the mirror.  The refresh itself is left out, and so is Spark.

Sixteen writers then commit single rows, with the trigger that calls and without it, in turns.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import perf_counter
from typing import Any, cast
from unittest.mock import patch

import psycopg

from benchmarks.bars import Bar
from benchmarks.options import positive
from benchmarks.pages import Results, conditions
from benchmarks.postgres_report import add_results_option, only_shown, report, show_table
from benchmarks.scheduler_report import below, one_in_twenty
from benchmarks.scheduler_warehouse import Filling, write
from streamtables.api import StreamTables
from streamtables.catalog.models import Input, StreamTable, new_refresh_id
from streamtables.demo.postgres_server import running_server
from streamtables.positions import Pins
from streamtables.refresh.plan_cache import KeptPlan
from streamtables.refresh.recording import NOT_READ, Recording
from streamtables.refresh.results import Refresh
from streamtables.refresh.round import Round
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.task import Task
from streamtables.settings import Settings
from streamtables.sources.postgres import wakeups
from tests.support.postgres_chain import copied_by_deltalake

ROUNDS = 40
SECONDS = 5
WRITERS = 16
TURNS = 3
BAR_SECONDS = 0.1
_PATIENCE_SECONDS = 60.0
_LISTENS = """
SELECT count(*) > 0 FROM pg_stat_activity
WHERE application_name = 'streamtables listen' AND query LIKE 'LISTEN%' AND state = 'idle'
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show; a missed bar fails nothing."""
    options = _options(arguments)
    results = conditions() | {"rounds": options.rounds, "seconds": options.seconds}
    settings = Settings(poll_seconds=3_600)
    with (
        tempfile.TemporaryDirectory(prefix="streamtables-bench-") as folder,
        running_server() as server,
        StreamTables(Path(folder) / "warehouse", settings=settings) as db,
    ):
        _define(db, server.url)
        results["starts"] = started(db, server.url, options.rounds)
        results["commits"] = committed(db, server.url, options.seconds)
    _show(results)
    return report(results, list(_bars(results)), options.results, "scheduler_wake")


@dataclass
class Starts:
    """Notes when refreshes start, and moves their tables on without computing anything."""

    at: float = 0.0
    came: Event = field(default_factory=Event)

    def refreshed(self, round_: Round, table: StreamTable, pins: Pins) -> Refresh:
        """Stand in for a refresh that finds nothing to do."""
        self.at = perf_counter()
        task = Task(
            table=table,
            definitions=round_.snapshot.definitions,
            plan=cast("KeptPlan", None),
            standing=round_.standings[table.id],
            inputs=tuple(round_._input(item, pins) for item in table.inputs),
            base_frontier=pins,
            refresh_id=new_refresh_id(),
        )
        done = Recording(task, round_.around, Stopwatch()).no_change(NOT_READ, began=False)
        self.came.set()
        return done


def started(db: StreamTables, url: str, rounds: int) -> list[float]:
    """Return the seconds from a commit to the start of the refresh, round by round."""
    starts, ticked = Starts(), Event()
    with psycopg.connect(url, autocommit=True) as writer, _running(db, starts, ticked):
        while writer.execute(_LISTENS).fetchone() != (True,):
            ticked.wait(0.05)
        found = [_one(writer, starts, ticked, number) for number in range(rounds + 2)]
    # The first rounds open tables and connections.
    return found[2:]


def _one(writer: psycopg.Connection[Any], starts: Starts, ticked: Event, number: int) -> float:
    starts.came.clear()
    ticked.clear()
    writer.execute("INSERT INTO rows VALUES (%s, 1)", (number,))
    done = perf_counter()
    for event in (starts.came, ticked):
        if not event.wait(_PATIENCE_SECONDS):
            raise TimeoutError("no refresh came")
    return max(0.0, starts.at - done)


@contextmanager
def _running(db: StreamTables, starts: Starts, ticked: Event) -> Iterator[None]:
    def stand_in(round_: Round, table: StreamTable, pins: Pins) -> Refresh:
        return starts.refreshed(round_, table, pins)

    with patch.object(Round, "_refreshed", stand_in):
        thread = Thread(target=db.run, args=(lambda _: ticked.set(),), daemon=True)
        thread.start()
        try:
            yield
        finally:
            db.stop()
            thread.join(_PATIENCE_SECONDS)


def committed(db: StreamTables, url: str, seconds: float) -> dict[str, list[float]]:
    """Return commits per second of all writers together, with calls and without, in turns."""
    [known] = db._catalog.captured_databases().values()
    [capture] = known.captures
    rates: dict[str, list[float]] = {"without": [], "with": []}
    with psycopg.connect(url, autocommit=True) as root:
        for _ in range(TURNS):
            root.execute(wakeups.removal(capture.tag))
            rates["without"].append(_rate(url, seconds))
            wakeups.install(root, capture, wakeups.channel(known))
            rates["with"].append(_rate(url, seconds))
    return rates


def _rate(url: str, seconds: float) -> float:
    counts = [0] * WRITERS
    until = perf_counter() + seconds

    def insert(place: int) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            while perf_counter() < until:
                connection.execute("INSERT INTO rows VALUES (NULL, 1)")
                counts[place] += 1

    threads = [Thread(target=insert, args=(place,)) for place in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def _define(db: StreamTables, url: str) -> None:
    """Capture a table, and define a stream table that wants to be called."""
    db._around.postgres.copy = copied_by_deltalake
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE rows (id int, amount int)")
    db.add_source("source_000", postgres=url, table="rows", capture="triggers")
    filling = Filling(versions=db._around.postgres.pins())
    inputs = [Input(source.id, "source", ("id",)) for source in db.sources()]
    filling.add(inputs, "on change", {"notify": True})
    write(db._catalog, filling)


def _bars(results: Results) -> Iterator[Bar]:
    starts, commits = results["starts"], results["commits"]
    what = "a committed row to the start of the refresh, with notify"
    yield below(f"{what} (median)", median(starts), BAR_SECONDS)
    yield below(f"{what} (one in twenty is longer)", one_in_twenty(starts), BAR_SECONDS)
    ratio = median(commits["with"]) / median(commits["without"])
    yield only_shown(f"commits of {WRITERS} writers, with notify and without", f"{ratio:.2f}×")


def _show(results: Results) -> None:
    print("\nCommits per second, all writers together")
    rows = [
        [f"{way} notify", f"{median(rates):,.0f}", ", ".join(f"{rate:,.0f}" for rate in rates)]
        for way, rates in results["commits"].items()
    ]
    show_table(["", "median", "turns"], rows)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scheduler_wake",
        description=__doc__.splitlines()[0] if __doc__ else "",
    )
    parser.add_argument("--rounds", type=positive, default=ROUNDS, help="rows that are timed")
    parser.add_argument("--seconds", type=positive, default=SECONDS, help="of writing, each turn")
    add_results_option(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
