"""When a cron fires, above all on the days when clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from streamtables.scheduler.cron import next_fire
from streamtables.scheduler.schedule import Cron
from tests.unit.scheduler.strategies import crons, moments

BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"


def fires(expression: str, zone: str, after: datetime, count: int) -> list[datetime]:
    found: list[datetime] = []
    for _ in range(count):
        fire = next_fire(expression, zone, found[-1] if found else after)
        assert fire is not None
        found.append(fire)
    return found


@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [
        ("30 2 * * *", BERLIN, "2026-03-28 12:00", ["03-29 01:00", "03-30 00:30"]),
        ("0,30 2 * * *", BERLIN, "2026-03-28 12:00", ["03-29 01:00", "03-30 00:00"]),
        ("30 2 * * *", BERLIN, "2026-10-24 12:00", ["10-25 00:30", "10-26 01:30"]),
        ("30 2 * * *", BERLIN, "2026-10-25 01:10", ["10-26 01:30", "10-27 01:30"]),
        ("0 * * * *", BERLIN, "2026-10-24 23:00", ["10-25 00:00", "10-25 01:00"]),
        ("30 2 * * *", NEW_YORK, "2026-03-07 12:00", ["03-08 07:00", "03-09 06:30"]),
        ("30 1 * * *", NEW_YORK, "2026-10-31 12:00", ["11-01 05:30", "11-02 06:30"]),
        ("30 1 * * *", NEW_YORK, "2026-11-01 06:10", ["11-02 06:30", "11-03 06:30"]),
        ("0 4 * * mon", "UTC", "2026-01-05 04:00", ["01-12 04:00", "01-19 04:00"]),
        ("0 0 29 2 *", "UTC", "2026-01-01 00:00", ["02-29 00:00", "02-29 00:00"]),
    ],
)
def test_fires_come_at_the_times_of_the_zone(
    expression: str, zone: str, after: str, expected: list[str]
) -> None:
    moment = datetime.fromisoformat(after).replace(tzinfo=UTC)
    found = fires(expression, zone, moment, len(expected))
    assert [f"{fire:%m-%d %H:%M}" for fire in found] == expected


@given(crons, moments)
def test_fires_go_on_and_lie_ahead(cron: Cron, after: datetime) -> None:
    found = [after, *fires(cron.expression, cron.zone, after, 4)]
    assert all(earlier < later for earlier, later in pairwise(found))
    assert all(fire.tzinfo is UTC for fire in found)


@given(
    st.sampled_from(["* 2", "*/20 *", "30 */2", "*/7 1-3", "0 *", "*/30 2,3"]),
    st.sampled_from([BERLIN, NEW_YORK]),
    moments,
)
def test_a_star_follows_the_clock_on_the_wall_through_every_change(
    minute_and_hour: str, zone: str, after: datetime
) -> None:
    expression = f"{minute_and_hour} * * *"
    wanted = CronSim(expression, datetime(2026, 1, 1))  # noqa: DTZ001 - only its fields are read
    first = after.replace(second=0, microsecond=0)
    shown = [(first + timedelta(minutes=step)).astimezone(UTC) for step in range(1, 1_800)]
    expected = [
        moment
        for moment in shown
        if (local := moment.astimezone(ZoneInfo(zone))).minute in wanted.minutes
        and local.hour in wanted.hours
    ]
    assert fires(expression, zone, first, len(expected)) == expected


def test_a_cron_without_a_day_has_no_next_fire() -> None:
    # The fifth sunday of a february is the 29th, which */3 leaves out.
    assert next_fire("0 0 */3 2 sun#5", "UTC", datetime(2026, 1, 1, tzinfo=UTC)) is None
