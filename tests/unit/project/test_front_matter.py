"""Headers of SQL files: both forms, slips of the pen, and files from before there were headers."""

from __future__ import annotations

import pytest

from streamtables.compiler.library_statements import CreateView
from streamtables.compiler.statements import CreateStreamTable
from streamtables.errors import ConfigError, StreamTablesError, UnsupportedSqlError
from streamtables.project.front_matter import Defined, read_sql_file


def read(text: str) -> list[Defined]:
    return read_sql_file(text, file="tables/revenue.sql", stem="revenue")


def one(text: str) -> tuple[Defined, CreateStreamTable]:
    (found,) = read(text)
    assert isinstance(found.statement, CreateStreamTable)
    return found, found.statement


BLOCK = """\
---
name: city_revenue
schedule: 1 minute
mode: differential
full: forbid
tier: warm
description: What each city brought: in all
tags: [finance, "daily"]
key: city
sla: 10 minutes
# a remark
---
-- by city
SELECT city, 1 AS one FROM orders
"""
COMMENTS = (
    "\n".join(f"-- {line}" for line in BLOCK.splitlines()[1:10] if not line.startswith("#"))
    + "\nSELECT city, 1 AS one FROM orders\n"
)


@pytest.mark.parametrize("text", [BLOCK, COMMENTS, "\ufeff" + BLOCK, BLOCK.replace("\n", "\r\n")])
def test_a_header_says_the_same_in_both_forms(text: str):
    found, statement = one(text)
    assert statement.query == "SELECT city, 1 AS one FROM orders"
    assert statement.name == "city_revenue"
    chosen = (statement.schedule, statement.mode, statement.full, statement.tier)
    assert chosen == ("1 minute", "differential", "forbid", "warm")
    assert statement.options == {"sla": "10 minutes"}
    assert found.description == "What each city brought: in all"
    assert (found.tags, found.key) == (("finance", "daily"), ("city",))


def test_a_query_alone_takes_its_name_from_the_file():
    found, statement = one("WITH a AS (SELECT 1 AS x) SELECT * FROM a;\n")
    assert (statement.name, statement.query) == (
        "revenue",
        "WITH a AS (SELECT 1 AS x) SELECT * FROM a",
    )
    assert (statement.schedule, found.key) == (None, None)


def test_another_description_is_not_another_query():
    _, first = one("-- description: a\nSELECT 1 AS x")
    _, second = one("-- description: b\n\nSELECT 1 AS x")
    assert first == second


def test_comments_that_are_no_fields_stay_comments():
    _, statement = one("-- note: keep this\n-- Written by ann\nSELECT 1 AS x")
    assert statement == CreateStreamTable("revenue", "SELECT 1 AS x")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "-- shcedule: 1 minute\nSELECT 1",
            'line 1 of the header names the unknown field "shcedule"',
        ),
        (
            "---\ncolour: red\n---\nSELECT 1",
            'line 2 of the header names the unknown field "colour"',
        ),
        ("---\nname: a\nname: b\n---\nSELECT 1", 'says "name" twice'),
        ("---\nname\n---\nSELECT 1", "line 2 of the header is not a field"),
        ("---\nname: a\nSELECT 1", "does not end"),
        (
            "---\nname: a\n---\nCREATE STREAM TABLE b AS SELECT 1",
            "has a header and CREATE statements",
        ),
    ],
)
def test_a_wrong_header_is_refused_with_its_line(text: str, said: str):
    with pytest.raises(ConfigError) as raised:
        read(text)
    assert said in raised.value.message
    assert "tables/revenue.sql" in f"{raised.value.message} {raised.value.detail}"


@pytest.mark.parametrize(
    "text",
    [
        "CREATE STREAM TABLE t SCHEDULE '1 minute' AS SELECT 1 AS x",
        "-- schedule: every now and then\nCREATE STREAM TABLE t SCHEDULE '1 minute' AS SELECT 1 AS x",
        "---\nCREATE STREAM TABLE t SCHEDULE '1 minute' AS SELECT 1 AS x",
        "---\n--- name: other\n---\nCREATE STREAM TABLE t SCHEDULE '1 minute' AS SELECT 1 AS x",
    ],
)
def test_files_of_statements_go_on_meaning_what_they_meant(text: str):
    _, statement = one(text)
    assert (statement.name, statement.schedule, statement.query) == (
        "t",
        "1 minute",
        "SELECT 1 AS x",
    )


def test_a_file_may_hold_several_statements_and_no_other_kind():
    first, second = read("CREATE VIEW v AS SELECT 1 AS x; CREATE STREAM TABLE t AS SELECT x FROM v")
    assert isinstance(first.statement, CreateView)
    assert second.statement.name == "t"
    for text in ("DROP TABLE x", "SELECT 1; SELECT 2", "CREATE VIEW v AS SELECT 1; SELECT 2"):
        with pytest.raises(UnsupportedSqlError):
            read(text)


def test_an_error_in_the_sql_names_the_file():
    with pytest.raises(StreamTablesError) as raised:
        read("CREATE STREAM TABLE t SCHEDULE AS SELECT 1")
    assert 'In the file "tables/revenue.sql"' in raised.value.detail
