"""Queries that are wrong: each has a code, a message, a place and, where it helps, a hint."""

from __future__ import annotations

import pytest

from streamtables.compiler.schema import build_schema
from streamtables.errors import ConfigError, SqlError
from tests.unit.compiler.tables import compiled

SYNTAX, NAME, TYPE, UNSUPPORTED = "ST-1101", "ST-1102", "ST-1103", "ST-1202"

# query · code · words of the message · the text under the caret · words of the hint
WRONG = [
    ("SELECT id FROM", SYNTAX, 'syntax error near "FROM"', "FROM", "Check the query"),
    ("SELECT id FROM orders WHERE", SYNTAX, "syntax error", "WHERE", "Check the query"),
    ("SELECT id,, note FROM orders", SYNTAX, "syntax error", ",", "Take the comma away"),
    ("SELECT id, FROM orders", SYNTAX, "syntax error", ",", "Take the comma away"),
    ("SELECT (id FROM orders", SYNTAX, "syntax error", "FROM", "Check the query"),
    ("SELECT 'open FROM orders", SYNTAX, "cannot be read", "'", "Close the quote"),
    ("SELECT FROM orders", SYNTAX, "select list is empty", "SELECT", "at least one column"),
    ("SELECT id FROM orders; SELECT 1", SYNTAX, "found 2 statements", ";", "one SELECT"),
    ("", SYNTAX, "found no statement", "", "one SELECT"),
    ("DROP TABLE orders", UNSUPPORTED, "not by DROP", "DROP", "SELECT or WITH"),
    ("INSERT INTO orders VALUES (1)", UNSUPPORTED, "not by INSERT", "INSERT", "SELECT or WITH"),
    ("SELECT id FROM order", NAME, 'no source or stream table "order"', "order", '"orders"'),
    ("SELECT id FROM nowhere", NAME, '"nowhere"', "nowhere", "add_source"),
    ("SELECT amuont FROM orders", NAME, 'no column "amuont"', "amuont", '"amount"'),
    ("SELECT zzz FROM customers", NAME, 'no column "zzz"', "zzz", "id, name, score, vip"),
    ("SELECT o.zzz FROM orders AS o", NAME, 'no column "o.zzz"', "o.zzz", "Columns in reach"),
    ("SELECT x.id FROM orders AS o", NAME, 'no column "x.id"', "x.id", '"id"'),
    ("SELECT x.* FROM orders AS o", NAME, 'no table "x"', "x.*", "alias"),
    ("SELECT * EXCEPT (zzz) FROM orders", NAME, 'no column "zzz"', "zzz", "Columns in reach"),
    (
        "SELECT id FROM orders JOIN customers ON customer = customers.id",
        NAME,
        'column "id" is ambiguous',
        "id",
        '"t.id"',
    ),
    ("SELECT o.id FROM orders o JOIN customers c USING (zzz)", NAME, '"zzz"', "zzz", "in reach"),
    (
        "SELECT note.x AS y FROM orders",
        NAME,
        'no field "x" in a value of type string',
        "note.x",
        "struct",
    ),
    ("SELECT uper(note) AS u FROM orders", NAME, 'no function "uper"', "uper(note", '"upper"'),
    ("SELECT id AS a, note AS a FROM orders", NAME, 'two columns named "a"', "note AS a", "AS"),
    ("SELECT id AS __st_x FROM orders", NAME, "reserved", "id AS __st_x", "belong to the engine"),
    ("SELECT a.x FROM orders AS a(x, y)", NAME, "2 column aliases for 4", "a(x, y", "4 names"),
    ("WITH c(x, y) AS (SELECT id FROM orders) SELECT x FROM c", NAME, "2 column", None, "1 name"),
    ("SELECT note, sum(amount) AS s FROM orders", NAME, "neither grouped", "note", "GROUP BY"),
    (
        "SELECT id, note FROM orders GROUP BY id",
        NAME,
        'column "note" is neither grouped nor aggregated',
        "note",
        "Add it to GROUP BY",
    ),
    ("SELECT id FROM orders GROUP BY 2", NAME, "position 2", "2", "1 and 1"),
    ("SELECT count(*) AS n FROM orders GROUP BY 1", NAME, "is an aggregate", "1", "no aggregate"),
    ("SELECT id FROM orders WHERE sum(id) > 1", NAME, "cannot stand here", "sum(id", "HAVING"),
    ("SELECT sum(max(id)) AS m FROM orders", TYPE, "inside another", "max(id", "subquery"),
    (
        "SELECT id FROM orders WHERE note",
        TYPE,
        "true or false, this one is string",
        "note",
        "Compare",
    ),
    (
        "SELECT o.id FROM orders o JOIN customers c ON c.id",
        TYPE,
        "true or false",
        "c.id",
        "Compare",
    ),
    ("SELECT id FROM orders GROUP BY id HAVING id", TYPE, "true or false", None, "Compare"),
    (
        "SELECT vip + 1 AS x FROM customers",
        TYPE,
        "arithmetic on a value of type boolean",
        "vip",
        "Cast",
    ),
    ("SELECT tags * 2 AS x FROM events", TYPE, "type array<string>", "tags", "Cast"),
    (
        "SELECT vip > 1 AS x FROM customers",
        TYPE,
        "cannot compare boolean with int",
        "vip > 1",
        "Cast",
    ),
    (
        "SELECT sum(day) AS s FROM events",
        TYPE,
        '"sum" does not take a value of type date',
        "day",
        "Cast",
    ),
    (
        "SELECT sum(id, 1) AS s FROM orders",
        TYPE,
        '"sum" takes one argument',
        "sum(id, 1",
        "one value",
    ),
    ("SELECT avg(*) AS s FROM orders", TYPE, '"avg" takes one argument', None, "one value"),
    ("SELECT min(extra) AS s FROM events", TYPE, "type map<string,int>", "extra", "Cast"),
    (
        "SELECT id, note FROM orders UNION ALL SELECT id FROM customers",
        TYPE,
        "UNION of 2 and 1 columns",
        "id FROM customers",
        "same number",
    ),
    ("SELECT :p AS x FROM orders", UNSUPPORTED, "a parameter", ":p", "Take this part out"),
    ("SELECT id FROM orders VERSION AS OF 3", UNSUPPORTED, "fixed version", None, "Take this part"),
    ("SELECT DISTINCT ON (id) id FROM orders", UNSUPPORTED, "DISTINCT ON", "id", "Take this part"),
]


@pytest.mark.parametrize(
    ("sql", "code", "message", "under", "hint"), WRONG, ids=lambda x: str(x)[:60]
)
def test_wrong_query_is_an_error_with_its_place(sql, code, message, under, hint):
    with pytest.raises(SqlError) as caught:
        compiled(sql)
    error = caught.value
    assert error.code == code
    assert message in error.message
    assert not error.message.endswith(".")
    assert "<" not in error.message.replace("array<", "").replace("map<", "")
    assert hint in error.hint
    if under is not None and sql:
        assert error.span is not None
        assert sql[error.span.start : error.span.end] == under


@pytest.mark.parametrize("sql", [row[0] for row in WRONG if row[3]], ids=lambda sql: sql[:60])
def test_the_place_is_shown_with_a_caret(sql: str):
    with pytest.raises(SqlError) as caught:
        compiled(sql)
    line, carets = caught.value.place.splitlines()
    assert line == sql
    assert set(carets) <= {" ", "^"}
    assert "^" in carets


def test_the_caret_stands_in_the_right_line():
    with pytest.raises(SqlError) as caught:
        compiled("SELECT id,\n       amuont\nFROM orders")
    assert caught.value.place == "       amuont\n       ^^^^^^"


def test_a_query_beyond_all_depth_is_an_error_and_no_crash():
    with pytest.raises(SqlError, match="nested too deeply"):
        compiled(f"SELECT {'(' * 400}id{')' * 400} AS x FROM orders")


def test_a_long_chain_of_unions_and_conditions_compiles():
    union = " UNION ALL ".join(["SELECT id FROM orders"] * 150)
    assert compiled(union).incremental
    chain = " AND ".join(f"id <> {number}" for number in range(300))
    assert compiled(f"SELECT id FROM orders WHERE {chain}").incremental


def test_a_key_must_be_a_column_of_a_known_table():
    with pytest.raises(ConfigError, match='"zzz" is not a column'):
        build_schema({"t": {"a": "int"}}, {"t": ["zzz"]})
    with pytest.raises(ConfigError, match='unknown table "u"'):
        build_schema({"t": {"a": "int"}}, {"u": ["a"]})
