"""Results on the screen and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.bars import Results, bars
from benchmarks.lab import KINDS


def show(results: Results) -> None:
    """Print a table of every part that was measured, then the bars."""
    if results.get("changes"):
        print("\nSmall changes: median seconds (Spark jobs, Delta commits)")
        _table(
            ["query", "rows", "changes", *KINDS, "÷ default", "÷ tuned", "full ÷"],
            [_change_row(item) for item in results["changes"]],
        )
    if growth := list(_growth_rows(results)):
        print("\nGrowth of a differential refresh with the base")
        _table(["query", "changes", "from rows", "to rows", "time"], growth)
    if found := results.get("no_change"):
        print("\nNo change, warm process: median milliseconds")
        rows = [
            ["one table", _milliseconds(found["refresh"]), f"{found['refresh']['jobs']:g}"],
            [
                f"refresh_all, {found['tables']} tables",
                _milliseconds(found["refresh_all"]),
                f"{found['refresh_all']['jobs']:g}",
            ],
        ]
        _table(["refresh", "ms", "jobs"], rows)
    if found := results.get("compile"):
        print("\nCompile time by join depth: milliseconds")
        rows = [
            [str(item["depth"]), f"{item['compile_ms']:.1f}", f"{item['delta_sql_ms']:.1f}"]
            for item in found
        ]
        _table(["tables", "compile", "delta SQL"], rows)
    print("\nBars")
    _table(["what", "found", "bar", "goal", "verdict"], [list(bar) for bar in bars(results)])


def save(results: Results, folder: Path) -> Path:
    """Write the results as JSON, under the time of the run and as the latest."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results | {"bars": [bar._asdict() for bar in bars(results)]}, indent=2)
    path = folder / f"{datetime.now(UTC):%Y%m%d-%H%M%S}.json"
    for target in (path, folder / "latest.json"):
        target.write_text(text + "\n", encoding="utf-8")
    return path


def _change_row(item: Results) -> list[str]:
    ours = item["differential"]["median_seconds"]
    return [
        item["query"],
        f"{item['rows']:,}",
        f"{item['changes']:,}",
        *(_cell(item[kind]) for kind in KINDS),
        f"{ours / item['merge default']['median_seconds']:.2f}",
        f"{ours / item['merge tuned']['median_seconds']:.2f}",
        f"{item['full']['median_seconds'] / ours:.1f}",
    ]


def _cell(series: Results) -> str:
    return f"{series['median_seconds']:.3f} ({series['jobs']:g}, {series['commits']:g})"


def _growth_rows(results: Results) -> list[list[str]]:
    found = results.get("changes", [])
    shown = []
    for small in found:
        for large in found:
            same = small["query"] == large["query"] and small["changes"] == large["changes"]
            if same and large["rows"] == 10 * small["rows"]:
                ratio = large["differential"]["median_seconds"]
                ratio /= small["differential"]["median_seconds"]
                sizes = [f"{small['rows']:,}", f"{large['rows']:,}"]
                shown.append([small["query"], f"{small['changes']:,}", *sizes, f"{ratio:.2f}×"])
    return shown


def _milliseconds(series: Results) -> str:
    return f"{1_000 * series['median_seconds']:.2f}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    lines = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    for line in lines:
        first, *rest = zip(line, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
        print("  " + "  ".join(cells).rstrip())
