"""One tick over tables that read each other, against a refresh of each, one after the other.

    python -m benchmarks.scheduler_graphs

A chain of ten tables, and a graph of sixty in ten levels in which every table below the first level
reads two of the level above, so that diamonds close everywhere.  Each round adds one row to the one
source.  One warehouse makes a tick; the other refreshes every table by itself, in order.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.bars import Bar
from benchmarks.options import positive
from benchmarks.pages import Results, conditions
from benchmarks.postgres_report import (
    add_results_option,
    at_most,
    is_so,
    only_shown,
    report,
    show_table,
)
from benchmarks.scheduler_sides import Sides, opened, require_applied
from streamtables.settings import Settings

TICK, SINGLE = "tick", "single"
DEPTH, WIDTH = 10, 6
BARS = {"chain": 1.05, "graph": 0.7}
FIRST = "SELECT grp, sum(amount) + {at} AS amount FROM source_0 GROUP BY grp"
"""A row of any kind changes it, so that every table of the graph has something to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show; 1 when a table is wrong."""
    options = _options(arguments)
    results = conditions() | {"rounds": options.rounds, "items": []}
    for shape, width in (("chain", 1), ("graph", options.width)):
        tables = queries(options.depth, width)
        with tempfile.TemporaryDirectory(prefix="streamtables-bench-") as folder:
            item = measured(Path(folder), tables, options)
        results["items"].append({"shape": shape, "tables": len(tables), **item})
    _show(results["items"])
    bars = [bar for item in results["items"] for bar in _bars(item)]
    return report(results, bars, options.results, "scheduler_graphs")


def queries(depth: int, width: int) -> dict[str, str]:
    """Return the tables of a graph, each after what it reads; one of width 1 is a chain."""
    found = {f"t_0_{at}": FIRST.format(at=at) for at in range(width)}
    for level in range(1, depth):
        for at in range(width):
            one, other = f"t_{level - 1}_{at}", f"t_{level - 1}_{(at + 1) % width}"
            found[f"t_{level}_{at}"] = (
                f"SELECT grp, amount + {level} AS amount FROM {one}"
                if one == other
                else f"SELECT a.grp, a.amount + b.amount AS amount FROM {one} AS a "
                f"JOIN {other} AS b ON a.grp = b.grp"
            )
    return found


def measured(folder: Path, tables: dict[str, str], options: argparse.Namespace) -> Results:
    """Return the seconds of both ways to follow one row."""
    settings = Settings(spark_driver_memory=options.driver_memory)
    with opened(folder, 1, options.rows, {TICK: settings, SINGLE: settings}) as found:
        found.define(tables, {TICK: "1 second", SINGLE: "manual"})
        ways = {
            TICK: lambda: require_applied(found.dbs[TICK].tick(), len(tables)),
            SINGLE: lambda: _one_by_one(found, tables),
        }
        times = found.measure(ways, options.rounds, 1)
        last = list(tables)[-1]
        # What the last one stands on is all of it, and verify computes that from the source.
        return times | {"wrong": found.differences([last])}


def _one_by_one(found: Sides, tables: dict[str, str]) -> None:
    db = found.dbs[SINGLE]
    require_applied([db.refresh(name, upstream=False) for name in tables])


def _bars(item: Results) -> Iterator[Bar]:
    times = item["median_seconds"]
    what = f"one tick over a {item['shape']} of {item['tables']}, against single refreshes"
    yield at_most(what, times[TICK] / times[SINGLE], BARS[item["shape"]])
    yield only_shown("… a tick", f"{times[TICK]:.2f} s")
    yield is_so("… its last table equals its query", not item["wrong"])


def _show(items: Sequence[Results]) -> None:
    print("\nOne changed row, median seconds")
    rows = []
    for item in items:
        tick, single = (item["median_seconds"][name] for name in (TICK, SINGLE))
        cells = [f"{tick:.2f}", f"{single:.2f}", f"{tick / single:.2f}×"]
        rows.append([item["shape"], str(item["tables"]), *cells])
    show_table(["shape", "tables", "one tick", "single refreshes", "ratio"], rows)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scheduler_graphs",
        description=__doc__.splitlines()[0] if __doc__ else "",
    )
    parser.add_argument("--depth", type=positive, default=DEPTH)
    parser.add_argument("--width", type=positive, default=WIDTH, help="of the graph; 3 or more")
    parser.add_argument("--rows", type=positive, default=1_000, help="rows of the source")
    parser.add_argument("--rounds", type=positive, default=5, help="counted rounds; the median")
    parser.add_argument("--driver-memory", default="3g", help="memory of Spark's driver")
    add_results_option(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
