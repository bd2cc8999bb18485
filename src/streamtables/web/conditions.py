"""One word for how each table is, from its status and its lag; every page uses the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streamtables.answers import TableLag, TableStatus
from streamtables.web.facts import Facts

Word = Literal["fresh", "behind", "unfilled", "paused", "at-risk", "late", "failed", "stopped"]
WORDS: dict[Word, str] = {
    "fresh": "equal to its query at the sources as they are",
    "behind": "changes wait for its next refresh",
    "unfilled": "never refreshed: it has no rows yet",
    "paused": "paused by a person",
    "at-risk": "its lag is past its target, or soon past its promise",
    "late": "its lag is longer than promised",
    "failed": "its last refresh failed, or a source cannot be read",
    "stopped": "suspended or damaged: a person has to look",
}
"""Each word and what it means, from well to ill."""
WORST_FIRST: tuple[Word, ...] = tuple(reversed(WORDS))

Row = tuple[TableStatus, TableLag, Word]


@dataclass(frozen=True)
class Condition:
    """How one table is."""

    name: str
    condition: Word
    lag_seconds: float | None


def condition_of(status: TableStatus, lag: TableLag) -> Word:
    """Return the worst that is true of a table."""
    if status.state == "paused":
        return "paused"
    if status.state in ("suspended", "damaged"):
        return "stopped"
    if lag.last_outcome == "failed" or lag.standing == "source-unreadable":
        return "failed"
    if lag.standing == "unfilled":
        return "unfilled"
    if lag.judgement != "ok":
        return lag.judgement
    # One that was put off waits for what it reads, of which nobody knows how it is.
    waits = lag.last_outcome == "deferred" or status.state == "needs-rebuild"
    return "behind" if waits or lag.standing == "behind" else "fresh"


def table_rows(facts: Facts) -> list[Row]:
    """Return every table with its lag and its condition, by name."""
    lags = {lag.name: lag for lag in facts.lags()}
    return [
        (status, lag, condition_of(status, lag))
        for status in facts.status()
        # A table that was made between the two questions is shown the next time.
        if (lag := lags.get(status.name)) is not None
    ]


def conditions(facts: Facts) -> list[Condition]:
    """Return how every table is."""
    return [
        Condition(status.name, condition, lag.lag_seconds)
        for status, lag, condition in table_rows(facts)
    ]
