"""What a process that starts parses and takes: `python -m benchmarks.second_process`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import streamtables
from benchmarks.base import QUERIES, Base
from benchmarks.options import positive
from benchmarks.pages import Results, conditions
from benchmarks.performance.kept import keep
from benchmarks.performance.page import write
from benchmarks.postgres_report import add_results_option, report
from benchmarks.second_process_report import SIDES, bars
from benchmarks.twins import say
from streamtables.settings import Settings

STEM = "second_process"
CHANGES = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show; 1 when a process parsed what another one had."""
    options = _options(arguments)
    if options.follow is not None:
        print(json.dumps(followed(options.follow, cleared=options.cleared)))
        return 0
    results = conditions() | {"rows": options.rows, "rounds": options.rounds}
    with tempfile.TemporaryDirectory(prefix="streamtables-process-") as folder:
        results |= measured(Path(folder), options)
    code = report(results, bars(results), options.results, STEM)
    if options.page and not code:
        keep(results, STEM)
        write()
    return code


def measured(folder: Path, options: argparse.Namespace) -> Results:
    """Return what processes of both sides took and compiled."""
    base = Base(folder, options.rows)
    _prepare(folder, base)
    found: dict[str, list[Results]] = {side: [] for side in SIDES}
    for number in range(options.rounds):
        base.change(CHANGES)
        for side in SIDES if number % 2 else reversed(SIDES):
            found[side].append(_in_a_process(folder / side, cleared=side == "cleared"))
            say(f"{side} {found[side][-1]}")
    return {"tables": len(QUERIES), **{side: _summed(items) for side, items in found.items()}}


def followed(warehouse: Path, *, cleared: bool) -> Results:
    """Refresh all tables of a warehouse once, in this process, after Spark has started."""
    with streamtables.connect(warehouse, settings=_settings(warehouse)) as db:
        db.spark.sql("SELECT 1").collect()
        if cleared:
            db.clear_caches()
        began = perf_counter()
        done = db.refresh_all()
        seconds = perf_counter() - began
        wrong = [f"{item.table} {item.outcome}" for item in done if item.outcome != "applied"]
        if wrong:
            raise RuntimeError(f"not applied: {', '.join(wrong)}")
        counted: Any = db.metrics_summary()["plan_cache"]
    counts = {name: counted[name] for name in ("parse_count", "differentiate_count")}
    return {"seconds": round(seconds, 4), **counts}


def _prepare(folder: Path, base: Base) -> None:
    """Fill the tables of both sides, and refresh them once, in this process."""
    with streamtables.connect(folder / "owner") as owner:
        base.make(owner.spark)
        for side in SIDES:
            warehouse = folder / side
            settings = _settings(warehouse)
            with streamtables.connect(warehouse, spark=owner.spark, settings=settings) as db:
                db.add_source("orders", path=base.orders, key=["id"])
                db.add_source("customers", path=base.customers, key=["customer_id"])
                for name, query in QUERIES.items():
                    db.create(name.replace("-", "_"), query)
                for result in db.refresh_all():
                    if result.error is not None:
                        raise result.error


def _settings(warehouse: Path) -> Settings:
    return Settings(plan_cache_dir=warehouse.parent / f"plans-{warehouse.name}")


def _in_a_process(warehouse: Path, *, cleared: bool) -> Results:
    command = [sys.executable, "-m", "benchmarks.second_process", "--follow", str(warehouse)]
    command += ["--cleared"] if cleared else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the process failed: {done.stderr}")
    answer: Results = json.loads(done.stdout.splitlines()[-1])
    return answer


def _summed(items: Sequence[Results]) -> Results:
    """Return the median of the times, and the most of every count."""
    seconds = [item["seconds"] for item in items]
    counts = {
        name: max(item[name] for item in items) for name in ("parse_count", "differentiate_count")
    }
    return {"median_seconds": round(median(seconds), 4), "seconds": seconds, **counts}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.second_process", description=__doc__
    )
    parser.add_argument("--rows", type=positive, default=100_000, help="rows of the large table")
    parser.add_argument("--rounds", type=positive, default=5, help="processes of each side")
    parser.add_argument("--follow", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--cleared", action="store_true", help=argparse.SUPPRESS)
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
