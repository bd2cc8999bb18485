"""TPC-H, full against differential: `python -m benchmarks.tpch --scale 1 --share 0.001`.

Every query is a stream table twice: one follows changes, its twin recomputes.  Each round changes
all eight tables once; then both follow, one query after the other, in the same process.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import streamtables
from benchmarks.pages import Results
from benchmarks.tpch_lab import TpchLab
from benchmarks.tpch_report import lines
from benchmarks.twin_run import Run, add_run_options
from benchmarks.twins import say
from streamtables.settings import Settings
from tests.tpch.duckdb_versions import Versions
from tests.tpch.generated_data import generate
from tests.tpch.queries import NUMBERS


def main() -> int:
    """Measure what the options ask for; 1 when a table differs from its query."""
    options = _options()
    about = {
        "scale": options.scale,
        "share": options.share,
        "renamed_nations": options.rename_nations,
    }
    run = Run("tpch", options, about, len(NUMBERS))
    with tempfile.TemporaryDirectory(prefix="streamtables-tpch-") as folder:
        results = _measure(run, Path(folder))
    return run.report(results, lines(results))


def _measure(run: Run, folder: Path) -> Results:
    options = run.options
    settings = Settings(spark_driver_memory=options.driver_memory)
    say(f"generating data of scale {options.scale:g}")
    data = generate(options.data or folder, options.scale)
    with (
        streamtables.connect(folder / "owner", settings=settings) as owner,
        Versions(data, folder / "versions.duckdb") as versions,
    ):
        lab = TpchLab(folder, versions, options.scale, options.query)
        return run.measure(
            lab, owner.spark, lambda: lab.change(options.share, rename=options.rename_nations)
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tpch", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="scale factor of the data")
    parser.add_argument("--share", type=float, default=0.001, help="changed share of each table")
    parser.add_argument("--query", type=int, nargs="+", choices=NUMBERS, default=list(NUMBERS))
    parser.add_argument(
        "--rename-nations",
        action="store_true",
        help="each round exchanges the names of six nations: a quarter of all customers moves",
    )
    parser.add_argument("--data", type=Path, help="a folder that keeps the generated data")
    add_run_options(parser, driver_memory="6g")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
