"""Full or differential, and which way: a pure choice from facts, always with its reason.

    full       the query anew, in the place of all stored rows
    changes    what the changes do to the stored rows, by the rules of the compiler
    whole      the query anew, compared with the stored rows; only what differs is written

The last two are differential.  `whole` is the ceiling: where the tables are small or the query is
deep, following changes can take longer than the query itself.  What the last refreshes took tells;
now and then the slower way is tried again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streamtables.refresh.results import Reason

Way = Literal["full", "changes", "whole"]

_TRIED_AGAIN_AFTER = 20
"""How many refreshes by another way pass before changes are tried again."""
_SMALLER_BY = 4
"""A change that is this much smaller than the last one is worth another try."""
_WORTH_A_TRY = 0.7
"""The share of a full refresh's time from which on `whole` may be faster than changes."""
_WORTH_A_TRY_WHEN_COLD = 0.35
"""The same share of a first fill, which also makes the table and reads what nobody has read."""


@dataclass(frozen=True)
class Timing:
    """What one refresh took, and how many changed rows it had."""

    seconds: float
    rows: int = 0
    cold: bool = False
    """Whether it was a first fill, which takes longer than the same refresh later."""


@dataclass(frozen=True)
class Past:
    """The last refresh of each way; None for one that was not taken lately."""

    full: Timing | None = None
    changes: Timing | None = None
    whole: Timing | None = None
    since_changes: int = 0
    """How many refreshes came after the last one that followed changes."""


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
    """Whether the changes fit the driver."""
    comparable: bool = True
    """Whether all stored rows fit the driver."""
    whole_from_seconds: float = 1.0
    """What takes less is not worth another way."""
    past: Past = Past()


@dataclass(frozen=True)
class Decision:
    """The way that was chosen, and why."""

    way: Way
    reason: Reason

    @property
    def mode(self) -> Literal["full", "differential"]:
        """The mode as it is recorded."""
        return "full" if self.way == "full" else "differential"


def decide(facts: Facts) -> Decision:
    """Choose the way of one refresh."""
    if (must := _must_be_full(facts)) is not None:
        return Decision("full", must)
    if facts.small and facts.comparable and (faster := _whole_is_faster(facts)) is not None:
        return Decision("whole", Reason("whole-was-faster", faster))
    if facts.table_mode == "auto" and (cheaper := _full_is_cheaper(facts)) is not None:
        return Decision("full", cheaper)
    return Decision("changes", Reason("changes", _changes_text(facts)))


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


def _whole_is_faster(facts: Facts) -> str | None:
    """Say why the query is rather computed whole and compared; None when changes are followed."""
    changes = _lasting(facts)
    if changes is None or changes.seconds < facts.whole_from_seconds:
        return None
    took = f"{_changes_text(facts)}; following changes took {changes.seconds:.1f} s"
    if (whole := facts.past.whole) is not None:
        if whole.seconds >= changes.seconds:
            return None
        return f"{took}, computing the query and comparing {whole.seconds:.1f} s"
    full = facts.past.full
    if full is None:
        return None
    share = _WORTH_A_TRY_WHEN_COLD if full.cold else _WORTH_A_TRY
    if changes.seconds < share * full.seconds:
        return None
    return (
        f"{took}, a full refresh {full.seconds:.1f} s: computing the query and comparing is tried"
    )


def _lasting(facts: Facts) -> Timing | None:
    """Return what following changes took, unless that is long ago or says little of these."""
    past = facts.past.changes
    if past is None or facts.past.since_changes >= _TRIED_AGAIN_AFTER:
        return None
    far_smaller = (facts.changed_rows or 0) * _SMALLER_BY < past.rows
    return None if facts.small and far_smaller else past


def _full_is_cheaper(facts: Facts) -> Reason | None:
    changed, rows = facts.changed_rows, facts.source_rows
    if changed is not None and rows and not facts.small and changed > facts.full_threshold * rows:
        share = f"{changed:,} changed rows against {rows:,} in the changed sources"
        return Reason("large-change", f"{share}: recomputing is cheaper")
    full, last = facts.past.full, _lasting(facts)
    if full is None or last is None or (facts.small and facts.comparable):
        return None
    predicted = last.seconds
    if not facts.small:
        predicted *= (changed or 0) / last.rows if last.rows else 0.0
    if predicted <= full.seconds:
        return None
    return Reason(
        "full-was-faster",
        f"the last full refresh took {full.seconds:.1f} s, the changes would take "
        f"{predicted:.1f} s",
    )


def _changes_text(facts: Facts) -> str:
    if facts.changed_rows is None:
        return "changes since the last refresh"
    return f"{facts.changed_rows:,} changed rows since the last refresh"
