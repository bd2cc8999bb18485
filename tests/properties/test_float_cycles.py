"""Sums of floats do not drift, however often the same rows come and go."""

from __future__ import annotations

import pytest

from streamtables.compiler.plan import compile_sql
from tests.support.duckdb_oracle import Change, Database
from tests.support.maintained_table import MaintainedTable

pytestmark = pytest.mark.slow

TABLES = {"t": {"id": "int", "g": "int", "x": "double"}}
START = [(1, 1, 0.1), (2, 1, 0.2), (3, 1, 0.3), (4, 2, 1e-9)]
QUERY = "SELECT g, sum(x) AS s, avg(x) AS a FROM t GROUP BY g"
COMING = ((5, 1, 1e20), (5, 1, 0.7), (5, 2, float("inf")), (5, 2, 3e-17))


@pytest.mark.parametrize("cycles", [400, pytest.param(10_000, marks=pytest.mark.long)])
def test_rows_that_come_and_go_leave_the_sums_as_they_were(cycles: int):
    plan = compile_sql(QUERY, TABLES, {"t": ["id"]})
    database = Database(TABLES)
    try:
        database.fill("t", START)
        database.apply({})
        table = MaintainedTable(plan, database)
        first = table.visible()
        changed = frozenset({"t"})
        for cycle in range(cycles):
            row = COMING[cycle % len(COMING)]
            for weight in (1, -1):
                database.apply({"t": [Change(row, weight)]})
                table.refresh(changed, ("derived", True), parts=False)
            if cycle % 100 == 99:
                assert table.visible() == database.evaluate(plan)
        assert table.visible() == first
    finally:
        database.close()
