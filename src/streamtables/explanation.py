"""How a query is maintained, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import RefreshRecord, StreamTable
from streamtables.compiler import Plan
from streamtables.compiler.explain import explain_data, explain_text
from streamtables.compiler.explaining.picture import RowCounts, picture
from streamtables.compiler.explaining.report import report_of, section
from streamtables.compiler.maintenance import Limits
from streamtables.refresh.past_report import changed_rows, past_data, past_lines, told_by
from streamtables.refresh.table_advice import table_advice


@dataclass(frozen=True)
class Explanation:
    """The same facts as text, as data that JSON can hold, and as a picture."""

    text: str
    data: dict[str, object] = field(default_factory=dict, hash=False)
    svg: str = ""
    """The plan as a picture that a browser shows."""


def explain_query(plan: Plan, definitions: Definitions, limits: Limits) -> Explanation:
    """Explain a query that nothing stores yet."""
    report = report_of(plan, limits, _sources(definitions))
    return Explanation(
        explain_text(plan, report), explain_data(plan, report), picture(plan, "the query")
    )


def explain_table(
    plan: Plan,
    table: StreamTable,
    definitions: Definitions,
    limits: Limits,
    history: Sequence[RefreshRecord],
) -> Explanation:
    """Explain the query of a table, the choices made for it, and its last refreshes."""
    report = report_of(plan, limits, _sources(definitions))
    more = tuple(table_advice(plan, table, history))
    report = replace(report, advice=report.advice + more)
    chosen = {"table": table.name, "mode": table.mode, "full": table.full_policy}
    head = f"stream table {table.name}  mode {table.mode}  full {table.full_policy}"
    past = past_lines(history)
    text = explain_text(plan, report, [section("last refresh", past)] if past else [])
    return Explanation(
        f"{head}\n{text}",
        explain_data(plan, report) | chosen | {"past": past_data(history)},
        picture(plan, table.name, _rows(history)),
    )


def _sources(definitions: Definitions) -> frozenset[str]:
    """Return the names of the tables whose key a person declares."""
    return frozenset(item.name for item in definitions.sources.values() if item.kind == "delta")


def _rows(history: Sequence[RefreshRecord]) -> RowCounts:
    last = told_by(history)
    if last is None:
        return RowCounts()
    return RowCounts(changed_rows(last), last.rows_inserted, last.rows_deleted)
