"""Aggregates in Python: where they may stand, and how they are kept."""

from __future__ import annotations

import pytest

from streamtables.compiler.library import Library, PythonFunction
from streamtables.compiler.plan import Plan, compile_query
from streamtables.compiler.schema import build_schema
from streamtables.errors import SqlError, SqlTypeError, UnknownNameError, UnsupportedSqlError

SCHEMA = build_schema(
    {"t": {"id": "int", "a": "int", "b": "int", "x": "double"}, "u": {"a": "int", "b": "int"}},
    {"t": ["id"]},
)
LIBRARY = Library.of(
    [
        PythonFunction("Spread", "bigint", aggregate=True),
        PythonFunction("mean_of", "double", aggregate=True),
        PythonFunction("dice", "int", deterministic=False, aggregate=True),
        PythonFunction("one", "bigint"),
    ]
)


def planned(query: str) -> Plan:
    return compile_query(query, SCHEMA, LIBRARY)


@pytest.mark.parametrize(
    ("query", "form", "types"),
    [
        ("SELECT a, spread(b) AS s FROM t GROUP BY a", "touched-groups", ["int", "bigint"]),
        ("SELECT spread(b) AS s FROM t", "touched-groups", ["bigint"]),
        ("SELECT mean_of(b) AS s FROM t GROUP BY a", "touched-groups", ["double"]),
        ("SELECT one(spread(b)) AS s FROM t GROUP BY a", "touched-groups", ["bigint"]),
        ("SELECT DISTINCT spread(b) AS s FROM t GROUP BY a", "stored-state", ["bigint"]),
        ("SELECT id, spread(b) OVER (PARTITION BY a) AS s FROM t", "signed-rows", None),
        ("SELECT id, mean_of(x) OVER (PARTITION BY a) AS s FROM t", "signed-rows", None),
    ],
)
def test_it_is_kept_by_changes(query: str, form: str, types: list[str] | None):
    plan = planned(query)
    plan.require_incremental()
    assert plan.maintenance.form == form
    assert types is None or [type_ for _, type_ in plan.output] == types


def test_over_no_rows_it_has_no_row():
    assert "GROUP BY" in planned("SELECT spread(b) AS s FROM t").query_sql()
    sets = planned("SELECT spread(b) AS s FROM t GROUP BY GROUPING SETS (())")
    assert "GROUP BY" in sets.query_sql()


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT dice(b) AS s FROM t GROUP BY a", "another answer each time"),
        ("SELECT id FROM t WHERE EXISTS (SELECT spread(b) FROM u)", "without GROUP BY"),
        ("SELECT (SELECT spread(b) FROM u WHERE u.a = t.a) AS s FROM t", "without GROUP BY"),
        ("SELECT count(*) AS n FROM (SELECT spread(b) AS s FROM t)", "without GROUP BY"),
        ("SELECT DISTINCT mean_of(b) AS s FROM t GROUP BY a", "last digits"),
        ("SELECT mean_of(b) OVER (ORDER BY a) AS s FROM t", "share an order"),
    ],
)
def test_where_spark_has_no_one_answer_it_is_refused(query: str, reason: str):
    (refusal,) = planned(query).refusals
    assert reason in refusal.reason
    assert "^" in refusal.place


@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        ("SELECT spread(b) AS s, count(*) AS n FROM t", SqlTypeError, "beside an aggregate"),
        ("SELECT spread(DISTINCT b) AS s FROM t", SqlTypeError, "neither DISTINCT nor FILTER"),
        ("SELECT spread(b) FILTER (WHERE b > 1) AS s FROM t", SqlTypeError, "nor FILTER"),
        ("SELECT spread() AS s FROM t", SqlTypeError, "takes arguments"),
        ("SELECT spread(*) AS s FROM t", SqlTypeError, "takes values alone"),
        ("SELECT spread(max(b)) AS s FROM t", SqlTypeError, "inside another"),
        ("SELECT id FROM t WHERE spread(b) > 1", UnknownNameError, "cannot stand here"),
        (
            "SELECT * FROM (SELECT a, b FROM t) PIVOT (spread(b) FOR a IN (1, 2))",
            UnsupportedSqlError,
            "inside PIVOT",
        ),
    ],
)
def test_what_spark_does_not_take_is_an_error(query: str, error: type[SqlError], message: str):
    with pytest.raises(error, match=message) as caught:
        planned(query)
    assert caught.value.place
