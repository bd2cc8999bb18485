"""How far behind a table is, and what is said of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from streamtables.scheduler.freshness import Freshness, judge, lag

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def before(seconds: float) -> datetime:
    return NOON - timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("standing", "pending", "expected"),
    [
        (before(3_600), None, 0),
        (None, None, 0),
        (before(3_600), before(60), 60),
        (None, before(60), 60),
        (before(30), before(60), 30),
        (before(3_600), before(-5), 0),
    ],
)
def test_the_oldest_pending_change_is_the_lag(
    standing: datetime | None, pending: datetime | None, expected: float
) -> None:
    assert lag(NOON, standing, pending) == expected


@pytest.mark.parametrize(
    ("freshness", "behind", "typical", "expected"),
    [
        (Freshness(None, None), 10**6, 10**6, "ok"),
        (Freshness(None, 60), 0, 10, "ok"),
        (Freshness(None, 60), 50, 10, "ok"),
        (Freshness(None, 60), 51, 10, "at-risk"),
        (Freshness(None, 60), 0, 61, "at-risk"),
        (Freshness(None, 60), 60, 10, "at-risk"),
        (Freshness(None, 60), 60.1, 0, "late"),
        (Freshness(30, 60), 30, 10, "ok"),
        (Freshness(30, 60), 31, 10, "at-risk"),
        (Freshness(30, 60), 61, 10, "late"),
        (Freshness(30, None), 10**6, 10, "at-risk"),
    ],
)
def test_late_is_past_the_promise_and_at_risk_is_the_warning_before(
    freshness: Freshness, behind: float, typical: float, expected: str
) -> None:
    assert judge(freshness, behind, typical) == expected
