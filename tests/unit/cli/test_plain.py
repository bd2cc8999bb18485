"""Values of the API become JSON that every reader can read."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import pytest

from streamtables.cli.plain import pick, to_json
from streamtables.errors import Span


class Colour(Enum):
    RED = "red"


class Pair(NamedTuple):
    left: int
    right: Colour


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Colour.RED, "red"),
        (Pair(1, Colour.RED), {"left": 1, "right": "red"}),
        (Span(1, 2), {"start": 1, "end": 2}),
        (timedelta(minutes=1), 60.0),
        (date(2026, 1, 2), "2026-01-02"),
        (Decimal("1.10"), "1.10"),
        (Path("a/b"), "a/b"),
        (float("-inf"), "-inf"),
        (frozenset({"b", "a"}), ["a", "b"]),
        ({1: (2, None)}, {"1": [2, None]}),
        (b"\x00\xff", "AP8="),
    ],
)
def test_values(value, data):
    assert to_json(value) == data


def test_an_absent_attribute_is_null():
    assert pick(Span(1, 2), "start", "nothing") == {"start": 1, "nothing": None}
