"""What may be chosen for a stream table, each in its one spelling."""

from __future__ import annotations

import pytest

from streamtables.choices import TIERS, checked_choices, checked_options, checked_schedule
from streamtables.errors import ConfigError


def test_choices_have_one_spelling() -> None:
    choices = checked_choices(" 30S ", "Auto", "FORBID", "Warm", {"sla": "60 min"})
    assert (choices.schedule, choices.mode, choices.full) == ("30 seconds", "auto", "forbid")
    assert (choices.tier, choices.options) == ("warm", {"sla": "1 hour"})
    assert checked_options(None) == {}
    assert TIERS == ("hot", "warm", "cold", "frozen")


@pytest.mark.parametrize(
    "text", ["manual", "calculated", "on change", "1 minute", "5 minutes", "cron 0 4 * * mon"]
)
def test_a_schedule_that_is_in_its_spelling_stays_as_it_is(text: str) -> None:
    assert checked_schedule(text) == text


@pytest.mark.parametrize("wrong", [("quick", "hot"), ("auto", "tepid")])
def test_a_choice_that_is_none_is_refused_with_those_that_are(wrong: tuple[str, str]) -> None:
    mode, tier = wrong
    with pytest.raises(ConfigError) as refused:
        checked_choices("manual", mode, "allow", tier, None)
    assert refused.value.detail.startswith("Permitted: ")
