"""Blackout windows: times of the week in which no refresh starts by itself.

    mon-fri 08:00-18:00 Europe/Berlin; sat 00:00-24:00

A window belongs to the day on which it begins; one that ends before it begins does so on the
next day.  Its times are those of the clocks of its zone.  On days when clocks change it lasts from
the first time that they show its begin to the last that they show its end; where they leave one
out, the moment of the change stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import chain, groupby
from zoneinfo import ZoneInfo

from streamtables.errors import ConfigError
from streamtables.scheduler.zones import UTC_NAME, zone_called, zone_name

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_EVERY_DAY = tuple(range(len(_DAYS)))
_DAILY = "daily"
_DAYS_AHEAD = len(_DAYS) + 1
_ANY_MONDAY = datetime(2001, 1, 1, tzinfo=UTC)
_MINUTES_OF_A_DAY = 24 * 60
_TIMES = re.compile(r"([0-9]{1,2}):([0-9]{2})-([0-9]{1,2}):([0-9]{2})")
_FORM = "A window is days, times and perhaps a zone: 'mon-fri 08:00-18:00 Europe/Berlin'."


@dataclass(frozen=True)
class Window:
    """A stretch of time on some days of the week, by the clocks of a zone."""

    days: tuple[int, ...]
    """In order; monday is 0, as in Python's calendar."""
    begin: int
    """In minutes since midnight, as is `end`."""
    end: int
    zone: str = UTC_NAME


def parse_windows(text: str) -> tuple[Window, ...]:
    """Read windows, several apart by `;`, or refuse the one that cannot be read."""
    parts = [part.strip() for part in text.split(";")]
    windows = tuple(_window(part) for part in parts if part)
    if ends_at(windows, _ANY_MONDAY) >= _ANY_MONDAY + timedelta(days=_DAYS_AHEAD):
        raise _refused(text, "It never ends.", "Use the tier frozen, or pause the table.")
    return windows


def windows_text(windows: Iterable[Window]) -> str:
    """Return the one spelling of windows, which `parse_windows` reads back."""
    return "; ".join(_window_text(window) for window in windows)


def is_within(windows: Iterable[Window], now: datetime) -> Window | None:
    """Return the first window that a moment lies in."""
    for window in windows:
        if any(begin <= now < end for begin, end in _occurrences(window, now, days_ahead=0)):
            return window
    return None


def ends_at(windows: Iterable[Window], now: datetime) -> datetime:
    """Return, in UTC, from when on no window holds; the moment itself if none holds it.

    Windows that follow or overlap each other are one stretch; none is longer than the week.
    """
    over = now.astimezone(UTC)
    stretches = (_occurrences(window, now, days_ahead=_DAYS_AHEAD) for window in windows)
    for begin, end in sorted(chain.from_iterable(stretches)):
        if begin <= over < end:
            over = end
    return over


def _occurrences(
    window: Window, now: datetime, *, days_ahead: int
) -> Iterator[tuple[datetime, datetime]]:
    """Yield begin and end of the window from yesterday on, as moments in UTC."""
    zone = zone_called(window.zone)
    today = now.astimezone(zone).date()
    over_midnight = 0 if window.end > window.begin else _MINUTES_OF_A_DAY
    for ahead in range(-1, days_ahead + 1):
        day = today + timedelta(days=ahead)
        if day.weekday() in window.days:
            begin = _moment(day, window.begin, zone, fold=0)
            yield begin, _moment(day, window.end + over_midnight, zone, fold=1)


def _moment(day: date, minutes: int, zone: ZoneInfo, *, fold: int) -> datetime:
    """Return when the clocks show a time; `fold` chooses where they show it twice."""
    shown = datetime.combine(day, time(), tzinfo=zone) + timedelta(minutes=minutes)
    while (moment := shown.replace(fold=fold).astimezone(UTC)).astimezone(zone) != shown:
        shown += timedelta(minutes=1)
    return moment


def _window(text: str) -> Window:
    # Blanks round "-" and "," are how people write lists; they separate nothing.
    words = re.sub(r"\s*([-,])\s*", r"\1", text).split()
    if len(words) not in (2, 3):
        raise _refused(text, _FORM)
    begin, end = _times(words[1], text)
    zone = zone_name(words[2]) if len(words) == 3 else UTC_NAME
    return Window(_days(words[0], text), begin, end, zone)


def _days(text: str, window: str) -> tuple[int, ...]:
    if text.lower() == _DAILY:
        return _EVERY_DAY
    days: set[int] = set()
    for part in text.lower().split(","):
        first, dash, last = part.partition("-")
        if first not in _DAYS or (dash and last not in _DAYS):
            permitted = f"Days: {', '.join(_DAYS)}, or {_DAILY}."
            raise _refused(window, f'"{part}" is no day and no range of days.', permitted)
        days.update(_range(_DAYS.index(first), _DAYS.index(last if dash else first)))
    return tuple(sorted(days))


def _range(first: int, last: int) -> Iterator[int]:
    """Yield the days of a range, which may go over the end of the week."""
    return ((first + step) % len(_DAYS) for step in range((last - first) % len(_DAYS) + 1))


def _times(text: str, window: str) -> tuple[int, int]:
    if (match := _TIMES.fullmatch(text)) is None:
        raise _refused(window, f'"{text}" are no times of a day.', "Write 08:00-18:00.")
    from_hour, from_minute, to_hour, to_minute = (int(number) for number in match.groups())
    begin, end = from_hour * 60 + from_minute, to_hour * 60 + to_minute
    if max(from_minute, to_minute) > 59 or begin >= _MINUTES_OF_A_DAY or end > _MINUTES_OF_A_DAY:
        raise _refused(window, "Times go from 00:00 to 24:00.")
    if begin == end:
        raise _refused(window, "It begins and ends at one time.", "A whole day is 00:00-24:00.")
    # One way to say midnight at the end: 22:00-00:00 is 22:00-24:00.
    return begin, end or _MINUTES_OF_A_DAY


def _window_text(window: Window) -> str:
    times = f"{_time_text(window.begin)}-{_time_text(window.end)}"
    zone = "" if window.zone == UTC_NAME else f" {window.zone}"
    return f"{_days_text(window.days)} {times}{zone}"


def _days_text(days: tuple[int, ...]) -> str:
    if len(days) == len(_DAYS):
        return _DAILY
    runs = []
    # Days that follow each other keep the same distance from their places in the list.
    for _, group in groupby(enumerate(days), key=lambda placed: placed[1] - placed[0]):
        run = [_DAYS[day] for _, day in group]
        runs += run if len(run) < 3 else [f"{run[0]}-{run[-1]}"]
    return ",".join(runs)


def _time_text(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _refused(window: str, detail: str, hint: str = "") -> ConfigError:
    return ConfigError(f'blackout window "{window}" cannot be used', detail=detail, hint=hint)
