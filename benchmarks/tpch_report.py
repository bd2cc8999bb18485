"""The table of a TPC-H run, as Markdown."""

from __future__ import annotations

from benchmarks.machine import machine_text
from benchmarks.pages import Results, mode, ratio, remarks, seconds, usual


def lines(results: Results) -> list[str]:
    """Return the machine, the table and everything that was refused, as Markdown."""
    queries = results["items"]
    differential = [item for item in queries if item["mode"] == "differential"]
    faster = [item for item in differential if ratio(item) > 1]
    return [
        _conditions(results),
        "",
        "| query | mode | full, s | differential, s | full ÷ differential | result rows changed |",
        "|---|---|---|---|---|---|",
        *(_row(item) for item in queries),
        "",
        f"{len(differential)} of {len(queries)} queries follow changes; {len(faster)} of them "
        "faster than full.",
        *remarks(queries),
    ]


def _conditions(results: Results) -> str:
    return (
        f"Median seconds, counted rounds: {results['rounds']}; scale factor {results['scale']:g}, "
        f"{100 * results['share']:g} % of each table changed per round"
        f"{', six nations renamed' if results['renamed_nations'] else ''}; "
        f"{machine_text(results['machine'])}; "
        f"rows {'verified' if results['verified'] else 'not verified'} at the end."
    )


def _row(item: Results) -> str:
    cells = [_number(item), mode(item), seconds(item["full_seconds"])]
    if item["differential_seconds"] is None:
        return f"| {' | '.join([*cells, '–', '–', '–'])} |"
    ours = seconds(item["differential_seconds"])
    cells += [ours, f"{ratio(item):.1f}", usual(item["rows_changed"])]
    return f"| {' | '.join(cells)} |"


def _number(item: Results) -> str:
    """Return the number of a query in the specification."""
    return str(int(item["name"].removeprefix("q")))
