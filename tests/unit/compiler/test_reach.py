"""Which columns say what a changed row can touch."""

from __future__ import annotations

import pytest

from streamtables.compiler.maintenance.reach import reached_by
from streamtables.compiler.plan import compile_sql

TABLES = {
    "t": {"id": "bigint", "a": "int", "b": "string"},
    "u": {"id": "bigint", "c": "int"},
}


@pytest.mark.parametrize(
    ("query", "reach"),
    [
        ("SELECT a, count(*) AS n FROM t GROUP BY a", ("a",)),
        ("SELECT b AS x, a AS y, sum(id) AS n FROM t WHERE id > 3 GROUP BY a, b", ("a", "b")),
        ("SELECT a + 1 AS k, count(*) AS n FROM t GROUP BY a + 1", None),
        ("SELECT count(*) AS n FROM t", None),
        ("SELECT id, b FROM t WHERE a > 1", ()),
        ("SELECT DISTINCT b FROM t", ("b",)),
        ("SELECT t.a, count(*) AS n FROM t JOIN u USING (id) GROUP BY t.a", None),
        ("SELECT id FROM t WHERE id IN (SELECT id FROM u)", None),
        ("SELECT id, sum(a) OVER () AS s FROM t", None),
        ("SELECT max(n) AS m FROM (SELECT a, count(*) AS n FROM t GROUP BY a)", None),
    ],
)
def test_reach(query: str, reach: tuple[str, ...] | None) -> None:
    found = reached_by(compile_sql(query, TABLES, {"t": ["id"], "u": ["id"]}).maintenance)
    assert (found and tuple(sorted(found))) == (reach and tuple(sorted(reach)))
