"""Results as JSON, and tables in pages of the documentation between their markers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.machine import machine

Results = dict[str, Any]


def conditions() -> Results:
    """Return the machine, and the time when a run starts."""
    return {"machine": machine(), "started_at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"}


def save(results: Results, folder: Path, stem: str) -> None:
    """Write the results as JSON, under the time when the run started and as the latest."""
    folder.mkdir(parents=True, exist_ok=True)
    started = re.sub(r"[^0-9]", "", results["started_at"])
    for name in (f"{stem}-{started}.json", f"{stem}-latest.json"):
        (folder / name).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def write_page(lines: Sequence[str], page: Path, marker: str) -> None:
    """Replace what stands between the markers of a page."""
    text = page.read_text(encoding="utf-8")
    begin, end = re.escape(f"<!-- {marker} -->\n"), re.escape(f"<!-- /{marker} -->")
    between = re.compile(f"(?<={begin}).*(?={end})", re.DOTALL)
    table = "\n".join(lines) + "\n"
    page.write_text(between.sub(lambda _: table, text, count=1), encoding="utf-8")


def mode(item: Results) -> str:
    """Return what became of a query: it follows changes, or why it does not."""
    if item["refusal"]:
        return "refused"
    if item["error"]:
        return "failed"
    return "WRONG" if item["wrong"] else "differential"


def remarks(items: Sequence[Results]) -> list[str]:
    """Say of each query that changes do not keep why not, and which were computed whole."""
    told = [
        f"- {item['name']} {mode(item)}: "
        f"{item['refusal'] or item['error'] or 'its rows are not those of its query'}"
        for item in items
        if mode(item) != "differential"
    ]
    told += [
        f"- {item['name']} computed whole and compared in the last round, which was faster"
        for item in items
        if item.get("whole")
    ]
    return ["", *told] if told else []


def ratio(item: Results) -> float:
    """Return how many times longer full takes; 0 where it was not compared."""
    ours = item["differential_seconds"]
    return float(item["full_seconds"] / ours) if ours else 0.0


def seconds(value: float | None) -> str:
    """Return a time to two digits."""
    return "–" if value is None else f"{value:.2f}"


def usual(values: Sequence[int]) -> str:
    """Return the middle of some counts."""
    return f"{sorted(values)[len(values) // 2]:,}"


def failed(items: Sequence[Results]) -> bool:
    """Whether a table differs from its query, or could not be refreshed."""
    return any(item["wrong"] or item["error"] for item in items)
