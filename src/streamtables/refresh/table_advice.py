"""Advice that follows from a table's choices and from its past refreshes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from streamtables.catalog.models import JsonValue, RefreshRecord, StreamTable
from streamtables.compiler import Plan
from streamtables.compiler.explaining.advice import Advice
from streamtables.compiler.maintenance.groups_apart import groups_apart
from streamtables.compiler.plan_text import describe
from streamtables.refresh.costs import is_computed
from streamtables.refresh.internal_tables import FOLLOWED
from streamtables.refresh.looked_up import FIND

_ENOUGH = 5
"""How many refreshes tell more than chance."""
_MANY_ROWS = 20_000
"""Finding more rows than these takes longer than to keep groups in a table of their own."""
_BY_CHOICE = frozenset({"first-fill", "forced", "query-changed", "mode-full", "not-incremental"})
"""Reasons of full refreshes that say nothing about the cost of changes."""
_ACTIONS = {
    "large-change": "Refresh more often, or raise full_threshold, so that changes are followed.",
    "full-was-faster": "See the cost of a change above; mode 'full' saves looking at changes.",
    "rebuild": "Keep the history of the sources for longer than the time between two refreshes, "
    "and alter them in place.",
}


def table_advice(
    plan: Plan, table: StreamTable, history: Sequence[RefreshRecord]
) -> Iterator[Advice]:
    """Say what another choice, or another habit, would save."""
    if plan.refusals and table.mode == "auto" and table.full_policy == "forbid":
        yield Advice(
            "full-forbidden",
            "Alter the table with full='allow', or rewrite the part that is refused.",
            "the query needs full refreshes, and the table forbids them, so no refresh after the "
            "first can run",
        )
    if plan.incremental and table.mode == "full":
        yield Advice(
            "mode-full",
            "Alter the table with mode='auto'.",
            "its query could be maintained from changes, and mode 'full' computes it anew",
        )
    yield from _often_full(history)
    yield from _large_groups(plan, table, history)


def _large_groups(
    plan: Plan, table: StreamTable, history: Sequence[RefreshRecord]
) -> Iterator[Advice]:
    """Name the option that keeps groups where changes have most of their rows read again."""
    if not plan.incremental or plan.apart or table.mode not in FOLLOWED:
        return
    groups = groups_apart(plan.definition)
    looks = [step.facts for record in history for step in record.steps if step.name == FIND]
    reads = sum("declined" in facts or _rows(facts) > _MANY_ROWS for facts in looks)
    if groups and len(looks) >= _ENOUGH and 2 * reads > len(looks):
        shown = "; ".join(f'"{describe(item.node)}"' for item in groups)
        yield Advice(
            "store-groups",
            "Set the option store_groups.",
            f"{reads} of the last {len(looks)} refreshes by changes read more than {_MANY_ROWS:,} "
            f"rows, or whole tables, and groups below another operator are computed again: {shown}",
        )


def _rows(facts: Mapping[str, JsonValue]) -> int:
    rows = facts.get("rows", 0)
    return rows if isinstance(rows, int) else 0


def _often_full(history: Sequence[RefreshRecord]) -> Iterator[Advice]:
    refreshes = [record for record in history if is_computed(record)]
    reasons = Counter(
        record.reason_code
        for record in refreshes
        if record.mode == "full" and record.reason_code not in _BY_CHOICE
    )
    if len(refreshes) < _ENOUGH or 2 * reasons.total() < len(refreshes):
        return
    (code, _), *_ = reasons.most_common(1)
    if code in _ACTIONS:
        share = f"{reasons.total()} of the last {len(refreshes)} refreshes computed everything"
        text = next(record.reason_text for record in refreshes if record.reason_code == code)
        yield Advice("often-full", _ACTIONS[code], f"{share}, the last one because {text}")
