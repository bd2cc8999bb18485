"""Schedules as text: every form, one spelling, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.errors import ConfigError
from streamtables.scheduler.schedule import (
    Calculated,
    Cron,
    Every,
    Manual,
    OnChange,
    Schedule,
    parse_schedule,
    schedule_text,
)
from tests.unit.scheduler.strategies import schedules

FORMS: dict[str, tuple[Schedule, str]] = {
    "1 minute": (Every(60), "1 minute"),
    " 1  MINUTE ": (Every(60), "1 minute"),
    "30s": (Every(30), "30 seconds"),
    "30 secs": (Every(30), "30 seconds"),
    "2 h": (Every(7_200), "2 hours"),
    "5 min": (Every(300), "5 minutes"),
    "3 m": (Every(180), "3 minutes"),
    "1 hour 30 minutes": (Every(5_400), "1 hour 30 minutes"),
    "1h30m": (Every(5_400), "1 hour 30 minutes"),
    "90 minutes": (Every(5_400), "1 hour 30 minutes"),
    "61 seconds": (Every(61), "1 minute 1 second"),
    "1 d": (Every(86_400), "1 day"),
    "2 weeks": (Every(1_209_600), "2 weeks"),
    "10 days": (Every(864_000), "10 days"),
    "366 days": (Every(31_622_400), "366 days"),
    "cron */5 * * * *": (Cron("*/5 * * * *", "UTC"), "cron */5 * * * *"),
    "CRON 0  4 * * MON utc": (Cron("0 4 * * mon", "UTC"), "cron 0 4 * * mon"),
    "cron 0 4 l * * europe/berlin": (
        Cron("0 4 l * *", "Europe/Berlin"),
        "cron 0 4 l * * Europe/Berlin",
    ),
    "On  Change": (OnChange(), "on change"),
    "on change at most every 10s": (OnChange(10), "on change at most every 10 seconds"),
    "calculated": (Calculated(), "calculated"),
    "MANUAL": (Manual(), "manual"),
}


@pytest.mark.parametrize("text", FORMS)
def test_each_form_has_one_meaning_and_one_spelling(text: str) -> None:
    schedule, spelling = FORMS[text]
    assert parse_schedule(text) == schedule
    assert schedule_text(schedule) == spelling


@given(schedules)
def test_what_is_written_is_read_back(schedule: Schedule) -> None:
    assert parse_schedule(schedule_text(schedule)) == schedule


def test_an_effective_schedule_of_a_fraction_of_a_second_can_be_shown() -> None:
    assert schedule_text(Every(1.5)) == "1.5 seconds"


REFUSED = {
    "": ("cannot be read", "'on change'", "1 minute"),
    "soon": ("cannot be read", "Permitted: a duration", "1 minute"),
    "on chnage": ("cannot be read", "Permitted", 'Did you mean "on change"?'),
    "every 5 minutes": ("cannot be read", "Permitted", 'write "5 minutes"'),
    "every full moon": ("cannot be read", "Permitted", "Write '1 minute'"),
    "5": ("cannot be read", "whole numbers with units", "Units: week"),
    "1.5 hours": ("cannot be read", "whole numbers", "Units"),
    "5 minuts": ("cannot be read", '"minuts" is no unit', 'Did you mean "minutes"?'),
    "5 parsecs": ("cannot be read", '"parsecs" is no unit', ""),
    "1 hour and a bit": ("cannot be read", "", ""),
    "30 minutes 1 hour": ("cannot be read", "the largest unit first", ""),
    "1 hour 1 hour": ("cannot be read", "the largest unit first", ""),
    "0 seconds": ("out of bounds", "1 second to 366 days", ""),
    "367 days": ("out of bounds", "1 second to 366 days", ""),
    "9" * 5_000 + " seconds": ("out of bounds", "1 second to 366 days", ""),
    "on change at most every day": ("cannot be read", "", ""),
    "on change at most every 0 s": ("out of bounds", "1 second", ""),
    "cron": ("cannot be used", "five fields; this one has 0", "minute, hour"),
    "cron 0 4 * *": ("cannot be used", "this one has 4", "minute, hour"),
    "cron * * * * * *": ("cannot be used", "this one has 6", "minute, hour"),
    "cron @daily": ("cannot be used", "this one has 1", "minute, hour"),
    "cron 60 * * * *": ("cannot be used", 'The minute cannot be "60"', "0 to 59"),
    "cron 0 24 * * *": ("cannot be used", 'The hour cannot be "24"', "0 to 23"),
    "cron 0 4 32 * *": ("cannot be used", 'The day of the month cannot be "32"', "1 to 31"),
    "cron 0 4 * jann *": ("cannot be used", 'The month cannot be "jann"', "jan to dec"),
    "cron 0 4 * * mnd": ("cannot be used", 'The day of the week cannot be "mnd"', "sun to sat"),
    "cron 0 4 * * fri-mon": ("cannot be used", "The day of the week", "sun to sat"),
    "cron 0 4 * * mon#2/3": ("cannot be used", "The day of the week", "sun to sat"),
    "cron " + "9" * 5_000 + " * * * *": ("cannot be used", "The minute", "0 to 59"),
    "cron 0 4 30 2 *": ("cannot be used", "never fire", ""),
    "cron 0 4 */3 2 sun#5": ("cannot be used", "never fire", ""),
    "cron 0 4 31 feb,apr,jun *": ("cannot be used", "never fire", ""),
    "cron 0 4 * * * Europe/Berln": ("no time zone", "IANA", 'Did you mean "Europe/Berlin"?'),
    "cron 0 4 * * * Nowhere": ("no time zone", "IANA", ""),
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:40])
def test_what_cannot_be_meant_is_refused_with_its_bounds(text: str) -> None:
    message, detail, hint = REFUSED[text]
    with pytest.raises(ConfigError) as refused:
        parse_schedule(text)
    assert refused.value.code == "ST-1401"
    assert message in refused.value.message
    assert detail in refused.value.detail
    assert hint in refused.value.hint


WORDS = ["cron", "*", "*/5", "1-3", "l", "mon#2", "2/3", "sun", "5l", "lw", "jan", "utc", "1", "h"]


@given(st.text(max_size=30) | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_any_text_is_read_or_refused_by_us(text: str) -> None:
    try:
        schedule = parse_schedule(text)
    except ConfigError:
        return
    assert parse_schedule(schedule_text(schedule)) == schedule
