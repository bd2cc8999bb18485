"""Refusals are values: mode `auto` keeps such a query by full refreshes, `differential` raises."""

from __future__ import annotations

import pytest

from streamtables.errors import NotIncrementalError, SqlError, UnimplementedSqlError
from tests.unit.compiler.refused_queries import REFUSED, Refused
from tests.unit.compiler.tables import compiled

APPROXIMATE = "SELECT approx_top_k(id) AS k FROM orders"


def _error_of(sql: str) -> SqlError:
    with pytest.raises(SqlError) as caught:
        compiled(sql).require_incremental()
    return caught.value


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.sql[:60])
def test_a_refusal_says_what_why_where_and_what_to_do(refused: Refused):
    error = _error_of(refused.sql)
    said = (error.code, error.message, error.detail, error.hint)
    assert said == refused[1:5]
    start = refused.sql.index(refused.under)
    assert error.place == f"{refused.sql}\n{' ' * start}{'^' * len(refused.under)}"


def test_a_refused_query_is_a_plan_with_a_reason():
    plan = compiled(APPROXIMATE)
    assert not plan.incremental
    (refusal,) = plan.refusals
    assert refusal.code == "ST-1203"
    assert (
        refusal.message
        == 'aggregate "approx_top_k" is not maintained incrementally by this version'
    )
    assert refusal.reason == 'This version has no delta rule for aggregate "approx_top_k".'
    assert refusal.hint == "Use mode 'auto' or 'full': the table is then kept by full refreshes."
    assert refusal.place.splitlines()[1].index("^") == APPROXIMATE.index("approx_top_k")


def test_a_refused_query_keeps_its_text_and_its_tables():
    plan = compiled("SELECT rand() AS r FROM orders o JOIN customers c ON o.customer = c.id")
    assert plan.tables == ("orders", "customers")
    assert plan.query_sql() == plan.sql


def test_a_refused_query_runs_over_other_relations_as_it_was_written():
    plan = compiled("SELECT id,  rand()  AS r FROM orders -- as it is")
    wanted = "SELECT id,  rand()  AS r FROM `__st_after_orders` AS `orders` -- as it is"
    assert plan.query_program().sql == wanted


def test_asking_for_the_delta_of_a_refused_query_raises_its_refusal():
    with pytest.raises(UnimplementedSqlError, match="approx_top_k"):
        compiled(APPROXIMATE).delta_sql()
    with pytest.raises(NotIncrementalError):
        compiled("SELECT rand() AS r FROM orders").require_incremental()


def test_the_error_of_a_refusal_says_the_same():
    refusal = compiled(APPROXIMATE).refusals[0]
    error = refusal.as_error()
    assert (error.code, error.message, error.detail, error.hint) == (
        refusal.code,
        refusal.message,
        refusal.reason,
        refusal.hint,
    )
    assert error.place == refusal.place


def test_order_by_alone_is_a_note():
    plan = compiled("SELECT id FROM orders ORDER BY id")
    assert plan.incremental
    assert plan.notes == ("ORDER BY without LIMIT has no effect: a table has no order.",)


@pytest.mark.parametrize("clause", ["SORT BY id", "CLUSTER BY id", "DISTRIBUTE BY id"])
def test_orderings_of_partitions_are_notes(clause: str):
    plan = compiled(f"SELECT id FROM orders {clause}")
    assert plan.incremental
    assert "no order" in plan.notes[0]


def test_hints_are_notes():
    plan = compiled("SELECT /*+ BROADCAST(c) */ c.name FROM orders o JOIN customers c USING (id)")
    assert plan.notes == ("Hints in the query are ignored.",)


def test_a_named_query_does_not_hide_the_table_that_it_reads():
    plan = compiled("WITH orders AS (SELECT * FROM orders) SELECT id FROM orders LIMIT 1")
    assert plan.tables == ("orders",)
    assert "FROM `__st_after_orders` AS `orders`) SELECT id FROM orders" in plan.query_program().sql
