"""How far behind its sources a stream table is, and whether that is still good."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Judgement = Literal["ok", "at-risk", "late"]


@dataclass(frozen=True)
class Freshness:
    """The lag that is aimed at, and the one that is promised; None where nothing is."""

    target_seconds: float | None
    sla_seconds: float | None


def lag(
    now: datetime, standing_moment: datetime | None, oldest_pending_at: datetime | None
) -> float:
    """Return for how many seconds the oldest change that the table lacks has been there.

    `standing_moment` is the moment that its rows stand for, None before the first fill.  Nothing
    pending is no lag, however long ago the last refresh was.
    """
    if oldest_pending_at is None:
        return 0.0
    # What the table lacks came after what it has, whatever the clock of a source says.
    since = max(oldest_pending_at, standing_moment or oldest_pending_at)
    return max(0.0, (now - since).total_seconds())


def judge(freshness: Freshness, lag_seconds: float, typical_seconds: float) -> Judgement:
    """Return `late` past the SLA, and `at-risk` where a refresh begun now may end past it.

    Past the target alone is `at-risk` too.
    """
    target, sla = freshness.target_seconds, freshness.sla_seconds
    if sla is not None and lag_seconds > sla:
        return "late"
    if sla is not None and lag_seconds + typical_seconds > sla:
        return "at-risk"
    return "at-risk" if target is not None and lag_seconds > target else "ok"
