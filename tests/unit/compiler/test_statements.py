"""SQL statements about stream tables: what is ours, what it says, and where it is wrong."""

from __future__ import annotations

import pytest

from streamtables.compiler.library_statements import (
    CreateFunction,
    CreateView,
    DropFunction,
    DropView,
)
from streamtables.compiler.statements import (
    AlterStreamTable,
    CreateStreamTable,
    DropStreamTable,
    ExplainStreamTable,
    RefreshStreamTable,
    ShowStreamTables,
    parse_statement,
    split_statements,
)
from streamtables.errors import SqlSyntaxError


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "CREATE TABLE t (a INT)",
        "CREATE OR REPLACE TABLE t AS SELECT 1",
        "SHOW TABLES",
        "EXPLAIN SELECT 1",
        "REFRESH TABLE t",
        "DESCRIBE STREAM TABLE t",
        "ALTER TABLE stream SET TBLPROPERTIES (a = 1)",
        "",
        "-- nothing",
    ],
)
def test_other_statements_go_to_spark(text: str):
    assert parse_statement(text) is None


def test_create_with_nothing_but_a_query():
    assert parse_statement("CREATE STREAM TABLE t AS SELECT 1") == CreateStreamTable(
        "t", "SELECT 1"
    )


def test_create_with_every_clause():
    statement = parse_statement(
        "create or replace stream table shop.t schedule '1 minute' as SELECT 1"
    )
    assert statement == CreateStreamTable("shop.t", "SELECT 1", replace=True, schedule="1 minute")
    statement = parse_statement(
        "CREATE STREAM TABLE IF NOT EXISTS t OPTIONS (a = 1, b = 'x y', c = true, d = -2.5, e = w)\n"
        "TIER WARM FULL FORBID MODE DIFFERENTIAL SCHEDULE 'on change' AS SELECT 1;"
    )
    assert statement == CreateStreamTable(
        "t",
        "SELECT 1",
        if_not_exists=True,
        schedule="on change",
        mode="differential",
        full="forbid",
        tier="warm",
        options={"a": 1, "b": "x y", "c": True, "d": -2.5, "e": "w"},
    )


def test_mode_full_and_full_allow_do_not_mix():
    statement = parse_statement("CREATE STREAM TABLE t MODE FULL FULL ALLOW AS SELECT 1")
    assert isinstance(statement, CreateStreamTable)
    assert (statement.mode, statement.full) == ("full", "allow")


def test_the_query_is_kept_as_it_was_written():
    query = "SELECT  a, -- why\n  'it''s; as'  AS b\nFROM `my table`"
    statement = parse_statement(f"CREATE STREAM TABLE t AS\n{query}\n ;")
    assert isinstance(statement, CreateStreamTable)
    assert statement.query == query


def test_alter_says_one_thing():
    assert parse_statement("ALTER STREAM TABLE t PAUSE") == AlterStreamTable("t", pause=True)
    assert parse_statement("ALTER STREAM TABLE t RESUME;") == AlterStreamTable("t", resume=True)
    assert parse_statement("ALTER STREAM TABLE t AS SELECT 2") == AlterStreamTable("t", "SELECT 2")
    assert parse_statement(
        "ALTER STREAM TABLE t SET SCHEDULE = '5 minutes', MODE = auto, OPTIONS (k = 2)"
    ) == AlterStreamTable("t", schedule="5 minutes", mode="auto", options={"k": 2})


def test_the_short_statements():
    assert parse_statement("DROP STREAM TABLE t") == DropStreamTable("t")
    assert parse_statement("DROP STREAM TABLE IF EXISTS s.t CASCADE") == DropStreamTable(
        "s.t", if_exists=True, cascade=True
    )
    assert parse_statement("refresh stream table t") == RefreshStreamTable("t")
    assert parse_statement("REFRESH STREAM TABLE t FULL") == RefreshStreamTable("t", full=True)
    assert parse_statement("EXPLAIN STREAM TABLE t") == ExplainStreamTable("t")
    assert parse_statement("SHOW STREAM TABLES") == ShowStreamTables()


WRONG = [
    ("CREATE STREAM TABLE AS SELECT 1", "AS was expected", "SELECT"),
    ("CREATE STREAM TABLE 't' AS SELECT 1", "a name was expected", "'t'"),
    ("CREATE STREAM TABLE t SELECT 1", "AS was expected", "SELECT"),
    ("CREATE STREAM TABLE t AS", "the query is missing", None),
    ("CREATE STREAM TABLE t SCHEDULE 5 AS SELECT 1", "in quotes", "5"),
    ("CREATE STREAM TABLE t MODE fast AS SELECT 1", "MODE is one of AUTO", "fast"),
    ("CREATE STREAM TABLE t FULL AS SELECT 1", "FULL is one of ALLOW, FORBID", "AS"),
    ("CREATE STREAM TABLE t TIER icy AS SELECT 1", "TIER is one of HOT", "icy"),
    ("CREATE STREAM TABLE t MODE auto MODE full AS SELECT 1", "MODE is given twice", "MODE"),
    ("CREATE STREAM TABLE t OPTIONS (a = 1, a = 2) AS SELECT 1", '"a" is given twice', "a"),
    ("CREATE STREAM TABLE t OPTIONS (a = ) AS SELECT 1", "a value was expected", ")"),
    ("CREATE STREAM TABLE t OPTIONS (a 1) AS SELECT 1", "= was expected", "1"),
    ("CREATE STREAM TABLE t OPTIONS (a = 1 b = 2) AS SELECT 1", ", was expected", "b"),
    ("CREATE STREAM TABLE t OPTIONS (a = 1", ", was expected", None),
    ("ALTER STREAM TABLE t", "SET, AS, PAUSE or RESUME", None),
    ("ALTER STREAM TABLE t SET", "SCHEDULE, MODE, FULL", None),
    ("ALTER STREAM TABLE t SET MODE auto PAUSE", "should end here", "PAUSE"),
    ("DROP STREAM TABLE t NOW", "should end here", "NOW"),
    ("REFRESH STREAM TABLE", "a name was expected", None),
    ("SHOW STREAM TABLE", "STREAM TABLES was expected", "STREAM"),
    ("EXPLAIN STREAM TABLE t; DROP STREAM TABLE t", "should end here", ";"),
    ("CREATE VIEW v SELECT 1", "AS was expected", "SELECT"),
    ("CREATE VIEW v (a b) AS SELECT 1", ", was expected", "b"),
    ("CREATE VIEW v AS", "the query is missing", None),
    ("DROP VIEW v CASCADE", "should end here", "CASCADE"),
    ("CREATE FUNCTION f(x) RETURNS INT RETURN x", "a type was expected", ")"),
    ("CREATE FUNCTION f(x INT, X INT) RETURNS INT RETURN x", '"X" is given twice', "INT"),
    ("CREATE FUNCTION f(x INT) RETURN x", "RETURNS was expected", "RETURN"),
    ("CREATE FUNCTION f(x INT) RETURNS TABLE (a INT) RETURN SELECT 1", "not a table", "("),
]


@pytest.mark.parametrize(("text", "message", "under"), WRONG, ids=lambda value: str(value)[:60])
def test_wrong_statement_points_at_the_place(text: str, message: str, under: str | None):
    with pytest.raises(SqlSyntaxError) as caught:
        parse_statement(text)
    assert message in caught.value.message
    assert caught.value.hint
    assert caught.value.span is not None
    if under is not None:
        assert text[caught.value.span.start : caught.value.span.end] == under


OF_THE_LIBRARY = {
    "CREATE VIEW a.v AS SELECT 1": CreateView("a.v", "SELECT 1"),
    "create or replace view v (a, `b`) as select 1, 2;": CreateView(
        "v", "select 1, 2", ("a", "b"), replace=True
    ),
    "CREATE VIEW IF NOT EXISTS v AS SELECT 1": CreateView("v", "SELECT 1", if_not_exists=True),
    "DROP VIEW IF EXISTS v": DropView("v", if_exists=True),
    "CREATE FUNCTION f(x INT, y DECIMAL(10,2)) RETURNS DECIMAL(12,2) RETURN x * y": CreateFunction(
        "f", (("x", "INT"), ("y", "DECIMAL(10,2)")), "DECIMAL(12,2)", "x * y"
    ),
    "CREATE FUNCTION f(s STRUCT<a: INT, b: ARRAY<STRUCT<c: INT>>>) RETURNS INT LANGUAGE SQL "
    "DETERMINISTIC COMMENT 'first' RETURN s.a": CreateFunction(
        "f", (("s", "STRUCT<a: INT, b: ARRAY<STRUCT<c: INT>>>"),), "INT", "s.a"
    ),
    "CREATE FUNCTION f() RETURNS INT RETURN 1": CreateFunction("f", (), "INT", "1"),
    "DROP FUNCTION f": DropFunction("f"),
}


@pytest.mark.parametrize("text", OF_THE_LIBRARY)
def test_views_and_functions_have_statements(text: str):
    assert parse_statement(text) == OF_THE_LIBRARY[text]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TEMPORARY VIEW v AS SELECT 1",
        "CREATE OR REPLACE TEMP VIEW v AS SELECT 1",
        "CREATE TEMPORARY FUNCTION f(x INT) RETURNS INT RETURN x",
        "CREATE FUNCTION f AS 'some.java.Class'",
        "DROP TEMPORARY FUNCTION f",
        "CREATE TABLE v (a INT)",
    ],
)
def test_what_is_of_spark_alone_goes_there(text: str):
    assert parse_statement(text) is None


def test_a_script_is_split_between_its_statements_only():
    script = "CREATE STREAM TABLE a AS SELECT ';' AS x; -- done; really\nSHOW STREAM TABLES;\n"
    assert [part.strip() for part in split_statements(script)] == [
        "CREATE STREAM TABLE a AS SELECT ';' AS x",
        "-- done; really\nSHOW STREAM TABLES",
    ]
