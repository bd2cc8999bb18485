"""Queries that are wrong: each has a code, a message, a place and, where it helps, a hint."""

from __future__ import annotations

import pytest

from streamtables.compiler.schema import build_schema
from streamtables.errors import ConfigError, SqlError
from tests.unit.compiler.tables import compiled
from tests.unit.compiler.wrong_queries import WRONG


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
