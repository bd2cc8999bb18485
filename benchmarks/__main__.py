"""Measure, show, and save: `python -m benchmarks`, or `make bench`."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

import streamtables
from benchmarks.bars import Results
from benchmarks.compile_time import measure_compile
from benchmarks.lab import Lab
from benchmarks.options import Options, read_options
from benchmarks.pages import conditions
from benchmarks.performance.kept import keep
from benchmarks.performance.page import write
from benchmarks.report import save, show
from benchmarks.small_change import measure_changes, measure_no_change
from streamtables.settings import Settings


def main() -> int:
    """Run what the options ask for; 1 when a table differs from its query."""
    options = read_options()
    began = perf_counter()
    results: Results = conditions() | {"rounds": options.rounds}
    if "compile" in options.parts:
        _say("compile time")
        results["compile"] = measure_compile(options.rounds)
    if options.shapes or "no-change" in options.parts:
        with tempfile.TemporaryDirectory(prefix="streamtables-bench-") as folder:
            results |= _on_spark(options, Path(folder))
    results["seconds"] = round(perf_counter() - began, 1)
    show(results)
    print(f"\n{results['seconds']:.0f} s in all; saved as {save(results, options.results)}")
    if options.page and not results.get("differences"):
        keep(results, "one_row")
        write()
    return 1 if results.get("differences") else 0


def _on_spark(options: Options, folder: Path) -> Results:
    found: Results = {"changes": []}
    settings = Settings(spark_driver_memory=options.driver_memory)
    shapes = options.shapes or ("join-aggregate",)
    with ExitStack() as stack:
        owner = stack.enter_context(streamtables.connect(folder / "owner", settings=settings))
        labs = []
        for rows in options.rows:
            _say(f"making tables of {rows:,} rows")
            lab = Lab(folder / f"rows-{rows}", rows, shapes, spark=owner)
            labs.append(stack.enter_context(lab))
        for changes in options.changes if options.shapes else ():
            _say(f"{changes:,} changes, {options.rounds} rounds")
            found["changes"] += measure_changes(labs, changes, options.rounds)
        if "no-change" in options.parts:
            _say("no change")
            found["no_change"] = measure_no_change(labs[0])
        _say("verifying")
        found["differences"] = [wrong for lab in labs for wrong in lab.differences()]
    if found["differences"]:
        print(f"wrong rows: {', '.join(found['differences'])}", file=sys.stderr)
    return found


def _say(text: str) -> None:
    print(f"· {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
