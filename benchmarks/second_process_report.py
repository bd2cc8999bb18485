"""What a process that starts found, on the screen and on its page."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars import Bar
from benchmarks.pages import Results
from benchmarks.performance.chart import Chart
from benchmarks.performance.section import Shown, table
from benchmarks.postgres_report import only_shown
from benchmarks.scheduler_report import exactly

ABOUT = """
Another process has created and filled four tables. Each round changes a few rows and starts a
process that refreshes all of them once: with the plans that were kept, and with empty caches. The
clock starts when Spark has answered its first statement.
"""

SIDES = ("kept", "cleared")
_SHOWN = {"kept": "plans kept", "cleared": "caches empty"}
_COUNTS = {"parse_count": "parsed", "differentiate_count": "differentiated"}


def bars(results: Results) -> Iterator[Bar]:
    """Yield what a process with kept plans may not do, and what it saves."""
    for name, shown in _COUNTS.items():
        yield exactly(f"queries {shown} by a process that starts", results["kept"][name], 0)
    kept, cleared = (results[side]["median_seconds"] for side in SIDES)
    yield only_shown("its first refreshes, empty caches ÷ plans kept", f"{cleared / kept:.2f}×")


def section(results: Results) -> Shown:
    """Show both sides."""
    rows = [
        [
            _SHOWN[side],
            f"{results[side]['median_seconds']:.3f}",
            *(str(results[side][name]) for name in _COUNTS),
        ]
        for side in SIDES
    ]
    told = f"{results['tables']} tables, median of {results['rounds']} processes for each side."
    chart = [(_SHOWN[side], {_SHOWN[side]: results[side]["median_seconds"]}) for side in SIDES]
    picture = Chart("First refreshes of a process", chart).grouped()
    lines = [told, "", *table(["process", "seconds", *_COUNTS.values()], rows)]
    return Shown(lines, {"second-process": picture})
