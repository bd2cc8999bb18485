"""Queries that only Spark can read: which tables they name, and what is refused."""

from __future__ import annotations

import pytest

from streamtables.compiler import Plan, compile_query, unread_query
from streamtables.compiler.library import NOTHING, Library, SqlFunction, View
from streamtables.compiler.schema import build_schema
from streamtables.errors import SqlSyntaxError, UnknownNameError

SCHEMA = build_schema(
    {
        "orders": {"id": "int", "detail": "variant"},
        "days": {"d": "date"},
        "shop.sales": {"id": "int"},
    }
)

READ = {
    "SELECT id >>> 1 AS n FROM orders": (
        "SELECT id >>> 1 AS n FROM `__st_after_orders` AS `orders`"
    ),
    "SELECT id >>> 1 AS n FROM Orders AS o;": "SELECT id >>> 1 AS n FROM `__st_after_orders` AS o",
    "SELECT detail:from AS f, EXTRACT(DAY FROM days.d) AS d FROM orders o, days": (
        "SELECT detail:from AS f, EXTRACT(DAY FROM days.d) AS d "
        "FROM `__st_after_orders` o, `__st_after_days` AS `days`"
    ),
    "SELECT id >>> 1 FROM orders WHERE id IS DISTINCT FROM days": (
        "SELECT id >>> 1 FROM `__st_after_orders` AS `orders` WHERE id IS DISTINCT FROM days"
    ),
    "WITH RECURSIVE n(i) MAX RECURSION LEVEL 5 AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT i FROM n JOIN shop.sales ON id = i": (
        "WITH RECURSIVE n(i) MAX RECURSION LEVEL 5 AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT i FROM n JOIN `__st_after_shop__sales` AS `sales` ON id = i"
    ),
    "SELECT id >>> 1 FROM (orders CROSS JOIN days), range(3), LATERAL (SELECT d FROM days x)": (
        "SELECT id >>> 1 FROM (`__st_after_orders` AS `orders` CROSS JOIN `__st_after_days` "
        "AS `days`), range(3), LATERAL (SELECT d FROM `__st_after_days` x)"
    ),
    "SELECT id >>> 1 FROM orders LATERAL VIEW explode(array(1)) e AS one, days": (
        "SELECT id >>> 1 FROM `__st_after_orders` AS `orders` LATERAL VIEW explode(array(1)) e "
        "AS one, days"
    ),
    "SELECT id >>> 1 FROM VALUES (1), (2) AS v(x), orders": (
        "SELECT id >>> 1 FROM VALUES (1), (2) AS v(x), `__st_after_orders` AS `orders`"
    ),
    "SELECT 'FROM days' AS t, id >>> 1 FROM orders -- FROM days": (
        "SELECT 'FROM days' AS t, id >>> 1 FROM `__st_after_orders` AS `orders` -- FROM days"
    ),
}

UNCLEAR = {
    "SELECT 1 >>> 1": "no table",
    "SELECT id >>> 1 FROM IDENTIFIER('orders')": "IDENTIFIER",
    "SELECT half(id) >>> 1 FROM orders": "half",
    "WITH days AS (SELECT 1) SELECT id >>> 1 FROM orders, days": "named query",
    "SELECT id >>> 1 FROM orders; DROP TABLE orders": "more than one statement",
    "DELETE FROM orders WHERE id >>> 1 = 0": "does not begin like a query",
}


def read_as_text(sql: str, library: Library = NOTHING) -> Plan:
    with pytest.raises(SqlSyntaxError) as unread:
        compile_query(sql, SCHEMA, library)
    return unread_query(unread.value, sql, SCHEMA, library)


@pytest.mark.parametrize("sql", READ)
def test_only_words_that_name_tables_are_replaced(sql: str):
    assert read_as_text(sql).query_program().sql == f"SELECT * FROM (\n{READ[sql]}\n)"


def test_the_plan_has_a_refusal_with_a_place_and_all_inputs():
    plan = read_as_text("SELECT id >>> 1 AS n FROM orders JOIN days ON true")
    assert plan.tables == ("orders", "days")
    assert not plan.incremental
    assert plan.refusals[0].code == "ST-1203"
    assert "^" in plan.refusals[0].place


def test_a_view_is_put_in_as_text():
    library = Library.of([View("late", "SELECT d FROM days WHERE d > '2024-01-01'")])
    plan = read_as_text("SELECT id >>> 1 AS n FROM orders, late", library)
    assert plan.tables == ("orders", "days")
    assert "(SELECT d FROM `__st_after_days` AS `days` WHERE" in plan.query_program().sql
    assert [entry.name for entry in plan.used] == ["late"]


@pytest.mark.parametrize("sql", UNCLEAR)
def test_what_could_mean_two_things_is_refused_with_its_reason(sql: str):
    library = Library.of([SqlFunction("half", (("x", "int"),), "int", "x / 2")])
    with pytest.raises(SqlSyntaxError) as error:
        read_as_text(sql, library)
    assert UNCLEAR[sql] in error.value.detail


def test_a_table_that_nobody_knows_is_an_error():
    with pytest.raises(UnknownNameError, match="nowhere"):
        read_as_text("SELECT id >>> 1 AS n FROM nowhere")
