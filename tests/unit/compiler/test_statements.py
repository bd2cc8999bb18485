"""SQL statements about stream tables: what is ours, what it says, and where it is wrong."""

from __future__ import annotations

import pytest

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


def test_a_script_is_split_between_its_statements_only():
    script = "CREATE STREAM TABLE a AS SELECT ';' AS x; -- done; really\nSHOW STREAM TABLES;\n"
    assert [part.strip() for part in split_statements(script)] == [
        "CREATE STREAM TABLE a AS SELECT ';' AS x",
        "-- done; really\nSHOW STREAM TABLES",
    ]
