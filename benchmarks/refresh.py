"""AUTO against always full and always by changes: `python -m benchmarks.refresh --scale 0.1`.

Twenty views on the tables of TPC-H, at rates from one row to half of all rows.  Each rate comes as
often as `--rounds` says, all of them in random order and without a warm-up of their own; after each
change every view is refreshed in three warehouses, in random order.  At the end every table is
recomputed and compared.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import streamtables
from benchmarks.options import RESULTS
from benchmarks.pages import Results, conditions, save
from benchmarks.performance.kept import keep, without
from benchmarks.performance.page import write
from benchmarks.refresh_report import lines
from benchmarks.refresh_sides import Sides
from benchmarks.refresh_sources import Sources
from benchmarks.refresh_views import views
from benchmarks.twins import say
from streamtables.settings import Settings

RATES = (0.0, 0.0001, 0.001, 0.01, 0.1, 0.5)
STEM = "refresh"


def main() -> int:
    """Measure what the options ask for; 1 when a table differs from its query."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="streamtables-refresh-") as folder:
        results = _measured(options, Path(folder))
    table = lines(results)
    print("\n".join(table))
    for wrong in results["wrong"]:
        print(f"WRONG: {wrong}")
    if options.page and not results["wrong"]:
        kept = without(results, "predicted", "choices", "seconds")
        keep(kept, f"refresh_scale_{options.scale:g}")
        write()
    return 1 if results["wrong"] else 0


def _measured(options: argparse.Namespace, folder: Path) -> Results:
    chosen = views(options.scale)
    wanted = {name: chosen[name] for name in options.view or chosen}
    sides = Sides(folder, wanted, options.seed)
    results = conditions() | {"scale": options.scale, "rounds": options.rounds, "wrong": []}
    began = perf_counter()
    settings = Settings(spark_driver_memory=options.driver_memory)
    with streamtables.connect(folder / "owner", settings=settings) as owner:
        say(f"generating data of scale {options.scale:g}")
        sources = Sources(owner.spark, folder, options.scale)
        say("first fill")
        with sides.opened(owner.spark, sources.paths):
            for number, rate in enumerate(_schedule(options), start=1):
                say(f"change {number}: {rate:g}, {sources.change(rate):,} rows")
                sides.follow(rate)
                results |= {"cells": sides.data(), "seconds": round(perf_counter() - began)}
                save(results, options.results, STEM)
            say("verifying")
            sides.verify()
    return results | {"wrong": sides.wrong}


def _schedule(options: argparse.Namespace) -> list[float]:
    """Return the rates in the order in which they come."""
    rates = [rate for rate in options.rate for _ in range(options.rounds)]
    random.Random(options.seed).shuffle(rates)
    return rates


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.refresh", description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1, help="scale factor of the data")
    parser.add_argument("--rate", type=float, nargs="+", default=list(RATES), help="0 is one row")
    parser.add_argument("--rounds", type=int, default=5, help="changes of each rate; the median")
    parser.add_argument("--view", nargs="+", help="only these views")
    parser.add_argument("--seed", type=int, default=1, help="the order of everything")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the JSON goes")
    parser.add_argument("--driver-memory", default="6g", help="memory of Spark's driver")
    parser.add_argument(
        "--page",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="keep the results for docs/performance.md, and write it",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
