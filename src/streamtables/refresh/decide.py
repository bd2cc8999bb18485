"""Full or differential, and which way: a pure choice from facts, always with its reason.

    full       the query anew, in the place of all stored rows
    changes    what the changes do to the stored rows, by the rules of the compiler
    merge      the same, computed and written by Spark, for changes that are too many otherwise
    whole      the query anew, compared with the stored rows; only what differs is written

All but the first are differential.  Where several are open, the one that is predicted to take the
least is taken.  `whole` is the ceiling: where tables are small or the query is deep, following
changes can take longer than the query itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from streamtables.catalog.definition_changes import QUERY_CHANGED
from streamtables.refresh.cost_model import Prediction, Way, bounded
from streamtables.refresh.results import Reason

_FASTER_BY = 0.9
"""Another way than by changes has to take less than this share of their time."""
_FAR = 1.5
"""What changes that reach far are taken to need while untried: so many times the best other way."""
_EXPLORED_UP_TO = 2.0
"""A way that is predicted to take more than this many times the best one is never tried out."""


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
    full_allowed: bool = True
    """Whether a full refresh may be chosen because it is faster."""
    changed_rows: int | None = None
    source_rows: int | None = None
    full_threshold: float = 0.3
    small: bool = True
    """Whether the changes fit the driver."""
    reaches_far: bool = False
    """Whether they name more rows of the tables than can be looked up."""
    choose_from_seconds: float = 0.5
    """What takes less is not worth another way."""
    predicted: Mapping[Way, Prediction] = field(default_factory=dict, hash=False)
    """What each way that is open would take; nothing while too little is known."""
    untried: Mapping[Way, int] = field(default_factory=dict, hash=False)
    """How many refreshes ago each way was last taken."""
    explore_after: int = 20
    """After how many refreshes another way is tried out again; 0 for never."""


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
    changes: Way = "changes" if facts.small else "merge"
    followed = Decision(changes, Reason("changes", _changes_text(facts)))
    if changes not in facts.predicted:
        return _by_share(facts) or followed
    if facts.predicted[changes].seconds < facts.choose_from_seconds:
        return followed
    return _by_prediction(facts, changes) or followed


def _must_be_full(facts: Facts) -> Reason | None:
    if not facts.filled:
        return Reason("first-fill", "the table has no rows yet")
    if facts.forced_full:
        return Reason("forced", "a full refresh was asked for")
    if facts.query_changed:
        return Reason("query-changed", _altered_text(facts))
    if facts.rebuild is not None:
        return Reason("rebuild", facts.rebuild)
    if facts.table_mode == "full":
        return Reason("mode-full", "the table's mode is full")
    if facts.refusal is not None:
        return Reason("not-incremental", facts.refusal)
    return None


def _altered_text(facts: Facts) -> str:
    """Say what was altered: the query itself, or what the table reads."""
    if facts.rebuild is None or facts.rebuild == QUERY_CHANGED:
        return "the query was altered since the last refresh"
    return facts.rebuild


def _by_share(facts: Facts) -> Decision | None:
    """Choose by the share of rows that changed, where nothing better is known."""
    changed, rows = facts.changed_rows, facts.source_rows
    if facts.small or changed is None or not rows or not _may_be_full(facts):
        return None
    if changed <= facts.full_threshold * rows:
        return None
    share = f"{changed:,} changed rows against {rows:,} in the changed sources"
    return Decision("full", Reason("large-change", f"{share}: recomputing is cheaper"))


def _by_prediction(facts: Facts, changes: Way) -> Decision | None:
    """Choose the way that is predicted to take the least; None where that is by changes."""
    taken = _open_ways(facts, changes)
    best = min(taken, key=lambda way: taken[way] if way == changes else taken[way] / _FASTER_BY)
    explored = _worth_a_try(facts, taken, best)
    if explored is not None:
        text = f"{_compared(facts, taken)}; not taken for long, so it is measured again"
        return Decision(explored, Reason("explored", text))
    if best == changes:
        return None
    return Decision(best, Reason(f"{best}-was-faster", _compared(facts, taken)))


def _open_ways(facts: Facts, changes: Way) -> dict[Way, float]:
    """Return what each way that may be taken is predicted to take."""
    full = facts.predicted.get("full")
    found: dict[Way, float] = {}
    for way, guess in facts.predicted.items():
        if way == "full" and not _may_be_full(facts):
            continue
        if way in (changes, "full", "whole"):
            found[way] = (bounded(guess, full) if full else guess).seconds
    others = [seconds for way, seconds in found.items() if way != changes]
    if facts.reaches_far and others and not facts.predicted[changes].like:
        # Rates are those of changes that reach little; what these take is seen at the first try.
        found[changes] = max(found[changes], _FAR * min(others))
    return found


def _may_be_full(facts: Facts) -> bool:
    return facts.table_mode == "auto" and facts.full_allowed


def _worth_a_try(facts: Facts, taken: Mapping[Way, float], best: Way) -> Way | None:
    """Return a way that was not taken for so long that its time is no longer known."""
    if not facts.explore_after:
        return None
    for way, seconds in taken.items():
        long_ago = facts.untried.get(way, 0) >= facts.explore_after
        if way != best and long_ago and seconds <= _EXPLORED_UP_TO * taken[best]:
            return way
    return None


def _compared(facts: Facts, taken: Mapping[Way, float]) -> str:
    ways = ", ".join(f"{_WORDS[way]} {seconds:.1f} s" for way, seconds in taken.items())
    return f"{_changes_text(facts)}; predicted: {ways}"


_WORDS: Mapping[Way, str] = {
    "changes": "following them",
    "merge": "merging them",
    "whole": "computing the query and comparing",
    "full": "a full refresh",
}


def _changes_text(facts: Facts) -> str:
    if facts.changed_rows is None:
        return "changes since the last refresh"
    return f"{facts.changed_rows:,} changed rows since the last refresh"
