"""What the benchmark of fifteen tables found, on the screen and on its page."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars import Bar
from benchmarks.pages import Results
from benchmarks.performance.chart import Chart
from benchmarks.performance.section import Shown, table
from benchmarks.postgres_report import is_so, only_shown

ABOUT = """
A shop in three layers: five tables clean the sources, six join and sum them, four are what a report
shows. One batch changes 0.1 % of every source; `refresh_all` in mode `auto` follows it, against the
same fifteen in mode `full`, and against fifteen statements `INSERT OVERWRITE` in bare Spark. All
three on one Spark, in turn; at the end every table is recomputed and compared.
"""

SHOWN = {
    "auto": "refresh_all, mode auto",
    "full": "refresh_all, mode full",
    "overwrite": "INSERT OVERWRITE by Spark",
}


def bars(results: Results) -> Iterator[Bar]:
    """Yield the ratios, and whether the tables are right."""
    taken = results["median_seconds"]
    for side in ("full", "overwrite"):
        ratio = taken[side] / taken["auto"]
        yield only_shown(f"15 tables, {SHOWN[side]} ÷ mode auto", f"{ratio:.2f}×")
    yield is_so("… every table equals its query", not results["wrong"])


def section(results: Results) -> Shown:
    """Show the three sides, and how the tables went."""
    taken = results["median_seconds"]
    rows = [
        [shown, f"{taken[side]:.2f}", f"{taken[side] / taken['auto']:.2f}×"]
        for side, shown in SHOWN.items()
    ]
    told = (
        f"{results['rows']:,} lines of orders, {results['changed_rows']:,} changed rows in all, "
        f"median of {results['rounds']}."
    )
    right = "none" if not results["wrong"] else ", ".join(results["wrong"])
    chart = [(SHOWN[side], {SHOWN[side]: seconds}) for side, seconds in taken.items()]
    picture = Chart("Fifteen tables after one batch of changes", chart).grouped()
    lines = [told, "", *table(["way", "seconds", "÷ auto"], rows), ""]
    return Shown([*lines, f"Tables that differ from their query: {right}."], {"medallion": picture})
