"""All that a plan says about itself, gathered once, as data and as sections of text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from streamtables.compiler.algebra import CLOCK_TABLE
from streamtables.compiler.explaining.advice import Advice, advice
from streamtables.compiler.explaining.complexity import Cost, cost_of_change
from streamtables.compiler.explaining.strategies import (
    AggregateStrategy,
    JoinStrategy,
    aggregate_strategies,
    join_strategies,
)
from streamtables.compiler.explaining.thresholds import Threshold, thresholds
from streamtables.compiler.maintenance import Limits
from streamtables.compiler.rewrites.mark_unchanged import tables_below

if TYPE_CHECKING:
    from streamtables.compiler.plan import Plan

CLOCK_SHOWN = "the clock"


@dataclass(frozen=True)
class Report:
    """Strategies, costs, thresholds and advice of one plan."""

    joins: tuple[JoinStrategy, ...] = ()
    aggregates: tuple[AggregateStrategy, ...] = ()
    costs: tuple[tuple[str, Cost], ...] = ()
    """What a change of each table costs, by its name."""
    thresholds: tuple[Threshold, ...] = ()
    advice: tuple[Advice, ...] = ()


def report_of(
    plan: Plan, limits: Limits | None = None, sources: Collection[str] | None = None
) -> Report:
    """Gather what there is to say; without limits, nothing is said about thresholds."""
    if not plan.incremental:
        whole = Cost("O(whole)", "every refresh computes the whole query")
        costs = tuple((name, whole) for name in plan.tables)
        return Report(costs=costs, advice=tuple(advice(plan, sources=sources)))
    kept = plan.maintenance
    found = thresholds(kept, limits) if limits is not None else ()
    return Report(
        joins=tuple(join_strategies(kept.definition)),
        aggregates=tuple(_aggregates(plan)),
        costs=_costs(plan),
        thresholds=found,
        advice=(*advice(plan, sources=sources), *_against_crossing(found)),
    )


def _against_crossing(found: Iterable[Threshold]) -> Iterator[Advice]:
    """Return what helps against each limit that a query crosses."""
    for item in found:
        if item.crossed:
            reason = f"{item.name} is {item.limit:,}, and the query has {item.value:,}"
            yield Advice("threshold-crossed", item.advice, reason)


def _costs(plan: Plan) -> tuple[tuple[str, Cost], ...]:
    tables = [(name, name) for name in plan.tables]
    tables += [(CLOCK_SHOWN, CLOCK_TABLE)] if plan.reads_clock else []
    return tuple((shown, _cost(plan, name)) for shown, name in tables)


def _cost(plan: Plan, table: str) -> Cost:
    """Return what a change of a table costs; one of groups apart, what these cost in turn too."""
    found = cost_of_change(plan.maintenance, table)
    for name, groups in plan.groups.items():
        if table in tables_below(groups.node):
            above = cost_of_change(plan.maintenance, name)
            found = found.or_worse(cost_of_change(groups.maintenance, table)).or_worse(above)
    return found


def _aggregates(plan: Plan) -> Iterator[AggregateStrategy]:
    """Yield how each aggregate is kept, those that are stored apart after the others."""
    yield from aggregate_strategies(plan.maintenance)
    for groups in plan.groups.values():
        yield from aggregate_strategies(groups.maintenance)


def report_data(report: Report) -> dict[str, object]:
    """Return a report as plain values."""
    return {
        "joins": [asdict(item) for item in report.joins],
        "aggregates": [asdict(item) for item in report.aggregates],
        "complexity": [
            {"source": name, "class": cost.cost, "reason": cost.reason}
            for name, cost in report.costs
        ],
        "thresholds": [{**asdict(item), "crossed": item.crossed} for item in report.thresholds],
        "advice": [asdict(item) for item in report.advice],
    }


def report_sections(report: Report) -> list[str]:
    """Return the sections of a report that have something to say."""
    sections = {
        "joins": [line for item in report.joins for line in _join_lines(item)],
        "aggregates": [line for item in report.aggregates for line in _aggregate_lines(item)],
        "cost of a change": _aligned((name, cost.cost, cost.reason) for name, cost in report.costs),
        # What a query has none of needs no line.
        "thresholds": _aligned(_threshold_cells(item) for item in report.thresholds if item.value),
        "advice": [line for item in report.advice for line in (item.text, f"  {item.reason}")],
    }
    return [section(name, lines) for name, lines in sections.items() if lines]


def section(heading: str, lines: Iterable[str]) -> str:
    """Return lines under a heading."""
    return "\n".join([heading, *(f"  {line}".rstrip() for line in lines)])


def _join_lines(join: JoinStrategy) -> list[str]:
    terms = "1 term" if join.terms == 1 else f"{join.terms} terms"
    way = join.way.replace("-", " ")
    met = _aligned((item.name, item.met) for item in join.inputs)
    head = f"{join.operator} {join.condition}: {way}, {terms} when every table changes"
    return [head, f"  {join.reason}", *(f"  {line}" for line in met)]


def _aggregate_lines(item: AggregateStrategy) -> list[str]:
    groups = f" by {', '.join(item.groups)}" if item.groups else ""
    float_rule = "" if item.exact else "; its last digits depend on the order of rows"
    head = f"{item.call}{groups}: {item.way.replace('-', ' ')}"
    return [head, f"  {item.reason}{float_rule}"]


def _threshold_cells(item: Threshold) -> tuple[str, ...]:
    state = "crossed" if item.crossed else "within"
    return item.name, f"{item.value:,} of {item.limit:,}", state, item.effect


def _aligned(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return rows of cells as lines in which columns begin at one place."""
    listed = list(rows)
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in listed
    ]
