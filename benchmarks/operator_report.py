"""The table of a run over all operators, as Markdown."""

from __future__ import annotations

from statistics import median

from benchmarks.machine import machine_text
from benchmarks.pages import Results, mode, ratio, remarks, seconds, usual

SLOW = 1.1
"""Below this ratio, following changes is hardly worth it."""


def lines(results: Results) -> list[str]:
    """Return the machine, the table, the summary and everything that was refused."""
    items = results["items"]
    return [
        _conditions(results),
        "",
        "| operator | kind | kept by | full, s | differential, s | full ÷ differential "
        "| result rows | rows changed |",
        "|---|---|---|---|---|---|---|---|",
        *(_row(item) for item in items),
        "",
        summary(items),
        *remarks(items),
    ]


def summary(items: list[Results]) -> str:
    """Return the slowest and the middle ratio, and how many are hardly faster than full."""
    measured = sorted((ratio(item), item["name"]) for item in items if ratio(item))
    if not measured:
        return "Nothing was compared."
    slow = sum(found < SLOW for found, _ in measured)
    return (
        f"Slowest: {measured[0][0]:.2f}× ({measured[0][1]}); median "
        f"{median(found for found, _ in measured):.1f}×; {slow} of {len(measured)} below {SLOW}×."
    )


def _conditions(results: Results) -> str:
    return (
        f"Median seconds, counted rounds: {results['rounds']}; {results['source_rows']:,} rows, "
        f"{results['changes']:,} of them changed per round; {machine_text(results['machine'])}; "
        f"rows {'verified' if results['verified'] else 'not verified'} at the end."
    )


def _row(item: Results) -> str:
    form = item["form"].replace("-", " ") if mode(item) == "differential" else mode(item)
    cells = [item["name"].replace("_", " "), ", ".join(item["kinds"]) or "linear", form]
    cells.append(seconds(item["full_seconds"]))
    if item["differential_seconds"] is None:
        return f"| {' | '.join([*cells, '–', '–', '–', '–'])} |"
    cells += [seconds(item["differential_seconds"]), f"{ratio(item):.2f}"]
    cells += ["–" if item["rows"] is None else f"{item['rows']:,}", usual(item["rows_changed"])]
    return f"| {' | '.join(cells)} |"
