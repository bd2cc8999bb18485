"""What the benchmarks of PostgreSQL sources share: bars, tables on the screen, results as JSON."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.bars import Bar
from benchmarks.machine import machine_text
from benchmarks.options import RESULTS
from benchmarks.pages import Results, save

_EVENT = re.compile(
    r"^ *(insert|update|delete|together) +[\d.]+ +[\d.]+ +ms +([\d.]+)× *([\d.]+)× *([\d.]+)×", re.M
)
_RATE = re.compile(r"fetch, decode, type .* ([\d,]+) changes/s \(bar")
_RATIO = re.compile(r"ratio to the server +([\d.]+)")
_PEAK = re.compile(r"([\d,]+) changes in fetches of .* peak (\d+) MB \((\d+) MB after ([\d,]+)\)")


def at_most(what: str, ratio: float, bar: float, goal: float | None = None) -> Bar:
    """Return a bar that a ratio must not pass."""
    met = ratio <= bar
    verdict = "goal met" if goal is not None and ratio <= goal else "met" if met else "missed"
    asked = "" if goal is None else f"≤ {goal:g}×"
    return Bar(what, f"{ratio:.2f}×", f"≤ {bar:g}×", asked, verdict)


def at_least(what: str, found: float, bar: float, unit: str) -> Bar:
    """Return a bar that a count must reach."""
    verdict = "met" if found >= bar else "missed"
    return Bar(what, f"{found:,.0f} {unit}", f"≥ {bar:,.0f} {unit}", "", verdict)


def stays_bounded(what: str, later: float, before: float, ratio: float, small: float) -> Bar:
    """Return a bar against a time in seconds that grows; one that stays small may."""
    met = later < small or later <= ratio * before
    found, bar = f"{later:.2f} s ÷ {before:.2f} s", f"≤ {ratio:g}×, or below {small:g} s"
    return Bar(what, found, bar, "", "met" if met else "missed")


def is_so(what: str, holds: bool, found: str = "") -> Bar:
    """Return a bar that is a matter of right or wrong."""
    return Bar(what, found or ("yes" if holds else "no"), "yes", "", "met" if holds else "WRONG")


def only_shown(what: str, found: str) -> Bar:
    """Return a figure for which no bar is set."""
    return Bar(what, found, "–", "", "shown")


def add_results_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that every benchmark has."""
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the JSON goes")


def report(results: Results, bars: Iterable[Bar], folder: Path, stem: str) -> int:
    """Show the bars and save everything; 1 when a result is wrong."""
    found = list(bars)
    save(results | {"bars": [bar._asdict() for bar in found]}, folder, stem)
    print("\nBars")
    show_bars(found)
    print(f"{machine_text(results['machine'])}; saved in {folder}")
    return 1 if any(bar.verdict == "WRONG" for bar in found) else 0


def show_bars(bars: Iterable[Bar]) -> None:
    """Print a table of bars."""
    show_table(["what", "found", "bar", "goal", "verdict"], [list(bar) for bar in bars])


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, its first column to the left and the others to the right."""
    lines = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    for line in lines:
        first, *rest = zip(line, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
        print("  " + "  ".join(cells).rstrip(), flush=True)


def page_lines(results: Results, command: str) -> list[str]:
    """Return the machine, the command and the table of bars, as Markdown."""
    rows = [bar for part in results["parts"] for bar in part["bars"]]
    return [
        f"{machine_text(results['machine'])}; `{command}`.",
        "",
        "| what | found | bar | verdict |",
        "|---|---|---|---|",
        *(f"| {b['what']} | {b['found']} | {b['bar']} | {b['verdict']} |" for b in rows),
    ]


def writer_bars(text: str) -> Iterator[Bar]:
    """Read the bars out of what `postgres_writer` prints."""
    from benchmarks.postgres_writer import TIME_BAR, TIME_GOAL, WAL_BAR

    found = {event: (float(t), float(w)) for event, t, _, w in _EVENT.findall(text)}
    events = [event for event in found if event != "together"]
    if "together" not in found or len(events) != 3:
        raise ValueError("the benchmark of writers printed no result")
    for place, name, bar, goal in ((0, "time", TIME_BAR, TIME_GOAL), (1, "WAL", WAL_BAR, None)):
        worst = max(events, key=lambda event: found[event][place])
        what = f"a captured writer, one statement: {name} ({worst}, the worst)"
        yield at_most(what, found[worst][place], bar, goal)
        yield at_most(
            f"… insert, update and delete together: {name}", found["together"][place], bar, goal
        )


def decode_bars(text: str) -> Iterator[Bar]:
    """Read the bars out of what `postgres_decode` prints."""
    from benchmarks.postgres_decode import MAX_MEMORY, MAX_RATIO, MIN_RATE

    rate, ratio, peak = _RATE.search(text), _RATIO.search(text), _PEAK.search(text)
    if rate is None or ratio is None or peak is None:
        raise ValueError("the benchmark of decoding printed no result")
    count = float(rate.group(1).replace(",", ""))
    yield at_least("changes of the WAL as typed columns", count, MIN_RATE, "changes/s")
    what = "… against what the server needs to give them out"
    yield at_most(what, float(ratio.group(1)), MAX_RATIO)
    many, high, low, few = peak.groups()
    what = f"… the most memory, {many} changes against {few}"
    yield at_most(what, int(high) / int(low), MAX_MEMORY)
