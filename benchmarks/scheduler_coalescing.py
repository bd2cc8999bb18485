"""Changes of a source read once for all tables that follow it, against once for each.

    python -m benchmarks.scheduler_coalescing

The same tables in two warehouses on the same sources, `adaptive_batch_coalescing` on and off.  A
round appends to every source; each warehouse makes one tick, in turn.
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
from benchmarks.postgres_report import add_results_option, is_so, only_shown, report, show_table
from benchmarks.scheduler_report import at_least_times, exactly
from benchmarks.scheduler_sides import WARM_UP, Sides, opened, require_applied
from streamtables.settings import Settings

TABLES, SOURCES = 50, 5
RATIO_BAR = 1.3
SHAPES = (
    "SELECT id, amount FROM {source} WHERE grp = {number}",
    "SELECT grp, sum(amount) AS total, count(*) AS n FROM {source} "
    "WHERE id > {number} GROUP BY grp",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show; 1 when a table is wrong, or a source was read twice."""
    options = _options(arguments)
    results = conditions() | vars(options) | {"results": str(options.results)}
    with tempfile.TemporaryDirectory(prefix="streamtables-bench-") as folder:
        results |= measured(Path(folder), options)
    _show(results)
    return report(results, _bars(results), options.results, "scheduler_coalescing")


def measured(folder: Path, options: argparse.Namespace) -> Results:
    """Return the seconds of a tick on both sides, and how often it read a source."""
    sides = {
        "on": Settings(spark_driver_memory=options.driver_memory),
        "off": Settings(spark_driver_memory=options.driver_memory, adaptive_batch_coalescing=False),
    }
    with opened(folder, SOURCES, options.rows, sides) as found:
        tables = queries(options.tables)
        found.define(tables, {name: "1 second" for name in sides})
        before = {name: _reads(found, name) for name in sides}
        ways = {name: lambda name=name: _tick(found, name, len(tables)) for name in sides}
        times = found.measure(ways, options.rounds, options.changes)
        ticks = WARM_UP + options.rounds
        reads = {name: (_reads(found, name) - before[name]) / ticks / SOURCES for name in sides}
        wrong = found.differences(list(tables)[: SOURCES * len(SHAPES) : len(SHAPES)])
    return times | {"reads": reads, "wrong": wrong}


def queries(count: int) -> dict[str, str]:
    """Return so many queries, each on one source, of every shape in turn."""
    found = {}
    for number in range(count):
        shape = SHAPES[number % len(SHAPES)]
        source = f"source_{number // len(SHAPES) % SOURCES}"
        found[f"table_{number:02}"] = shape.format(source=source, number=number % 10)
    return found


def _tick(found: Sides, name: str, tables: int) -> None:
    require_applied(found.dbs[name].tick(), tables)


def _reads(found: Sides, name: str) -> int:
    reads = found.dbs[name].scheduler_diagnostics()["change_reads"]
    assert isinstance(reads, int)
    return reads


def _bars(results: Results) -> Iterator[Bar]:
    times = results["median_seconds"]
    what = f"{results['tables']} tables on {SOURCES} sources, changes read once against each"
    yield at_least_times(what, times["off"] / times["on"], RATIO_BAR)
    yield exactly("… reads of a source per tick", results["reads"]["on"], 1)
    yield only_shown("… reads of a source per tick, without", f"{results['reads']['off']:g}")
    yield is_so("… tables equal their queries", not results["wrong"])


def _show(results: Results) -> None:
    print(f"\n{results['changes']:,} changed rows per source, medians of {results['rounds']} ticks")
    rows = []
    for name, seconds in results["median_seconds"].items():
        rate = results["tables"] / seconds
        rows.append([name, f"{seconds:.2f}", f"{rate:.1f}", f"{results['reads'][name]:g}"])
    show_table(["coalescing", "seconds", "tables/s", "reads of a source"], rows)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scheduler_coalescing",
        description=__doc__.splitlines()[0] if __doc__ else "",
    )
    parser.add_argument("--tables", type=positive, default=TABLES)
    parser.add_argument("--rows", type=positive, default=20_000, help="rows of a source")
    parser.add_argument("--changes", type=positive, default=1_000, help="per source and round")
    parser.add_argument("--rounds", type=positive, default=5, help="counted rounds; the median")
    parser.add_argument("--driver-memory", default="3g", help="memory of Spark's driver")
    add_results_option(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
