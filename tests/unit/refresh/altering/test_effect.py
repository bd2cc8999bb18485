"""Two spellings of a query, and two queries: what the second does to rows of the first."""

from __future__ import annotations

import pytest

from streamtables.compiler import Plan, compile_sql
from streamtables.refresh.altering.effect import Effect, effect_of

TABLES = {
    "orders": {"id": "bigint", "cust": "bigint", "amount": "decimal(12,2)", "note": "string"},
    "people": {"pid": "bigint", "name": "string"},
}
KEYS = {"orders": ["id"], "people": ["pid"]}
VIEWS = {"large": "SELECT * FROM orders WHERE amount > 3"}


def plan(query: str) -> Plan:
    return compile_sql(query, TABLES, KEYS, VIEWS)


def effect(old: str, new: str, *, filled: bool = True) -> Effect:
    return effect_of(plan(old), plan(new), filled=filled)


SAME = {
    "blanks and comments": (
        "SELECT id, amount FROM orders WHERE amount > 3",
        "select id,\n  amount -- what it cost\nFROM orders WHERE (amount > 3)",
    ),
    "other names of tables": (
        "SELECT name, sum(amount) AS s FROM orders o JOIN people p ON cust = pid GROUP BY name",
        "SELECT y.name, sum(x.amount) s FROM orders x JOIN people y ON x.cust = y.pid GROUP BY y.name",
    ),
    "other names inside": (
        "WITH a AS (SELECT id, amount + 1 AS z FROM orders) SELECT id, z FROM a",
        "WITH b AS (SELECT id k, amount + 1 AS w FROM orders) SELECT k AS id, w AS z FROM b",
    ),
    "a view written out": (
        "SELECT id, note FROM large",
        "SELECT id, note FROM orders WHERE amount > 3",
    ),
    "without a plan": (
        "SELECT rand() AS r, 'a' AS a FROM orders",
        "SELECT  rand() AS r, /* a letter */ 'a' AS a\nFROM orders",
    ),
}


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_the_same_meaning_touches_nothing(old: str, new: str) -> None:
    assert effect(old, new).kind == "nothing"


OTHER_ROWS = {
    "a wider filter": ("WHERE amount > 3", "WHERE amount > 2"),
    "no filter": ("WHERE amount > 3", ""),
    "another word in a string": ("WHERE note = 'a'", "WHERE note = 'A'"),
}


@pytest.mark.parametrize(("old", "new"), OTHER_ROWS.values(), ids=OTHER_ROWS)
def test_other_rows_of_the_same_columns_are_a_difference(old: str, new: str) -> None:
    found = effect(f"SELECT id, note FROM orders {old}", f"SELECT id, note FROM orders {new}")
    assert found == Effect("difference")


def test_a_string_and_a_column_are_not_the_same_word() -> None:
    old, new = (f"SELECT rand() AS r, {word} AS n FROM orders" for word in ("note", "'note'"))
    assert effect(old, new).kind == "rebuild"


def test_columns_that_come_go_and_change_are_named() -> None:
    found = effect(
        "SELECT id, note, cust FROM orders",
        "SELECT id, CAST(cust AS INT) AS cust, amount FROM orders",
    )
    assert found == Effect(
        "rebuild", added=("amount",), removed=("note",), retyped=(("cust", "bigint", "int"),)
    )
    assert found.text == (
        "adds column amount, removes column note, column cust becomes int (was bigint), "
        "rebuilt aside, then swapped in by one commit"
    )


def test_columns_in_another_order_are_a_rebuild() -> None:
    found = effect("SELECT id, note FROM orders", "SELECT note, id FROM orders")
    assert (found.kind, found.moved) == ("rebuild", True)


def test_a_bag_and_a_keyed_table_do_not_mix() -> None:
    """The visible columns are equal; what tells the rows apart is not."""
    assert effect("SELECT note FROM orders", "SELECT DISTINCT note FROM orders").kind == "rebuild"


def test_a_hidden_key_is_a_column_too() -> None:
    by_name = "SELECT count(*) AS n FROM orders GROUP BY note"
    assert effect(by_name, "SELECT count(*) AS n FROM orders GROUP BY cust").kind == "rebuild"


def test_what_only_spark_can_tell_is_said() -> None:
    found = effect("SELECT id FROM orders", "SELECT rand() AS r FROM orders")
    assert (found.kind, found.known) == ("rebuild", False)
    assert "Spark alone" in found.text


def test_a_query_that_no_longer_compiles_says_nothing_about_its_rows() -> None:
    assert effect_of(None, plan("SELECT id FROM orders"), filled=True).kind == "rebuild"


def test_a_table_without_rows_is_filled_not_rebuilt() -> None:
    found = effect("SELECT id FROM orders", "SELECT id, note FROM orders", filled=False)
    assert found.text == "adds column note, no rows yet: the first refresh fills it"
