"""Advice is given when it is true, and not otherwise."""

from __future__ import annotations

import pytest

from streamtables.compiler.explaining.advice import advice
from streamtables.compiler.plan import compile_sql
from tests.unit.compiler.tables import KEYS, TABLES

GIVEN = {
    "declare-key": "SELECT o.id FROM orders o JOIN log ON o.id = log.id",
    "no-key": "SELECT id FROM log UNION ALL SELECT id FROM log",
    "whole-window": "SELECT id, rank() OVER (ORDER BY amount) AS r FROM orders",
    "first-rows": "SELECT id FROM orders ORDER BY amount LIMIT 3 OFFSET 1",
    "whole-aggregate": "SELECT max(score) AS m FROM customers",
    "no-equality": "SELECT o.id, c.id AS c FROM orders o JOIN customers c ON customer < c.id",
    "cast-equality": "SELECT o.id, c.id AS c FROM orders o LEFT JOIN customers c ON note = c.id",
    "not-in": "SELECT id FROM orders WHERE customer NOT IN (SELECT id FROM customers)",
    "whole-scalar": "SELECT id FROM orders WHERE amount > (SELECT avg(amount) FROM orders)",
    "float-aggregate": "SELECT name, sum(score) AS s FROM customers GROUP BY name",
    "mixed-aggregates": "SELECT note, sum(id) AS s, mode(id) AS m FROM orders GROUP BY note",
    "having": "SELECT note, sum(id) AS s FROM orders GROUP BY note HAVING sum(id) > 1",
    "refused": "SELECT id, rand() AS r FROM orders",
}
QUIET = [
    "SELECT max(amount) AS m FROM orders",
    "SELECT note, sum(id) AS s, max(id) AS m FROM orders GROUP BY note",
    "SELECT id FROM orders WHERE amount > 1",
    "SELECT o.id FROM orders o JOIN customers c ON customer = c.id",
    "SELECT note, sum(amount) AS s, count(*) AS n FROM orders GROUP BY note",
    "SELECT id, rank() OVER (PARTITION BY note ORDER BY amount) AS r FROM orders",
    "SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM customers c WHERE c.id = customer)",
    "SELECT id FROM orders WHERE customer IN (SELECT id FROM customers)",
]


def codes(sql: str, sources: list[str] | None = None) -> list[str]:
    tables = {**TABLES, "log": {"id": "int", "text": "string"}}
    return [item.code for item in advice(compile_sql(sql, tables, KEYS), sources=sources)]


@pytest.mark.parametrize("code", GIVEN)
def test_advice_is_given_where_it_is_true(code: str):
    assert code in codes(GIVEN[code])


@pytest.mark.parametrize("sql", QUIET)
def test_nothing_is_said_where_nothing_would_help(sql: str):
    assert codes(sql) == []


def test_an_equality_that_is_not_used_says_which_type_is_missing():
    sql = "SELECT id FROM orders WHERE {} IN (SELECT name FROM customers)"
    unknown = "from_json(note, schema_of_json('[1]'))[0]"
    (found,) = advice(compile_sql(sql.format(unknown), TABLES, KEYS))
    assert found.code == "cast-equality"
    assert found.reason.startswith("the type of from_json(note, schema_of_json('[1]'))[0] is not")
    assert codes(sql.format(f"CAST({unknown} AS STRING)")) == []
    (unlike,) = advice(compile_sql(sql.format("customer"), TABLES, KEYS))
    assert unlike.reason.startswith("customer is int and name_2 is string, so")


def test_windows_over_windows_of_all_rows_are_named_once():
    running = "SELECT id, sum(score) OVER (ORDER BY name) AS s FROM customers"
    assert codes(running) == ["whole-window"]


def test_every_advice_has_an_action_and_a_reason():
    for sql in GIVEN.values():
        for item in advice(compile_sql(sql, {**TABLES, "log": {"id": "int"}}, KEYS)):
            assert item.text.endswith(".")
            assert item.reason
            assert not item.reason.endswith(".")


def test_the_key_of_another_stream_table_cannot_be_declared():
    assert "declare-key" not in codes(GIVEN["declare-key"], sources=["orders"])


def test_a_bag_learns_whence_a_key_could_come():
    tables = {"log": {"id": "int", "text": "string"}}
    (declared,) = advice(compile_sql("SELECT text FROM log", tables))
    (grouped,) = advice(compile_sql("SELECT id FROM log UNION ALL SELECT id FROM log", tables))
    assert declared.text == 'Declare the key of "log": the result would have one too.'
    assert "SELECT DISTINCT" in grouped.text
