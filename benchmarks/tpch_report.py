"""The table of a TPC-H run: on the screen, as JSON, and in the page between its markers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

Results = dict[str, Any]
BEGIN, END = "<!-- TPCH -->", "<!-- /TPCH -->"


def lines(results: Results) -> list[str]:
    """Return the machine, the table and everything that was refused, as Markdown."""
    queries = results["queries"]
    differential = [item for item in queries if item["mode"] == "differential"]
    faster = [item for item in differential if _ratio(item) > 1]
    return [
        _conditions(results),
        "",
        "| query | mode | full, s | differential, s | full ÷ differential | result rows changed |",
        "|---|---|---|---|---|---|",
        *(_row(item) for item in queries),
        "",
        f"{len(differential)} of {len(queries)} queries follow changes; {len(faster)} of them "
        "faster than full.",
        *_remarks(queries),
    ]


def save(results: Results, folder: Path) -> None:
    """Write the results as JSON, under the time when the run started and as the latest."""
    folder.mkdir(parents=True, exist_ok=True)
    started = re.sub(r"[^0-9]", "", results["started_at"])
    for name in (f"tpch-{started}.json", "tpch-latest.json"):
        (folder / name).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def write_page(results: Results, page: Path) -> None:
    """Replace what stands between the markers of the page."""
    text = page.read_text(encoding="utf-8")
    between = re.compile(f"(?<={re.escape(BEGIN)}\n).*(?={re.escape(END)})", re.DOTALL)
    table = "\n".join(lines(results)) + "\n"
    page.write_text(between.sub(lambda _: table, text, count=1), encoding="utf-8")


def _conditions(results: Results) -> str:
    found = results["machine"]
    return (
        f"Median seconds, counted rounds: {results['rounds']}; scale factor {results['scale']:g}, "
        f"{100 * results['share']:g} % of each table changed per round"
        f"{', six nations renamed' if results['renamed_nations'] else ''}; "
        f"{found['cores']} cores ({found['processor']}), {found['memory_gb']:g} GB, load "
        f"{found['load_before']:g} before the run, local Spark {found['pyspark']}; "
        f"rows {'verified' if results['verified'] else 'not verified'} at the end."
    )


def _row(item: Results) -> str:
    cells = [str(item["query"]), _mode(item), _seconds(item["full_seconds"])]
    if item["differential_seconds"] is None:
        return f"| {' | '.join([*cells, '–', '–', '–'])} |"
    changed = sorted(item["rows_changed"])[len(item["rows_changed"]) // 2]
    cells += [_seconds(item["differential_seconds"]), f"{_ratio(item):.1f}", f"{changed:,}"]
    return f"| {' | '.join(cells)} |"


def _mode(item: Results) -> str:
    if item["refusal"]:
        return "refused"
    if item["error"]:
        return "failed"
    return "WRONG" if item["wrong"] else "differential"


def _remarks(queries: list[Results]) -> list[str]:
    """Say of each query that changes do not keep why not, in its own words."""
    told = [
        f"- query {item['query']} {_mode(item)}: "
        f"{item['refusal'] or item['error'] or 'its rows are not those of its query'}"
        for item in queries
        if _mode(item) != "differential"
    ]
    return ["", *told] if told else []


def _ratio(item: Results) -> float:
    ours = item["differential_seconds"]
    return float(item["full_seconds"] / ours) if ours else 0.0


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
