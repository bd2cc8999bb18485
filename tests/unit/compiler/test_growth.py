"""Which results can only grow while their tables grow."""

from __future__ import annotations

import pytest

from streamtables.compiler.plan import compile_sql
from streamtables.compiler.plan_facts import PlanFacts

TABLES = {"t": {"id": "int", "a": "int", "l": "array<int>"}, "u": {"a": "int", "b": "int"}}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, a + 1 AS n FROM t WHERE a > 0",
        "SELECT t.id, u.b FROM t JOIN u ON t.a = u.a JOIN u AS v ON v.b = u.b",
        "SELECT a FROM t UNION ALL SELECT b FROM u",
        "SELECT id, e FROM t LATERAL VIEW explode(l) x AS e",
    ],
)
def test_linear_queries_only_grow(query: str) -> None:
    assert PlanFacts.of(compile_sql(query, TABLES)).only_grows


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a, count(*) AS n FROM t GROUP BY a",
        "SELECT DISTINCT a FROM t",
        "SELECT t.id, u.b FROM t LEFT JOIN u ON t.a = u.a",
        "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
        "SELECT id FROM t WHERE a = (SELECT max(b) FROM u)",
        "SELECT id FROM t ORDER BY a, id LIMIT 3",
        "SELECT id, row_number() OVER (ORDER BY a, id) AS n FROM t",
        "SELECT a FROM t EXCEPT ALL SELECT a FROM u",
        "SELECT id FROM t WHERE current_date() > DATE '2024-01-01'",
    ],
)
def test_others_may_lose_rows(query: str) -> None:
    assert not PlanFacts.of(compile_sql(query, TABLES)).only_grows
