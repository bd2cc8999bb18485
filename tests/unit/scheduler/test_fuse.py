"""When a change is so large that someone should look first."""

from __future__ import annotations

import pytest

from streamtables.scheduler.fuse import FuseRule, blown

USUAL = [90, 0, 100, 110, 0, 120, 80]


@pytest.mark.parametrize(
    ("rule", "pending", "recent"),
    [
        (FuseRule(None, None), 10**9, USUAL),
        (FuseRule(1_000, None), 1_000, USUAL),
        (FuseRule(None, 10), 1_000, USUAL),
        (FuseRule(None, 10), 10**9, [100, 100, 0, 100, 100]),
        (FuseRule(None, 10), 10**9, []),
        (FuseRule(1_000, 10), 999, USUAL),
    ],
)
def test_the_fuse_holds(rule: FuseRule, pending: int, recent: list[int]) -> None:
    assert blown(rule, pending, recent) is None


def test_more_than_the_limit_blows_the_fuse() -> None:
    reason = blown(FuseRule(1_000, None), 1_001, [])
    assert reason == "1,001 changed rows are pending, the limit is 1,000"


def test_far_more_than_usual_blows_the_fuse() -> None:
    assert blown(FuseRule(10**6, 2.5), 251, USUAL) == (
        "251 changed rows are pending, more than 2.5 times the median of 100 rows "
        "of the last 5 refreshes with changes"
    )


def test_the_median_of_an_even_number_lies_between() -> None:
    reason = blown(FuseRule(None, 1), 2_000, [1, 2, 3, 1_200, 1_301, 1_400, 1_500, 0])
    assert reason is not None
    assert "median of 1,200 rows of the last 7" in reason
    reason = blown(FuseRule(None, 1), 2_000, [1, 2, 1_200, 1_301, 1_400, 1_500])
    assert reason is not None
    assert "median of 1,250.5 rows of the last 6" in reason
