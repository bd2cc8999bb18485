"""TPC-H, full against differential: `python -m benchmarks.tpch --scale 1 --share 0.001`.

Every query is a stream table twice: one follows changes, its twin recomputes.  Each round changes
all eight tables once; then both follow, one query after the other, in the same process.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import streamtables
from benchmarks.machine import machine
from benchmarks.options import RESULTS
from benchmarks.tpch_lab import TpchLab
from benchmarks.tpch_report import Results, lines, save, write_page
from streamtables.settings import Settings
from tests.tpch.duckdb_versions import Versions
from tests.tpch.generated_data import generate
from tests.tpch.queries import NUMBERS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tpch.md"


def main() -> int:
    """Measure what the options ask for; 1 when a table differs from its query."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="streamtables-tpch-") as folder:
        results = _measure(options, Path(folder))
    print("\n".join(lines(results)))
    print(f"\n{results['seconds']:.0f} s in all; saved in {options.results}")
    if options.page:
        write_page(results, PAGE)
    return 1 if any(item["wrong"] or item["error"] for item in results["queries"]) else 0


def _measure(options: argparse.Namespace, folder: Path) -> Results:
    began = perf_counter()
    conditions = _conditions(options)
    settings = Settings(spark_driver_memory=options.driver_memory)
    _say(f"generating data of scale {options.scale:g}")
    data = generate(options.data or folder, options.scale)
    with (
        streamtables.connect(folder / "owner", settings=settings) as owner,
        Versions(data, folder / "versions.duckdb") as versions,
    ):
        lab = TpchLab(folder, versions, options.scale, options.query)

        def saved(rounds: int, *, verified: bool = False) -> Results:
            seconds = round(perf_counter() - began, 1)
            queries = [item.data() for item in lab.found]
            results = {**conditions, "rounds": rounds, "verified": verified}
            results |= {"seconds": seconds, "queries": queries}
            save(results, options.results)
            return results

        with lab.opened(owner.spark):
            _say("first fill")
            lab.fill()
            for number in range(-options.warm_up, options.rounds):
                _say("warm-up" if number < 0 else f"round {number + 1} of {options.rounds}")
                lab.change(options.share, rename=options.rename_nations)
                lab.measure(counted=number >= 0, full_first=number % 2 == 1)
                # A long run that is stopped keeps the rounds it measured.
                saved(number + 1)
            if options.verify:
                _say("verifying")
                lab.verify()
        return saved(options.rounds, verified=options.verify)


def _conditions(options: argparse.Namespace) -> Results:
    return {
        "machine": machine(),
        "started_at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "scale": options.scale,
        "share": options.share,
        "renamed_nations": options.rename_nations,
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tpch", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="scale factor of the data")
    parser.add_argument("--share", type=float, default=0.001, help="changed share of each table")
    parser.add_argument("--rounds", type=int, default=3, help="measured rounds; the median")
    parser.add_argument("--warm-up", type=int, default=1, help="rounds that are not counted")
    parser.add_argument("--query", type=int, nargs="+", choices=NUMBERS, default=list(NUMBERS))
    parser.add_argument(
        "--rename-nations",
        action="store_true",
        help="each round exchanges the names of six nations: a quarter of all customers moves",
    )
    parser.add_argument("--data", type=Path, help="a folder that keeps the generated data")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the JSON goes")
    parser.add_argument("--driver-memory", default="6g", help="memory of Spark's driver")
    parser.add_argument(
        "--page",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write the table into docs/tpch.md",
    )
    parser.add_argument(
        "--verify",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="recompute every table at the end and compare",
    )
    return parser.parse_args()


def _say(text: str) -> None:
    print(f"· {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
