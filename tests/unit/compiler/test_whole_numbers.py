"""Whole numbers that stand in a query, and the durations of time windows."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from streamtables.compiler.frontend.whole_numbers import whole_number
from tests.unit.compiler.tables import compiled


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("-(7)", -7),
        ("(1 + 2) * 3 - 4", 5),
        ("-7 % 4", -3),
        ("7 % 0", None),
        ("7 / 7", None),
        ("2147483647", 2147483647),
        ("2147483647 + 1", None),
        ("'7'", None),
        ("1.0", None),
        ("a + 1", None),
        ("-a", None),
    ],
)
def test_only_sums_products_and_remainders_of_literals_are_numbers(text: str, number: int | None):
    assert whole_number(parse_one(text, read="spark")) == number


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("'10 minutes'", "600000000"),
        ("'1 hour 30 minutes'", "'interval 90 MINUTE'"),
        ("'2 weeks', '1 day', '-1 hour'", "'14 days', '24 hours', -3600000000"),
    ],
)
def test_one_duration_may_be_written_in_many_ways(one: str, other: str):
    first, second = (
        compiled(f"SELECT window(at, {sizes}).start AS s FROM events") for sizes in (one, other)
    )
    first.require_incremental()
    assert first.query_sql() == second.query_sql()
