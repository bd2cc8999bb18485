"""The options of a stream table: one spelling, bounds, and reading them back."""

from __future__ import annotations

import json

import pytest

from streamtables.catalog.models import JsonValue
from streamtables.errors import ConfigError
from streamtables.scheduler.options import (
    TableOptions,
    altered_options,
    checked_options,
    every_option_none,
    read_options,
)
from streamtables.scheduler.windows import Window

AS_TEXT = {
    "target_lag": "5min",
    "SLA": "3600 s",
    "fuse_rows": "1000000",
    "fuse_factor": "10",
    "blackout": "mon-wed 8:00-18:00 europe/berlin",
    "notify": "Yes",
    "merge_strategy": "Replace_Keys",
}
STORED: dict[str, JsonValue] = {
    "target_lag": "5 minutes",
    "sla": "1 hour",
    "fuse_rows": 1_000_000,
    "fuse_factor": 10.0,
    "blackout": "mon-wed 08:00-18:00 Europe/Berlin",
    "notify": True,
    "merge_strategy": "replace-keys",
}


def test_options_are_stored_in_one_spelling() -> None:
    assert checked_options(AS_TEXT) == STORED
    assert checked_options(STORED) == STORED
    assert json.loads(json.dumps(STORED)) == STORED


def test_what_is_aimed_at_may_be_what_is_promised() -> None:
    assert checked_options({"target_lag": "60 s", "sla": "1 minute"}) == {
        "target_lag": "1 minute",
        "sla": "1 minute",
    }


def test_stored_options_are_read_back() -> None:
    window = Window((0, 1, 2), 480, 1_080, "Europe/Berlin")
    assert read_options(STORED) == TableOptions(
        300, 3_600, 1_000_000, 10, (window,), True, "replace-keys"
    )
    assert read_options({}) == TableOptions()


def test_an_option_can_be_altered_and_taken_back() -> None:
    stored: dict[str, JsonValue] = {"sla": "1 hour", "notify": True}
    assert altered_options(stored, {"SLA": "2 h"}) == {"sla": "2 hours", "notify": True}
    assert altered_options(stored, {"sla": "None"}) == {"notify": True}
    assert altered_options(stored, {"notify": None, "fuse_rows": 5}) == {
        "sla": "1 hour",
        "fuse_rows": 5,
    }
    assert altered_options(STORED, every_option_none()) == {}


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"fuse_row": 5}, 'Did you mean "fuse_rows"?'),
    ({"colour": "red"}, "target_lag, sla, fuse_rows"),
    ({"sla": "1 hour", "SLA": "2 hours"}, "given twice"),
    ({"target_lag": "soon"}, 'option "target_lag" "soon" cannot be read'),
    ({"sla": "400 days"}, "1 second to 366 days"),
    ({"sla": 5}, "whole numbers with units"),
    ({"sla": "1 minute", "target_lag": "61 s"}, "longer than the sla"),
    ({"fuse_rows": 0}, "a whole number from 1 to 1,000,000,000,000"),
    ({"fuse_rows": 1.5}, "a whole number from 1"),
    ({"fuse_rows": True}, "a whole number from 1"),
    ({"fuse_rows": "many"}, "a whole number from 1"),
    ({"fuse_rows": 10**400}, "a whole number from 1"),
    ({"fuse_factor": 0.5}, "a number from 1 to 1,000,000"),
    ({"fuse_factor": "nan"}, "a number from 1 to 1,000,000"),
    ({"fuse_factor": "inf"}, "a number from 1 to 1,000,000"),
    ({"blackout": ""}, "windows such as"),
    ({"blackout": "always"}, "A window is days, times"),
    ({"notify": "perhaps"}, "true or false"),
    ({"notify": 2}, "true or false"),
    ({"merge_strategy": "overwrite"}, "auto, replace-keys, merge"),
    ({"merge_speed": "merge"}, 'unknown option "merge_speed"'),
]


@pytest.mark.parametrize(("options", "said"), REFUSED, ids=str)
def test_what_is_not_an_option_or_out_of_bounds_is_refused(
    options: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        checked_options(options)
    error = refused.value
    assert said in " ".join((error.message, error.detail, error.hint))
