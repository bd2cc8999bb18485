"""Fifteen tables in three layers after one batch of changes: `python -m benchmarks.medallion`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import streamtables
from benchmarks.medallion_report import SHOWN, bars
from benchmarks.medallion_sides import Medallion
from benchmarks.medallion_sources import Shop
from benchmarks.options import positive
from benchmarks.pages import Results, conditions
from benchmarks.performance.kept import keep
from benchmarks.performance.page import write
from benchmarks.postgres_report import add_results_option, report, show_table
from benchmarks.twins import say
from streamtables.settings import Settings

STEM = "medallion"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show; 1 when a table differs from its query."""
    options = _options(arguments)
    results = conditions() | {name: getattr(options, name) for name in ("rows", "share", "rounds")}
    with tempfile.TemporaryDirectory(prefix="streamtables-medallion-") as folder:
        results |= measured(Path(folder), options)
    taken = results["median_seconds"]
    show_table(["way", "seconds"], [[SHOWN[side], f"{s:.2f}"] for side, s in taken.items()])
    code = report(results, bars(results), options.results, STEM)
    if options.page and not code:
        keep(results, STEM)
        write()
    return code


def measured(folder: Path, options: argparse.Namespace) -> Results:
    """Return the seconds of every side, how the tables went, and which are wrong."""
    settings = Settings(spark_driver_memory=options.driver_memory)
    with streamtables.connect(folder / "owner", settings=settings) as owner:
        shop = Shop(owner.spark, folder / "sources", options.rows)
        say(f"making tables for {options.rows:,} lines of orders")
        shop.make()
        found = Medallion(shop, folder)
        say("first fill")
        with found.opened():
            changed = found.measure(options.rounds, options.warm_up, options.share)
            say("verifying")
            return found.data() | {"changed_rows": changed, "wrong": found.differences()}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.medallion", description=__doc__)
    parser.add_argument("--rows", type=positive, default=2_000_000, help="lines of orders")
    parser.add_argument("--share", type=float, default=0.001, help="changed share of each source")
    parser.add_argument("--rounds", type=positive, default=5, help="counted rounds; the median")
    parser.add_argument("--warm-up", type=int, default=2, help="rounds that are not counted")
    parser.add_argument("--driver-memory", default="6g", help="memory of Spark's driver")
    parser.add_argument(
        "--page",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="keep the results for docs/performance.md, and write it",
    )
    add_results_option(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
