"""A scalar subquery with more than one row is an error, whatever was promised about the table."""

from __future__ import annotations

import duckdb
import pytest

from streamtables.compiler.plan import compile_sql
from tests.support.bags import bag_of
from tests.support.duckdb_oracle import Database

TABLES = {"t": {"g": "int"}, "d": {"k": "int", "s": "string"}}
LOOKED_UP = "SELECT t.g, (SELECT s FROM d WHERE d.k = t.g) AS s FROM t"
ALONE = "SELECT t.g, (SELECT s FROM d) AS s FROM t"


@pytest.mark.parametrize("keys", [{}, {"d": ["k"]}], ids=["no key", "a promised key"])
@pytest.mark.parametrize("query", [LOOKED_UP, ALONE])
def test_two_rows_where_one_is_asked_for_are_an_error(query, keys):
    plan = compile_sql(query, TABLES, keys)
    database = Database(TABLES)
    database.fill("t", [(1,), (2,)])
    database.fill("d", [(1, "x")])
    one = "x" if query == ALONE else None
    assert database.evaluate(plan) == bag_of([(1, "x"), (2, one)])
    database.fill("d", [(1, "x"), (1, "y")])
    with pytest.raises(duckdb.Error, match="more than one row"):
        database.evaluate(plan)
