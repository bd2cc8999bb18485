"""Which conditions are plain enough to be judged by whoever fetches rows."""

from __future__ import annotations

import pytest
import sqlglot

from streamtables.compiler.algebra.plain_conditions import plain_conditions
from streamtables.compiler.frontend.dialect import VerbatimSpark
from streamtables.compiler.types import SqlType

TYPES = {
    "n": "int",
    "big": "bigint",
    "c": "decimal(12,2)",
    "wide": "decimal(38,18)",
    "d": "date",
    "ts": "timestamp",
    "s": "string",
    "lower": "stringcollateutf8_lcase",
    "x": "double",
    "f": "boolean",
}


def found(text: str) -> list[tuple[object, ...]]:
    condition = sqlglot.parse_one(text, dialect=VerbatimSpark)
    return [
        (item.column, item.comparison, item.kind, *item.constants)
        for item in plain_conditions(condition, lambda name: SqlType(TYPES[name]))
    ]


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("n = 3", [("n", "=", "number", "3")]),
        ("3 < n", [("n", ">", "number", "3")]),
        ("n >= -2", [("n", ">=", "number", "-2")]),
        ("n < 1.5", [("n", "<", "number", "1.5")]),
        ("c BETWEEN 0.05 AND 7", [("c", ">=", "number", "0.05"), ("c", "<=", "number", "7")]),
        ("s IN ('b', 'a')", [("s", "in", "text", "a", "b")]),
        ("(s = 'x') AND (n > 1 AND big = 2)", [
            ("s", "=", "text", "x"), ("n", ">", "number", "1"), ("big", "=", "number", "2"),
        ]),
        ("n = 1 AND x > 1.0 AND n IN (SELECT 1)", [("n", "=", "number", "1")]),
        ("d = '2024-02-29'", [("d", "=", "date", "2024-02-29")]),
        ("d < DATE '2024-01-31' + INTERVAL '1' MONTH", [("d", "<", "date", "2024-02-29")]),
        ("d < DATE '2024-02-29' + INTERVAL 1 YEAR", [("d", "<", "date", "2025-02-28")]),
        ("d >= DATE '2024-03-01' - INTERVAL '90' DAY", [("d", ">=", "date", "2023-12-02")]),
        ("d >= (DATE '2024-03-01' - INTERVAL 2 WEEKS)", [("d", ">=", "date", "2024-02-16")]),
        ("d >= CAST('2024-01-01' AS DATE)", [("d", ">=", "date", "2024-01-01")]),
        ("s LIKE 'pre%'", [("s", "starts", "text", "pre")]),
        ("s LIKE '%post'", [("s", "ends", "text", "post")]),
        ("s LIKE '%in it%'", [("s", "contains", "text", "in it")]),
        ("s LIKE 'all'", [("s", "=", "text", "all")]),
    ],
)  # fmt: skip
def test_comparisons_with_constants_are_plain(text: str, conditions: list[object]):
    assert found(text) == conditions


@pytest.mark.parametrize(
    "text",
    [
        "n = 1 OR s = 'x'",
        "NOT n = 1",
        "n <> 1",
        "n <=> 1",
        "n = big",
        "n + 1 = 2",
        "n = '1'",
        "n = 1e3",
        "n IN (1, NULL)",
        "n IN (SELECT 1)",
        "x = 1",
        "wide = 1",
        "f = true",
        "ts > '2024-01-01'",
        "lower = 'x'",
        "s = 1",
        "s = 'it''s'",
        "s LIKE '%'",
        "s LIKE ''",
        "s LIKE 'a%b'",
        "s LIKE 'a_'",
        r"s LIKE 'a\\%'",
        "s LIKE 'a!%' ESCAPE '!'",
        "s LIKE ANY ('a%', 'b%')",
        "s NOT LIKE 'a%'",
        "s ILIKE 'a%'",
        "s LIKE lower",
        "lower LIKE 'a%'",
        "n LIKE '1%'",
        "d LIKE '2024-02-29'",
        r"s = 'a\tb'",
        "d = '2024-02-30'",
        "d = '2024-2-1'",
        "d = DATE '9999-12-31' + INTERVAL 1 DAY",
        "d = DATE '2024-01-01' + INTERVAL 1 HOUR",
        "d = '2024-01-01' + INTERVAL 1 DAY",
        "d > current_date",
        "upper(s) = 'X'",
    ],
)
def test_all_else_is_left_to_spark(text: str):
    assert found(text) == []
