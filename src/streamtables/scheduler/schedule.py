"""Schedules: when a stream table wants to be refreshed.

    Every        after each such time, counted from start to start
    Cron         at the times of a cron expression, by the clocks of a zone
    OnChange     as soon as what it reads has changed, at most once in a while
    Calculated   as often as the tables that read it need
    Manual       when someone asks, or when a table that reads it is refreshed

Each has one spelling: `parse_schedule(schedule_text(schedule)) == schedule`.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import assert_never

from streamtables.errors import ConfigError
from streamtables.scheduler.cron import FIELD_COUNT, checked_expression
from streamtables.scheduler.durations import duration_text, parse_duration
from streamtables.scheduler.zones import UTC_NAME, zone_name

_FORMS = (
    "Permitted: a duration such as '1 minute', 'cron …' with five fields and perhaps a time zone, "
    "'on change', 'on change at most every …', 'calculated' or 'manual'."
)
_ON_CHANGE = "on change"
_AT_MOST = "on change at most every "
_WORDS = ("manual", "calculated", "on change", "on change at most every", "cron")


@dataclass(frozen=True)
class Every:
    """Due when this many seconds have passed since the last start."""

    seconds: float


@dataclass(frozen=True)
class Cron:
    """Due at each fire of a cron expression, by the clocks of a zone."""

    expression: str
    zone: str


@dataclass(frozen=True)
class OnChange:
    """Due when an input has changed, but not before so many seconds after the last start."""

    at_most_every: float = 0.0


@dataclass(frozen=True)
class Calculated:
    """Due as its readers need it; see `streamtables.scheduler.calculated`."""


@dataclass(frozen=True)
class Manual:
    """Never due by itself."""


Schedule = Every | Cron | OnChange | Calculated | Manual


def parse_schedule(text: str) -> Schedule:
    """Read a schedule, in any case and with any blanks, or refuse it with what is permitted."""
    words = str(text).split()
    said = " ".join(words).lower()
    if said == "manual":
        return Manual()
    if said == "calculated":
        return Calculated()
    if said == _ON_CHANGE:
        return OnChange()
    if said.startswith(_AT_MOST):
        return OnChange(parse_duration(said.removeprefix(_AT_MOST), 'the time after "at most"'))
    if words[:1] and words[0].lower() == "cron":
        return _cron(words[1:])
    if said[:1].isdigit():
        return Every(parse_duration(said, "schedule"))
    raise _unreadable(text, said)


def schedule_text(schedule: Schedule) -> str:
    """Return the one spelling of a schedule."""
    match schedule:
        case Every(seconds):
            return duration_text(seconds)
        case Cron(expression, zone):
            return f"cron {expression}" + ("" if zone == UTC_NAME else f" {zone}")
        case OnChange(at_most_every):
            return _AT_MOST + duration_text(at_most_every) if at_most_every else _ON_CHANGE
        case Calculated():
            return "calculated"
        case Manual():
            return "manual"
        case _:
            assert_never(schedule)


def _cron(words: list[str]) -> Cron:
    # Only one that starts with a letter is meant as a zone: a sixth `*` is a field too many.
    if len(words) == FIELD_COUNT + 1 and words[-1][0].isalpha():
        *words, zone = words
    else:
        zone = UTC_NAME
    return Cron(checked_expression(words), zone_name(zone))


def _is_duration(text: str) -> bool:
    try:
        parse_duration(text, "schedule")
    except ConfigError:
        return False
    return True


def _unreadable(text: str, said: str) -> ConfigError:
    close = get_close_matches(said, _WORDS, n=1)
    duration = said.removeprefix("every ")
    if close:
        hint = f'Did you mean "{close[0]}"?'
    elif duration != said and _is_duration(duration):
        hint = f'Leave out "every": write "{duration}".'
    else:
        hint = "Write '1 minute' to refresh each minute."
    return ConfigError(f'schedule "{text}" cannot be read', detail=_FORMS, hint=hint)
