"""The key that tells a result's rows apart, derived from the keys of the tables."""

from __future__ import annotations

import pytest

from streamtables.compiler.plan import compile_sql

TABLES = {
    "r": {"id": "int", "a": "int", "b": "int"},
    "t": {"id": "int", "a": "int"},
    "u": {"a": "int", "b": "int"},
}
KEYS = {"r": ["id"], "t": ["id"]}


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("SELECT r.id, t.a FROM r LEFT JOIN t ON r.a = t.id", ["id"]),
        ("SELECT r.id, t.id AS other FROM r LEFT JOIN t ON r.a = t.a", ["id", "other"]),
        ("SELECT r.id, u.b FROM r LEFT JOIN u ON r.a = u.a", None),
        ("SELECT u.b, r.id FROM r RIGHT JOIN u ON r.id = u.a", None),
        ("SELECT id FROM r WHERE EXISTS (SELECT 1 FROM u WHERE u.a = r.a)", ["id"]),
        ("SELECT id, a IN (SELECT b FROM u) AS m FROM r", ["id"]),
        ("SELECT id, (SELECT max(b) FROM u WHERE u.a = r.a) AS m FROM r", ["id"]),
        ("SELECT id, (SELECT t.a FROM t WHERE t.id = r.a) AS m FROM r", ["id"]),
        ("SELECT id, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM r", ["id"]),
        ("SELECT id, b FROM r ORDER BY b LIMIT 3", ["id"]),
        ("SELECT a, b FROM u ORDER BY b LIMIT 3", None),
        ("SELECT id, x FROM r LATERAL VIEW explode(array(a, b)) e AS x", None),
        ("SELECT a FROM r INTERSECT SELECT a FROM u", ["a"]),
        ("SELECT a FROM r EXCEPT ALL SELECT a FROM u", None),
        ("SELECT id FROM r FULL JOIN u ON r.a = u.a", None),
    ],
)
def test_the_key_follows_from_the_operators(query: str, key: list[str] | None):
    assert compile_sql(query, TABLES, KEYS).key == key
