"""From when on a table is due: rhythm, coalescing, back-off, and clocks that go back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.scheduler.due import Timing, came_together, next_due, passed_over
from streamtables.scheduler.schedule import (
    Calculated,
    Cron,
    Every,
    Manual,
    OnChange,
    Schedule,
    parse_schedule,
)
from streamtables.scheduler.tiers import TIER_FACTOR, scaled
from tests.unit.scheduler.strategies import START, moments, schedules, timed

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
MORNING = NOON - timedelta(hours=6)


def later(**units: float) -> datetime:
    return NOON + timedelta(**units)


def timing(schedule: Schedule, last: datetime | None = MORNING, **parts: object) -> Timing:
    made = Timing(schedule, "hot", last, MORNING - timedelta(days=1))
    return replace(made, **parts)  # type: ignore[arg-type]  # a builder for tests


@pytest.mark.parametrize(
    ("table", "due"),
    [
        (timing(Every(60), NOON), later(seconds=60)),
        (timing(Every(60), NOON, tier="warm"), later(seconds=120)),
        (timing(Every(60), NOON, tier="cold"), later(seconds=600)),
        (timing(Every(60), NOON, tier="frozen"), None),
        (timing(Every(60)), MORNING + timedelta(seconds=60)),
        (timing(Every(60), None), MORNING - timedelta(days=1)),
        (timing(Every(60), None, created_at=later(hours=1)), NOON),
        (timing(Cron("0 * * * *", "UTC"), NOON), later(hours=1)),
        (timing(Cron("0 * * * *", "UTC"), NOON, tier="cold"), later(hours=1)),
        (timing(Cron("0 * * * *", "UTC"), NOON, tier="frozen"), None),
        (timing(Cron("0 * * * *", "UTC")), MORNING + timedelta(hours=1)),
        (timing(Cron("0 * * * *", "UTC"), None, created_at=NOON), later(hours=1)),
        (timing(OnChange(), NOON), NOON),
        (timing(OnChange(30), NOON), later(seconds=30)),
        (timing(OnChange(30), NOON, tier="warm"), later(seconds=60)),
        (timing(OnChange(30), None), MORNING - timedelta(days=1)),
        (timing(OnChange(), tier="frozen"), None),
        (timing(Manual()), None),
        (timing(Calculated()), None),
        (timing(Every(60), NOON, not_before=later(hours=2)), later(hours=2)),
        (timing(Every(60), NOON, not_before=MORNING), later(seconds=60)),
        (timing(Every(60), None, not_before=later(hours=2)), later(hours=2)),
        (timing(Manual(), not_before=MORNING), None),
    ],
)
def test_when_a_table_is_due(table: Timing, due: datetime | None) -> None:
    assert next_due(table, NOON) == due


@pytest.mark.parametrize("schedule", [Every(60), OnChange(60), Cron("* * * * *", "UTC")])
def test_a_clock_that_went_back_a_little_only_makes_it_wait(schedule: Schedule) -> None:
    table = timing(schedule, later(seconds=30))
    due = next_due(table, NOON)
    assert due is not None
    assert later(seconds=30) < due <= later(seconds=90)


@pytest.mark.parametrize(
    "schedule", [Every(60), OnChange(60), OnChange(), Cron("0 3 * * *", "UTC")]
)
def test_a_clock_that_went_back_far_makes_it_due_once_and_then_in_its_rhythm(
    schedule: Schedule,
) -> None:
    table = timing(schedule, later(days=365))
    assert next_due(table, NOON) == NOON
    started = replace(table, last_started=NOON)
    due = next_due(started, NOON)
    assert due is not None
    assert due > NOON or schedule == OnChange()


@given(
    schedules,
    st.sampled_from([*TIER_FACTOR]),
    moments,
    st.integers(0, 10**7),
    st.integers(0, 10**7),
)
def test_a_due_table_stays_due_until_it_is_started(
    schedule: Schedule, tier: str, last: datetime, passed: int, seconds: int
) -> None:
    now = last + timedelta(seconds=passed)
    table = Timing(schedule, tier, last, START - timedelta(days=1))
    due = next_due(table, now)
    if due is not None and due <= now:
        much_later = now + timedelta(seconds=seconds)
        still = next_due(table, much_later)
        assert still is not None
        assert still <= much_later


@given(timed, moments, st.integers(1, 10**8))
def test_after_any_gap_there_is_exactly_one_start(
    schedule: Schedule, last: datetime, gap: int
) -> None:
    now = last + timedelta(seconds=gap)
    table = Timing(schedule, "hot", last, last)
    starts = 0
    while (due := next_due(table, now)) is not None and due <= now:
        table = replace(table, last_started=now)
        starts += 1
        assert starts == 1
    missed = next_due(Timing(schedule, "hot", last, last), last)
    assert missed is not None
    assert starts == (missed <= now)


@pytest.mark.fault(
    "clock",
    "the clock goes back",
    step="choosing what is due",
    seen="nothing: the table waits, or runs once",
    recovery="by itself",
)
@given(timed, moments, st.integers(0, 10**8))
def test_a_clock_that_goes_back_brings_neither_a_burst_nor_a_stall(
    schedule: Schedule, now: datetime, back: int
) -> None:
    table = Timing(schedule, "hot", now + timedelta(seconds=back), now - timedelta(days=400))
    normal = next_due(replace(table, last_started=now), now)
    assert normal is not None
    due = next_due(table, now)
    assert due is not None
    after_two = next_due(replace(table, last_started=normal), normal)
    assert after_two is not None
    assert due <= after_two
    if due <= now:
        again = next_due(replace(table, last_started=now), now)
        assert again is not None
        assert again > now


def test_tiers_stretch_and_frozen_stops() -> None:
    assert [scaled(60, tier) for tier in TIER_FACTOR] == [60, 120, 600, None]


@given(
    st.one_of(st.builds(Every, st.integers(1, 7200)), st.just(Cron("*/7 3-5 * * *", "UTC"))),
    st.sampled_from(["hot", "warm", "cold"]),
    st.floats(0, 100),
)
def test_the_rhythm_of_a_table_that_rests_is_that_of_a_look_in_each_of_its_moments(
    schedule: Schedule, tier: str, rounds: float
) -> None:
    table = timing(schedule, MORNING, tier=tier)
    first = next_due(table, MORNING)
    assert first is not None
    upto = MORNING + rounds * (first - MORNING)
    looked = table
    while (due := next_due(looked, upto)) is not None and due <= upto:
        looked = replace(looked, last_started=due)
    rested = replace(table, last_started=passed_over(table, upto))
    assert next_due(rested, upto) == next_due(looked, upto)


@pytest.mark.parametrize("last", [None, later(hours=1)])
def test_a_table_that_never_started_or_starts_later_was_not_passed_over(last) -> None:
    assert passed_over(timing(Every(60), last), NOON) == last


def test_times_that_come_together_are_known_by_the_first_of_them():
    started = datetime(2026, 6, 1, tzinfo=UTC)
    minute = Timing(parse_schedule("1 minute"), "hot", started, started)
    first = started + timedelta(minutes=1)
    assert came_together(minute, first) is None
    assert came_together(minute, started + timedelta(seconds=119)) is None
    assert came_together(minute, started + timedelta(seconds=120)) == first
    hourly = Timing(parse_schedule("cron 0 * * * *"), "hot", started, started)
    assert came_together(hourly, started + timedelta(minutes=119)) is None
    assert came_together(hourly, started + timedelta(minutes=121)) == started + timedelta(hours=1)


def test_a_back_off_makes_times_come_together_and_a_change_has_none():
    started = datetime(2026, 6, 1, tzinfo=UTC)
    later = started + timedelta(hours=1)
    held = Timing(parse_schedule("1 minute"), "hot", started, started, not_before=later)
    assert came_together(held, later) == started + timedelta(minutes=1)
    follows = Timing(parse_schedule("on change at most every 1 minute"), "hot", started, started)
    assert came_together(follows, later) is None
    never = Timing(parse_schedule("1 minute"), "hot", None, started)
    assert came_together(never, later) is None
