"""Full or differential: a pure choice from facts, always with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streamtables.refresh.results import Reason


@dataclass(frozen=True)
class Facts:
    """What is known before a refresh computes anything."""

    table_mode: str
    filled: bool
    forced_full: bool = False
    query_changed: bool = False
    refusal: str | None = None
    rebuild: str | None = None
    """Why changes alone cannot lead on: lost history, a source made anew, …"""
    changed_rows: int | None = None
    source_rows: int | None = None
    full_threshold: float = 0.3
    small: bool = True
    last_full_seconds: float | None = None
    last_differential_seconds: float | None = None
    last_differential_rows: int = 0


@dataclass(frozen=True)
class Decision:
    """The way that was chosen, and why."""

    mode: Literal["full", "differential"]
    reason: Reason


def decide(facts: Facts) -> Decision:
    """Choose the way of one refresh."""
    if (must := _must_be_full(facts)) is not None:
        return Decision("full", must)
    if facts.table_mode == "auto" and (cheaper := _full_is_cheaper(facts)) is not None:
        return Decision("full", cheaper)
    return Decision("differential", Reason("changes", _changes_text(facts)))


def _must_be_full(facts: Facts) -> Reason | None:
    if not facts.filled:
        return Reason("first-fill", "the table has no rows yet")
    if facts.forced_full:
        return Reason("forced", "a full refresh was asked for")
    if facts.query_changed:
        return Reason("query-changed", "the query was altered since the last refresh")
    if facts.rebuild is not None:
        return Reason("rebuild", facts.rebuild)
    if facts.table_mode == "full":
        return Reason("mode-full", "the table's mode is full")
    if facts.refusal is not None:
        return Reason("not-incremental", facts.refusal)
    return None


def _full_is_cheaper(facts: Facts) -> Reason | None:
    changed, rows = facts.changed_rows, facts.source_rows
    if changed is not None and rows and not facts.small and changed > facts.full_threshold * rows:
        share = f"{changed:,} changed rows against {rows:,} in the changed sources"
        return Reason("large-change", f"{share}: recomputing is cheaper")
    last_full, last = facts.last_full_seconds, facts.last_differential_seconds
    if facts.small or last_full is None or last is None or not facts.last_differential_rows:
        return None
    predicted = last * (changed or 0) / facts.last_differential_rows
    if predicted <= last_full:
        return None
    return Reason(
        "full-was-faster",
        f"the last full refresh took {last_full:.1f} s, the changes would take {predicted:.1f} s",
    )


def _changes_text(facts: Facts) -> str:
    if facts.changed_rows is None:
        return "changes since the last refresh"
    return f"{facts.changed_rows:,} changed rows since the last refresh"
