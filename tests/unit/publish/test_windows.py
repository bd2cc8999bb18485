"""Which versions an answer covers, and when a subscriber starts anew."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.catalog.publication_models import Subscriber
from streamtables.positions import Version
from streamtables.publish.windows import (
    EXPIRED,
    NEW,
    REMADE,
    Window,
    lag_of,
    last_version,
    next_state,
    reset_reason,
)
from tests.unit.catalog.builders import START

TAKER = Subscriber("p", "s", START, START, version=Version(4), incarnation="one")


@given(st.lists(st.integers(0, 50) | st.none(), max_size=12), st.integers(1, 60))
def test_windows_cover_every_version_once_and_stay_near_the_limit(
    changed: list[int | None], limit: int
) -> None:
    after, current = Version(0), Version(len(changed))
    seen: list[int] = []
    while after < current:
        upto = last_version(after, current, iter(changed[after:]), limit)
        assert after < upto <= current
        rows = [limit if n is None else n for n in changed[after:upto]]
        assert len(rows) == 1 or sum(rows) <= limit
        seen += range(after, upto)
        after = upto
    assert seen == list(range(len(changed)))


def test_nothing_new_is_an_empty_window() -> None:
    assert last_version(Version(3), Version(3), [], 10) == 3
    assert Window("i", Version(3), Version(3), Version(3)).is_empty
    assert not Window("i", None, Version(3), Version(3), "anew").is_empty


@pytest.mark.parametrize(
    ("taker", "incarnation", "current", "reason"),
    [
        (TAKER, "one", 4, ""),
        (TAKER, "two", 9, REMADE),
        (TAKER, "one", 3, REMADE),
        (replace(TAKER, version=None, incarnation=""), "one", 4, NEW),
        (replace(TAKER, state="expired"), "one", 4, EXPIRED),
    ],
)
def test_a_subscriber_starts_anew_only_with_a_reason(
    taker: Subscriber, incarnation: str, current: int, reason: str
) -> None:
    assert reset_reason(taker, incarnation, Version(current)) == reason


def test_lag_counts_versions() -> None:
    assert lag_of(TAKER, "one", Version(9)) == 5
    assert lag_of(TAKER, "two", Version(9)) == 10


def test_only_a_policy_lets_a_subscriber_expire() -> None:
    later = START + timedelta(days=3_000)
    assert next_state(TAKER, 5, 10, later) == "active"
    assert next_state(TAKER, 11, 10, later) == "lagging"
    policy = replace(TAKER, expire_seconds=60.0)
    assert next_state(policy, 5, 10, START + timedelta(seconds=60)) == "active"
    assert next_state(policy, 5, 10, START + timedelta(seconds=61)) == "expired"
    assert next_state(policy, 0, 10, later) == "active"


def test_a_window_has_one_name_however_often_it_is_sent() -> None:
    assert Window("i", Version(1), Version(3), Version(9)).key("p") == "p:i:1:3"
    assert Window("i", None, Version(3), Version(3), NEW).key("p") == "p:i:snapshot:3"
