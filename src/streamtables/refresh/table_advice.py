"""Advice that follows from a table's choices and from its past refreshes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from streamtables.catalog.models import RefreshRecord, StreamTable
from streamtables.compiler import Plan
from streamtables.compiler.explaining.advice import Advice
from streamtables.refresh.costs import is_computed

_ENOUGH = 5
"""How many refreshes tell more than chance."""
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
