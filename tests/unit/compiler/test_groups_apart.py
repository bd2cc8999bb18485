"""Which groups can be stored apart, and what reads them then."""

from __future__ import annotations

from dataclasses import replace

import pytest

import streamtables
from streamtables.compiler.algebra import Scan
from streamtables.compiler.maintenance.groups_apart import GroupsApart, groups_apart
from streamtables.compiler.plan import Plan
from streamtables.compiler.rewrites.rebuild import in_order

TABLES = {
    "orders": {"id": "bigint", "c": "bigint", "n": "bigint", "x": "double", "ts": "timestamp"},
    "customers": {"c": "bigint", "region": "string"},
}
KEYS = {"orders": ["id"], "customers": ["c"]}
TOTALS = "SELECT c, sum(n) AS total FROM orders GROUP BY c"


def compiled(query: str) -> Plan:
    return streamtables.compile(query, tables=TABLES, keys=KEYS)


def apart(query: str) -> tuple[GroupsApart, ...]:
    return groups_apart(compiled(query).definition)


def over(query: str) -> Plan:
    """Return the plan that reads its groups from tables of their own."""
    plan = compiled(query)
    found = groups_apart(plan.definition)
    return replace(plan, apart={item.sql: f"kept_{place}" for place, item in enumerate(found)})


def read_by_changes(plan: Plan) -> list[str]:
    return sorted({node.table for node in in_order(plan.followed) if isinstance(node, Scan)})


def test_groups_below_the_first_rows_of_an_order_are_stored_apart():
    plan = over(f"{TOTALS} ORDER BY total DESC, c LIMIT 3")
    assert read_by_changes(plan) == ["kept_0"]
    assert plan.maintenance.layout == plan.filling.layout


def test_what_a_condition_hides_of_the_groups_at_the_root_is_stored_apart():
    plan = over(f"{TOTALS} HAVING sum(n) > 10")
    assert read_by_changes(plan) == ["kept_0"]
    assert plan.maintenance.form == "signed-rows"


def test_groups_that_the_root_keeps_by_itself_stay_there():
    assert apart(TOTALS) == ()


def test_the_outermost_of_nested_groups_is_stored():
    nested = f"SELECT total, count(*) AS n FROM ({TOTALS}) GROUP BY total"
    [found] = apart(f"SELECT * FROM ({nested}) ORDER BY n DESC, total LIMIT 2")
    assert found.names == ("total", "count")


def test_groups_that_are_read_twice_are_one_table():
    query = f"WITH t AS ({TOTALS}) SELECT a.c, b.total FROM t a JOIN t b ON a.total = b.total"
    assert len(apart(query)) == 1
    assert read_by_changes(over(query)) == ["kept_0"]


def test_the_query_of_stored_groups_is_kept_by_stored_state():
    [found] = apart(f"SELECT r.region, t.total FROM customers r JOIN ({TOTALS}) t USING (c)")
    plan = compiled(found.sql)
    assert plan.maintenance.form == "stored-state"
    assert [name for name, _ in plan.output] == list(found.names)
    assert plan.key == list(found.names[:1])


def test_a_full_refresh_reads_the_sources_alone():
    plan = over(f"{TOTALS} ORDER BY total DESC, c LIMIT 3")
    assert "kept_0" not in plan.filling.full().sql
    assert "kept_0" not in plan.query_program().sql
    assert "kept_0" not in plan.query_sql()


@pytest.mark.parametrize(
    "groups",
    [
        pytest.param("SELECT c, sum(x) AS total FROM orders GROUP BY c", id="sums of floats"),
        pytest.param("SELECT 1 AS c, sum(n) AS total FROM orders", id="no groups"),
        pytest.param(
            "SELECT c, count(DISTINCT n) AS total FROM orders GROUP BY c", id="distinct values"
        ),
        pytest.param(
            "SELECT c, sum(n) AS total FROM orders WHERE ts > now() - INTERVAL 1 DAY GROUP BY c",
            id="the current time",
        ),
    ],
)
def test_other_groups_are_computed_where_they_stand(groups: str):
    query = f"SELECT r.region, t.total FROM customers r LEFT JOIN ({groups}) t ON t.c = r.c"
    assert apart(query) == ()


def test_names_that_are_ours_or_come_twice_are_replaced():
    query = f"SELECT t.* FROM ({TOTALS}) t ORDER BY total DESC, c LIMIT 3"
    [found] = apart(query)
    assert all(name.isidentifier() and not name.startswith("__st_") for name in found.names)
    assert len({name.lower() for name in found.names}) == len(found.names)


def test_what_a_change_costs_counts_the_stored_groups_too():
    query = f"SELECT r.region, t.total FROM customers r JOIN ({TOTALS}) t USING (c)"
    shown = over(query).explain()
    assert "apart     by c_2: sum(n)" in shown
    assert "its change is added to the stored sums and counts" in shown
    computed = compiled(query).explain()
    assert "orders     O(touched groups)" in computed
    assert "orders     O(touched groups)" not in shown
