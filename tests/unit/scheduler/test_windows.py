"""Blackout windows: their text, when they hold, and when they end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given

from streamtables.errors import ConfigError
from streamtables.scheduler.windows import Window, ends_at, is_within, parse_windows, windows_text
from tests.unit.scheduler.strategies import moments, windows

WORKDAYS = tuple(range(5))
EVERY_DAY = tuple(range(7))

TEXTS = {
    "": ((), ""),
    "mon-fri 08:00-18:00 Europe/Berlin; sat 00:00-24:00": (
        (Window(WORKDAYS, 480, 1_080, "Europe/Berlin"), Window((5,), 0, 1_440)),
        "mon-fri 08:00-18:00 Europe/Berlin; sat 00:00-24:00",
    ),
    "DAILY 22:00-6:00 utc;": ((Window(EVERY_DAY, 1_320, 360),), "daily 22:00-06:00"),
    "wed, mon 8:00 - 9:30": ((Window((0, 2), 480, 570),), "mon,wed 08:00-09:30"),
    "fri - mon 20:00-00:00": ((Window((0, 4, 5, 6), 1_200, 1_440),), "mon,fri-sun 20:00-24:00"),
    "mon-sun 01:00-02:00": ((Window(EVERY_DAY, 60, 120),), "daily 01:00-02:00"),
    "tue,mon 01:00-02:00 america/new_york": (
        (Window((0, 1), 60, 120, "America/New_York"),),
        "mon,tue 01:00-02:00 America/New_York",
    ),
}


@pytest.mark.parametrize("text", TEXTS)
def test_windows_have_one_spelling(text: str) -> None:
    expected, spelling = TEXTS[text]
    assert parse_windows(text) == expected
    assert windows_text(expected) == spelling


@given(windows)
def test_what_is_written_is_read_back(window: Window) -> None:
    assert parse_windows(windows_text([window, window])) == (window, window)


REFUSED = {
    "08:00-18:00": "A window is days, times",
    "mon 08:00-18:00 Europe/Berlin now": "A window is days, times",
    "monday 08:00-18:00": '"monday" is no day',
    "mon-fry 08:00-18:00": '"mon-fry" is no day',
    "mon, 08:00-18:00": "A window is days, times",
    "mon 8-18": '"8-18" are no times',
    "mon 08:60-18:00": "from 00:00 to 24:00",
    "mon 08:00-24:01": "from 00:00 to 24:00",
    "mon 24:00-08:00": "from 00:00 to 24:00",
    "mon 08:00-08:00": "begins and ends at one time",
    "daily 00:00-24:00": "never ends",
    "mon 08:00-18:00 Berlin": "IANA",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_window_that_cannot_be_meant_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_windows(f"sun 10:00-11:00; {text}")
    assert REFUSED[text] in refused.value.detail


@pytest.mark.parametrize(
    ("text", "moment", "end"),
    [
        ("mon-fri 08:00-18:00", "2026-06-01 08:00", "06-01 18:00"),
        ("mon-fri 08:00-18:00", "2026-06-01 07:59", None),
        ("mon-fri 08:00-18:00", "2026-06-01 18:00", None),
        ("mon-fri 08:00-18:00", "2026-06-06 12:00", None),
        ("mon-fri 08:00-18:00 Europe/Berlin", "2026-06-01 06:00", "06-01 16:00"),
        ("mon-fri 08:00-18:00 Europe/Berlin", "2026-12-01 06:00", None),
        ("fri 22:00-06:00", "2026-06-06 05:59", "06-06 06:00"),
        ("fri 22:00-06:00", "2026-06-05 05:59", None),
        ("sat,sun 00:00-24:00", "2026-06-06 12:00", "06-08 00:00"),
        ("tue-sun 00:00-24:00", "2026-06-02 00:00", "06-08 00:00"),
        ("daily 22:00-21:59", "2026-06-02 00:00", "06-02 21:59"),
        # 02:30 is left out: the moment of the change stands for it.
        ("daily 01:00-02:30 Europe/Berlin", "2026-03-29 00:59", "03-29 01:00"),
        ("daily 02:30-05:00 Europe/Berlin", "2026-03-29 01:00", "03-29 03:00"),
        ("daily 02:30-05:00 Europe/Berlin", "2026-03-29 00:59", None),
        # 02:00 to 03:00 comes twice.
        ("daily 02:15-02:45 Europe/Berlin", "2026-10-25 00:15", "10-25 01:45"),
        ("daily 01:00-02:15 America/New_York", "2026-03-08 06:59", "03-08 07:00"),
        ("daily 00:30-01:30 America/New_York", "2026-11-01 05:45", "11-01 06:30"),
    ],
)
def test_when_a_window_holds_and_ends(text: str, moment: str, end: str | None) -> None:
    found = parse_windows(text)
    now = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    within = is_within(found, now)
    assert within == (found[0] if end else None)
    if within is not None:
        assert f"{ends_at(found, now):%m-%d %H:%M}" == end


def test_the_first_of_several_windows_is_named() -> None:
    found = parse_windows("sat 00:00-24:00; mon 08:00-18:00; mon 09:00-10:00")
    now = datetime(2026, 6, 1, 9, 30, tzinfo=UTC)
    assert is_within(found, now) == found[1]


def test_windows_that_follow_each_other_end_with_the_last() -> None:
    found = parse_windows("mon-fri 00:00-24:00; sat 00:00-12:00; sat 11:00-20:00")
    friday = datetime(2026, 6, 5, 9, tzinfo=UTC)
    assert ends_at(found, friday) == datetime(2026, 6, 6, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "mon-sat 00:00-24:00; sun 00:00-24:00",
        "daily 00:00-13:00; daily 12:00-00:00",
        "mon-thu 00:00-24:00 Europe/Berlin; thu-mon 00:00-24:00",
    ],
)
def test_windows_that_together_never_end_are_refused(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_windows(text)
    assert refused.value.detail == "It never ends."


@given(windows, moments)
def test_a_window_ends_where_it_no_longer_holds(window: Window, now: datetime) -> None:
    end = ends_at([window], now)
    if is_within([window], now) is None:
        assert end == now
    else:
        assert end > now
        assert is_within([window], end) is None
        assert is_within([window], end - timedelta(seconds=1)) == window


@given(windows, moments)
def test_a_window_holds_by_the_clock_on_the_wall_away_from_changes(
    window: Window, now: datetime
) -> None:
    local = now.astimezone(ZoneInfo(window.zone))
    day_before, day_after = (
        (local + timedelta(days=days)).astimezone(UTC) - now for days in (-1, 1)
    )
    if (day_before, day_after) != (timedelta(days=-1), timedelta(days=1)):
        return
    minute, day = local.hour * 60 + local.minute, local.weekday()
    if window.end > window.begin:
        expected = day in window.days and window.begin <= minute < window.end
    else:
        expected = (day in window.days and minute >= window.begin) or (
            (day - 1) % 7 in window.days and minute < window.end
        )
    assert (is_within([window], now) is not None) == expected
