"""All sections of the page, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log

from benchmarks import medallion_report, refresh_report, second_process_report
from benchmarks.pages import Results
from benchmarks.performance.chart import Chart
from benchmarks.performance.section import Section, Shown, table

ONE_ROW = "make bench ARGS='--rows 1000000 10000000 --changes 1 --only join-aggregate --page'"
_KINDS: Mapping[str, str] = {
    "differential": "refresh",
    "merge tuned": "bare MERGE, tuned",
    "merge default": "bare MERGE",
    "full": "full refresh",
}


def refresh_section(results: Results) -> Shown:
    """Show every view at every rate, and the mean of all views."""
    found = refresh_report.outcomes(results)
    rates = sorted({item.rate for item in found})
    rows = []
    for rate in rates:
        some = [item for item in found if item.rate == rate]
        sides = {name: _mean([getattr(item, name) for item in some]) for name in _SIDES}
        rows.append((f"{refresh_report.rate_text(rate)} changed", sides))
    title = f"Seconds of a refresh, geometric mean of all views, scale {results['scale']:g}"
    name = f"refresh-scale-{results['scale']:g}".replace(".", "-")
    return Shown(refresh_report.lines(results), {name: Chart(title, rows).grouped()})


_SIDES = ("full", "differential", "auto")


def one_row(results: Results) -> Shown | None:
    """Show one changed row on the largest base against a bare MERGE."""
    items = _one_change(results)
    if not items:
        return None
    item = items[-1]
    seconds = {shown: item[kind]["median_seconds"] for kind, shown in _KINDS.items()}
    ours = seconds["refresh"]
    rows = [[name, f"{value:.3f}", f"{ours / value:.2f}×"] for name, value in seconds.items()]
    title = f"One changed row, join and aggregate over {item['rows']:,} rows"
    picture = Chart(title, [(name, {name: value}) for name, value in seconds.items()]).grouped()
    return Shown(table(["way", "seconds", "refresh ÷ way"], rows), {"one-row": picture})


def growth(results: Results) -> Shown | None:
    """Show the same change on a base ten times larger."""
    items = _one_change(results)
    pairs = [(a, b) for a in items for b in items if b["rows"] == 10 * a["rows"]]
    if not pairs:
        return None
    small, large = pairs[-1]
    rows = []
    for kind, shown in _KINDS.items():
        before, after = (item[kind]["median_seconds"] for item in (small, large))
        rows.append([shown, f"{before:.3f}", f"{after:.3f}", f"{after / before:.2f}×"])
    head = ["way", f"{small['rows']:,} rows", f"{large['rows']:,} rows", "growth"]
    return Shown(table(head, rows))


def steps(results: Results) -> Shown | None:
    """Show where a small refresh spends its time."""
    items = [item for item in _one_change(results) if item.get("steps")]
    if not items:
        return None
    bars = [(f"{item['rows']:,} rows", item["steps"]) for item in items]
    names = list(dict.fromkeys(name for _, taken in bars for name in taken))
    rows = [
        [label, *(f"{1_000 * taken.get(name, 0.0):.0f}" for name in names)] for label, taken in bars
    ]
    picture = Chart("Where one changed row spends its seconds", bars).stacked()
    return Shown(table(["base", *(f"{name}, ms" for name in names)], rows), {"steps": picture})


def _one_change(results: Results) -> list[Results]:
    found = [
        item
        for item in results.get("changes", ())
        if item["query"] == "join-aggregate" and item["changes"] == 1
    ]
    return sorted(found, key=lambda item: int(item["rows"]))


def _mean(values: list[float]) -> float:
    return exp(sum(log(value) for value in values) / len(values))


_REFRESH = """
Twenty views on the tables of TPC-H, ten plain shapes and ten of its queries, each in three
warehouses on one Spark: mode `full`, changes always followed, and mode `auto`. Orders and lines
change: four rows in five are updated, the others deleted and put back in the next round. Rates come
in random order, without a warm-up of their own, and the three sides in random order too. At the end
every table is recomputed and compared.
"""
_ONE_ROW = """
A join of two tables, aggregated into 1,000 groups; one row of the large one changes. The MERGE gets
the rows of the result ready-made and only writes them: a floor for any refresh that commits through
Spark.
"""
_STEPS = """
The steps of the record, as medians; `other` is the look at the sources, the record and the catalog.
"""

SECTIONS = (
    Section(
        "Mode auto, scale 0.1", _REFRESH, "refresh_scale_0.1", "make bench-refresh", refresh_section
    ),
    Section(
        "Mode auto, scale 1",
        "The same on ten times the rows.",
        "refresh_scale_1",
        "make bench-refresh ARGS='--scale 1 --rate 0 0.001 0.1 --rounds 3'",
        refresh_section,
    ),
    Section(
        "Fifteen tables that stand on each other",
        medallion_report.ABOUT,
        "medallion",
        "make bench-medallion",
        medallion_report.section,
    ),
    Section(
        "One row against a bare MERGE",
        _ONE_ROW,
        "one_row",
        ONE_ROW,
        one_row,
    ),
    Section(
        "Growth with the base",
        "The same change where the large table has ten times the rows.",
        "one_row",
        ONE_ROW,
        growth,
    ),
    Section(
        "Where a small refresh spends its time",
        _STEPS,
        "one_row",
        ONE_ROW,
        steps,
    ),
    Section(
        "A process that starts",
        second_process_report.ABOUT,
        "second_process",
        "make bench-second-process",
        second_process_report.section,
    ),
)
