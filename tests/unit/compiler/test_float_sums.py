"""Which sums of floats are kept by adding where the user asks for it, and what is stored of them."""

from __future__ import annotations

import pytest

from streamtables.compiler.plan import Plan, compile_sql
from tests.unit.compiler.tables import KEYS, TABLES, compiled


def approximate(sql: str) -> Plan:
    return compile_sql(sql, TABLES, KEYS, approximate_floats=True)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT name, sum(score) AS s FROM customers GROUP BY name",
        "SELECT name, avg(float(score)) AS s, max(id) AS m FROM customers GROUP BY name",
        "SELECT round(avg(score), 2) AS s, count(*) AS n FROM customers",
        "SELECT vip, sum(score) FILTER (WHERE id > 1) AS s FROM customers GROUP BY vip",
    ],
)
def test_they_are_kept_only_where_the_user_asks(query: str):
    assert approximate(query).maintenance.form == "stored-state"
    assert compiled(query).maintenance.form == "touched-groups"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT name, sum(DISTINCT score) AS s FROM customers GROUP BY name",
        "SELECT name, stddev(score) AS s FROM customers GROUP BY name",
        "SELECT name, max(score) AS s FROM customers GROUP BY name",
        "SELECT name, sum(score) AS s FROM customers GROUP BY name HAVING sum(score) > 1",
    ],
)
def test_others_compute_touched_groups_again(query: str):
    assert approximate(query).maintenance.form == "touched-groups"


def test_below_another_operator_floats_are_added_in_order_all_the_same():
    query = "SELECT DISTINCT s FROM (SELECT sum(score) AS s FROM customers GROUP BY name)"
    assert approximate(query).delta_sql() == compiled(query).delta_sql()


def test_a_sum_and_an_average_of_one_column_share_their_state():
    plan = approximate("SELECT name, sum(score) AS s, avg(score) AS a FROM customers GROUP BY name")
    hidden = [name for name, _ in plan.maintenance.layout.hidden]
    assert hidden == [
        "__st_rows",
        "__st_sum_2",
        "__st_sum_2_error",
        "__st_sum_2_special",
        "__st_count_1",
    ]


def test_explain_names_how_they_are_kept_and_the_advice_names_the_option():
    query = "SELECT name, sum(score) AS s FROM customers GROUP BY name"
    assert (
        "added to the stored sum while that is known to nine digits" in approximate(query).explain()
    )
    assert "approximate_floats" in compiled(query).explain()
    assert "approximate_floats" not in approximate(query).explain()
