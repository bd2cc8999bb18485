"""A compiled plan for people (text) and for programs (data that JSON can hold)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from streamtables.compiler.algebra import TopK
from streamtables.compiler.algebra.node import FORMS_AT_MOST, is_changed_whole
from streamtables.compiler.explaining.report import (
    Report,
    report_data,
    report_of,
    report_sections,
    section,
)
from streamtables.compiler.explaining.strategies import why_no_state
from streamtables.compiler.maintenance.forms import Maintenance
from streamtables.compiler.plan_text import describe, plan_lines, plan_tree

if TYPE_CHECKING:
    from streamtables.compiler.plan import Plan, Refusal

__all__ = ["explain_data", "explain_text", "plan_tree"]


def explain_text(plan: Plan, report: Report | None = None, more: Iterable[str] = ()) -> str:
    """Return how a query is maintained, operator by operator, with its refusals and delta SQL.

    `more` are further sections; they come before the delta SQL, which is long.
    """
    parts = [_heading(plan)]
    if plan.root is not None:
        parts.append(section("plan", plan_tree(plan.definition).splitlines()))
    parts += [_refusal_text(refusal) for refusal in plan.refusals]
    parts += [f"note: {note}" for note in plan.notes]
    parts += report_sections(report or report_of(plan))
    parts += more
    if plan.incremental:
        parts.append(section("delta SQL", plan.delta_sql().splitlines()))
    return "\n\n".join(parts)


def explain_data(plan: Plan, report: Report | None = None) -> dict[str, object]:
    """Return the same facts as plain values."""
    data: dict[str, object] = {
        "query": plan.sql,
        "tables": list(plan.tables),
        "incremental": plan.incremental,
        "output": [{"name": name, "type": str(type_)} for name, type_ in plan.output],
        "key": plan.key,
        "refusals": [_refusal_data(refusal) for refusal in plan.refusals],
        "notes": list(plan.notes),
    }
    if plan.used:
        data["through"] = [{"kind": entry.kind, "name": entry.name} for entry in plan.used]
    if plan.root is not None:
        data["columns_read"] = {table: list(names) for table, names in plan.columns_read.items()}
        data["operators"] = [
            {
                "operator": line.operator,
                "kind": line.kind,
                "detail": line.detail,
                "depth": line.depth,
            }
            for line in plan_lines(plan.definition)
        ]
    data |= report_data(report or report_of(plan))
    if plan.incremental:
        data["form"] = plan.maintenance.form
        data["form_reason"] = form_reason(plan.maintenance)
        data["stored_columns"] = list(plan.maintenance.layout.columns)
        data["delta_sql"] = plan.delta_sql()
    if plan.groups:
        data["apart"] = [
            {"table": name, "groups": describe(item.node)} for name, item in plan.groups.items()
        ]
    return data


def form_reason(maintenance: Maintenance) -> str:
    """Return why a stored table is kept in the form it is."""
    if is_changed_whole(maintenance.changed_relation):
        return (
            f"the rules would make more than {FORMS_AT_MOST:,} forms of this query, so the whole "
            "result is computed before and after, and subtracted"
        )
    if maintenance.chain is None:
        return "no aggregate or DISTINCT stands at the root, so the changed rows are computed"
    if maintenance.state is not None:
        if maintenance.state.may_lose:
            return (
                "sums and counts add up, least and greatest values improve; groups whose state "
                "does not tell them any more are computed again, and all touched groups when a "
                "change is too large for the driver"
            )
        return "every aggregate at the root follows from sums and counts, which add up"
    if maintenance.first is not None:
        return (
            "the first rows follow from those that are stored and those that changed; they are "
            "taken from all rows where too many of the first went"
        )
    if isinstance(maintenance.chain.keyed, TopK):
        return "the first rows are taken again, and compared with those that are stored"
    return f"groups that changed are computed again: {why_no_state(maintenance)}"


def _heading(plan: Plan) -> str:
    output = ", ".join(f"{name} {type_}" for name, type_ in plan.output) or "known to Spark alone"
    lines = [f"output    {output}"]
    if plan.root is not None:
        lines.append(f"key       {_key_text(plan.key)}")
    if plan.incremental:
        form = plan.maintenance.form.replace("-", " ")
        lines.append(f"kept by   {form}: {form_reason(plan.maintenance)}")
    else:
        lines.append("kept by   full refreshes")
    lines.append(f"reads     {', '.join(plan.tables) or 'nothing'}")
    for name, groups in plan.groups.items():
        lines.append(f"apart     {describe(groups.node)}, stored in {name}")
    if plan.used:
        lines.append(f"through   {', '.join(f'{entry.kind} {entry.name}' for entry in plan.used)}")
    return "\n".join(lines)


def _key_text(key: list[str] | None) -> str:
    if key is None:
        return "none: equal rows are counted"
    return ", ".join(key) or "one row"


def _refusal_text(refusal: Refusal) -> str:
    place = [f"  {line}" for line in refusal.place.splitlines()]
    lines = [f"refused[{refusal.code}]: {refusal.message}", *place]
    lines += [refusal.reason, f"hint: {refusal.hint}" if refusal.hint else ""]
    return "\n".join(line for line in lines if line)


def _refusal_data(refusal: Refusal) -> dict[str, object]:
    span = refusal.span
    line, column = span.line_and_column(refusal.sql) if span else (None, None)
    return {
        "code": refusal.code,
        "message": refusal.message,
        "reason": refusal.reason,
        "hint": refusal.hint,
        "place": refusal.place,
        "line": line,
        "column": column,
    }
