"""A tick that finds nothing to do: how long it takes, and what it asks of the catalog.

    python -m benchmarks.scheduler_idle

Each size is a warehouse of its own, on the same number of Delta sources, with schedules from one
second to one hour and tables that follow changes.  A second of the tables' time passes from tick to
tick.  The renewal of the lease alone, which is the one question to the catalog, is measured in
turn.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.bars import Bar
from benchmarks.options import positive
from benchmarks.pages import Results, conditions
from benchmarks.postgres_report import add_results_option, only_shown, report, show_table
from benchmarks.scheduler_report import below, exactly, one_in_twenty
from benchmarks.scheduler_warehouse import SCHEDULES, Clock, fill
from streamtables.api import StreamTables

SIZES = (1_000, 10_000)
TICKS = 300
BAR_SECONDS = 0.020
COSTS = {
    "first": "the first tick of a leader",
    "snapshot": "reading where all tables stand, as each round does",
    "statement": "a statement that changes a definition",
    "changed": "the first tick after it",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show; 1 when a tick asked the catalog more than once."""
    options = _options(arguments)
    results = conditions() | {"ticks": options.ticks, "schedules": SCHEDULES, "items": []}
    bars: list[Bar] = []
    for size in options.sizes:
        with tempfile.TemporaryDirectory(prefix="streamtables-bench-") as folder:
            item = measured(Path(folder), size, options.ticks)
        results["items"].append(item)
        bars += list(_bars(item))
    _show(results["items"])
    return report(results, bars, options.results, "scheduler_idle")


def measured(folder: Path, size: int, ticks: int) -> Results:
    """Return what idle ticks take over so many stream tables."""
    clock = Clock()
    with StreamTables(folder / "warehouse", clock=clock) as db:
        fill(db, folder / "sources", size)
        first = timed(db.tick)
        times: dict[str, list[float]] = {"tick": [], "lease": []}
        asked: list[int] = []
        for _ in range(ticks):
            clock.forward(1)
            before = db._catalog.queries
            times["tick"].append(timed(lambda: _idle(db)))
            asked.append(db._catalog.queries - before)
            times["lease"].append(timed(lambda: _renewed(db, clock)))
        snapshot = median(timed(db._catalog.snapshot) for _ in range(5))
        statement = timed(lambda: db.pause("area_0.table_00000"))
        changed = timed(db.tick)
    return {
        "tables": size,
        "first_seconds": first,
        "snapshot_seconds": snapshot,
        "statement_seconds": statement,
        "changed_seconds": changed,
        "median_seconds": median(times["tick"]),
        "p95_seconds": one_in_twenty(times["tick"]),
        "max_seconds": max(times["tick"]),
        "lease_seconds": median(times["lease"]),
        "queries": [min(asked), max(asked)],
    }


def timed(call: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    began = perf_counter()
    call()
    return perf_counter() - began


def _idle(db: StreamTables) -> None:
    if done := db.tick():
        raise AssertionError(f"{len(done)} tables were refreshed, and all were current")


def _renewed(db: StreamTables, clock: Clock) -> None:
    around = db._around
    around.catalog.lead(around.process, clock(), around.settings.lease_seconds)


def _bars(item: Results) -> Iterator[Bar]:
    tables = f"{item['tables']:,} tables"
    yield below(f"an idle tick, {tables}, 95 in 100", item["p95_seconds"], BAR_SECONDS)
    yield exactly(f"… questions to the catalog, {tables}, the most", item["queries"][1], 1)
    ratio = item["median_seconds"] / item["lease_seconds"]
    yield only_shown("… median against the renewal of the lease alone", f"{ratio:.1f}×")
    for name, what in COSTS.items():
        yield only_shown(f"… {what}", f"{item[f'{name}_seconds']:.2f} s")


def _show(items: Sequence[Results]) -> None:
    print("\nIdle ticks, milliseconds")
    columns = ["tables", "median", "p95", "longest", "lease alone", *COSTS]
    show_table(columns, [_row(item) for item in items])


def _row(item: Results) -> list[str]:
    names = ("median", "p95", "max", "lease", *COSTS)
    return [f"{item['tables']:,}", *(f"{1e3 * item[f'{name}_seconds']:,.2f}" for name in names)]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scheduler_idle",
        description=__doc__.splitlines()[0] if __doc__ else "",
    )
    parser.add_argument("--sizes", type=positive, nargs="+", default=list(SIZES))
    parser.add_argument("--ticks", type=positive, default=TICKS, help="counted ticks per size")
    add_results_option(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
