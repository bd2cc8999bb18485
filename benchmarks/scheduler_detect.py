"""What it costs to see that nothing happened to the sources of one table: questions, counted.

    python -m benchmarks.scheduler_detect

A stream table that follows changes reads ten Delta tables, or ten tables of one PostgreSQL database
captured by triggers or from its log.  Of each tick are counted the statements to the catalog and to
PostgreSQL, and the files of Delta logs that were asked for and read.  One source is counted beside
ten: where the counts are equal, the number of sources does not matter.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psycopg

from benchmarks.bars import Bar
from benchmarks.options import positive
from benchmarks.pages import Results, conditions
from benchmarks.postgres_report import add_results_option, report, show_table
from benchmarks.scheduler_report import exactly
from benchmarks.scheduler_warehouse import Clock, Filling, add_sources, write
from streamtables.api import StreamTables
from streamtables.catalog.models import Input
from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.engine.log_files import LocalLogFiles
from streamtables.positions import InputId
from tests.support.postgres_chain import copied_by_deltalake

SOURCES = (1, 10)
TICKS = 20
COUNTED = {
    "statements to PostgreSQL": (psycopg.Connection, "execute"),
    "log files asked for": (LocalLogFiles, "facts"),
    "log files read": (LocalLogFiles, "read"),
}
CATALOG = "statements to the catalog"
ASKED = {"delta": (1, 0), "triggers": (1, 1), "wal": (1, 1)}
"""Statements to the catalog and to PostgreSQL: the lease, and one look at each database."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Count and show; 1 when a count is another one."""
    options = _options(arguments)
    results = conditions() | {"ticks": options.ticks, "items": []}
    with tempfile.TemporaryDirectory(prefix="streamtables-bench-") as folder, ExitStack() as stack:
        # A vacuum is a transaction too, and would come whenever it likes.
        server = stack.enter_context(running_server(autovacuum="off"))
        for kind in ("delta", "triggers", "wal"):
            for sources in options.sources:
                place = Path(folder) / f"{kind}-{sources}"
                results["items"].append(counted(place, kind, sources, options.ticks, server))
    _show(results["items"])
    most = max(options.sources)
    bars = [bar for item in results["items"] if item["sources"] == most for bar in _bars(item)]
    return report(results, bars, options.results, "scheduler_detect")


def counted(
    folder: Path, kind: str, sources: int, ticks: int, server: PostgresServer | None = None
) -> Results:
    """Return what one tick asks, for a table on so many sources of a kind."""
    clock = Clock()
    with StreamTables(folder / "warehouse", clock=clock) as db:
        if kind == "delta" or server is None:
            below = add_sources(db, folder / "sources", sources)
        else:
            below = _captured(db, server, f"{kind}_{sources}", sources)
        _follow(db, below)
        # The first ticks open the tables, and have the server write out what it logged.
        for _ in range(4):
            assert db.tick() == []
        with _counting(db) as counts:
            for _ in range(ticks):
                clock.forward(1)
                assert db.tick() == []
    asked = {what: counts[what] / ticks for what in (CATALOG, *COUNTED)}
    return {"kind": kind, "sources": sources, "asked": asked}


@contextmanager
def _counting(db: StreamTables) -> Iterator[Counter[str]]:
    """Count the calls of what asks."""
    found: Counter[str] = Counter()
    before = db._catalog.queries
    with ExitStack() as stack:
        for what, (owner, name) in COUNTED.items():
            stack.enter_context(patch.object(owner, name, _noting(found, what, owner, name)))
        yield found
    found[CATALOG] = db._catalog.queries - before


def _noting(found: Counter[str], what: str, owner: type, name: str) -> Any:
    real = getattr(owner, name)

    def noted(*args: Any, **kwargs: Any) -> Any:
        found[what] += 1
        return real(*args, **kwargs)

    return noted


def _captured(db: StreamTables, server: PostgresServer, name: str, count: int) -> list[InputId]:
    """Capture some tables of a new database; their first copy needs no Spark."""
    db._around.postgres.copy = copied_by_deltalake
    with psycopg.connect(server.url, autocommit=True) as root:
        root.execute(f"CREATE DATABASE {name}")
    with psycopg.connect(server.url_of(name), autocommit=True) as connection:
        for number in range(count):
            table = f"t{number}"
            connection.execute(f"CREATE TABLE {table} (id int PRIMARY KEY, amount int)")
    for number in range(count):
        capture = name.split("_")[0]
        db.add_source(
            f"t{number}", postgres=server.url_of(name), table=f"t{number}", capture=capture
        )
    sources = db.sources()
    for _ in range(3):
        assert db._around.postgres.drain(sources) == {}
    return [source.id for source in sources]


def _follow(db: StreamTables, sources: Sequence[InputId]) -> None:
    filling = Filling(versions=db._around.postgres.pins())
    filling.add([Input(key, "source", ("id",)) for key in sources], "on change")
    write(db._catalog, filling)


def _bars(item: Results) -> Iterator[Bar]:
    kind, sources, asked = item["kind"], item["sources"], item["asked"]
    catalog, postgres = ASKED[kind]
    what = f"a look at {sources} sources ({kind})"
    yield exactly(f"{what}: {CATALOG}", asked[CATALOG], catalog)
    yield exactly(f"{what}: statements to PostgreSQL", asked["statements to PostgreSQL"], postgres)
    if kind == "delta":
        yield exactly(f"{what}: log files asked for", asked["log files asked for"], 2 * sources)
        yield exactly(f"{what}: log files read", asked["log files read"], 0)


def _show(items: Sequence[Results]) -> None:
    print("\nQuestions per tick")
    names = (CATALOG, *COUNTED)
    rows = [
        [item["kind"], str(item["sources"]), *(f"{item['asked'][name]:g}" for name in names)]
        for item in items
    ]
    show_table(["sources", "how many", *names], rows)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scheduler_detect",
        description=__doc__.splitlines()[0] if __doc__ else "",
    )
    parser.add_argument("--sources", type=positive, nargs="+", default=list(SOURCES))
    parser.add_argument("--ticks", type=positive, default=TICKS, help="counted ticks")
    add_results_option(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
