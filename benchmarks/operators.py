"""Every operator, full against differential: `python -m benchmarks.operators --rows 1000000`.

Each shape of `operator_shapes` is a stream table twice: one follows changes, its twin recomputes.
Each round changes all tables once; then both follow, one shape after the other, in one process.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import streamtables
from benchmarks.operator_report import lines
from benchmarks.operator_shapes import SHAPES
from benchmarks.operator_tables import OperatorTables
from benchmarks.options import positive
from benchmarks.pages import Results
from benchmarks.twin_run import Run, add_run_options
from benchmarks.twins import Measurements, Twins, say
from streamtables.settings import Settings


def main() -> int:
    """Measure what the options ask for; 1 when a table differs from its query."""
    options = _options()
    about = {"source_rows": options.rows, "changes": options.changes}
    run = Run("operators", options, about, len(SHAPES))
    with tempfile.TemporaryDirectory(prefix="streamtables-operators-") as folder:
        results = _measure(run, Path(folder))
    return run.report(results, lines(results))


def _measure(run: Run, folder: Path) -> Results:
    options = run.options
    settings = Settings(spark_driver_memory=options.driver_memory)
    say(f"making tables of {options.rows:,} rows")
    tables = OperatorTables(folder / "sources", options.rows)
    tables.make()
    found = [Measurements(name, SHAPES[name].strip()) for name in options.operator]
    lab = Twins(folder, found, tables.sources)
    with streamtables.connect(folder / "owner", settings=settings) as owner:
        return run.measure(lab, owner.spark, lambda: tables.change(options.changes))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operators", description=__doc__)
    parser.add_argument("--rows", type=positive, default=1_000_000, help="rows of the large table")
    parser.add_argument("--changes", type=positive, default=1_000, help="changed rows per round")
    parser.add_argument(
        "--operator",
        nargs="+",
        choices=tuple(SHAPES),
        default=list(SHAPES),
        metavar="NAME",
        help=f"the shapes to measure: {', '.join(SHAPES)}",
    )
    add_run_options(parser, driver_memory="4g")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
