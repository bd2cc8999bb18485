"""What names mean and which types come out, as Spark's analyser has it."""

from __future__ import annotations

import pytest

from streamtables.compiler.plan import compile_sql
from streamtables.compiler.types import SqlType, field_type, normal_type, wider
from streamtables.errors import UnknownNameError, UnsupportedSqlError

TABLES = {
    "u": {"a": "int", "b": "int", "k": "int"},
    "w": {"a": "bigint", "k": "int", "z": "string"},
    "x": {"k": "int", "Name": "string", "st": "struct<p:int,q:array<struct<r:int>>>"},
    "c": {"t": "string collate UTF8_LCASE"},
}


def output(sql: str) -> list[tuple[str, str]]:
    return [(name, str(type_)) for name, type_ in compile_sql(sql, TABLES).output]


def names(sql: str) -> list[str]:
    return [name for name, _ in output(sql)]


def test_using_shows_its_columns_first_and_once():
    assert names("SELECT * FROM u JOIN w USING (k, a)") == ["k", "a", "b", "z"]


def test_a_second_using_stands_before_the_first():
    sql = "SELECT * FROM (SELECT a, b FROM u) u JOIN (SELECT a, k FROM w) w USING (a) JOIN x USING (k)"
    assert names(sql) == ["k", "a", "b", "Name", "st"]


def test_a_qualified_star_shows_the_column_that_using_hid():
    assert names("SELECT w.* FROM u JOIN w USING (k)") == ["k", "a", "z"]


def test_natural_join_merges_all_shared_names():
    assert names("SELECT * FROM u NATURAL JOIN w") == ["a", "k", "b", "z"]


def test_names_are_found_in_any_case_and_shown_as_declared():
    assert names("SELECT NAME, X.k FROM X") == ["NAME", "k"]
    assert names("SELECT * FROM x") == ["k", "Name", "st"]


def test_a_struct_keeps_the_names_that_the_user_knows():
    sql = "SELECT to_json(struct(u.a, w.a AS other, x.Name)) AS j FROM u JOIN w USING (k) JOIN x USING (k)"
    text = compile_sql(sql, TABLES).query_sql()
    assert "struct(`a` AS `a`, `a_2` AS `other`, `name` AS `Name`)" in text


def test_a_star_among_arguments_is_written_out():
    text = compile_sql("SELECT hash(*) AS h, count(DISTINCT *) AS n FROM u GROUP BY 1", TABLES)
    assert "hash(`a`, `b`, `k`)" in text.query_sql()
    assert "count(DISTINCT `a`, `b`, `k`)" in text.query_sql()


def test_an_item_may_name_an_earlier_one_but_a_column_comes_first():
    assert "`a` + 1 AS `b`" in compile_sql("SELECT a + 1 AS b, b AS c FROM u", TABLES).query_sql()
    assert output("SELECT a + 1L AS n, n AS m FROM u") == [("n", "bigint"), ("m", "bigint")]


def test_having_means_a_grouped_column_first_and_then_an_item():
    grouped = compile_sql("SELECT sum(a) AS b FROM u GROUP BY b HAVING b > 1", TABLES).query_sql()
    assert "`b` > 1" in grouped
    item = compile_sql("SELECT sum(a) AS k FROM u GROUP BY b HAVING k > 1", TABLES).query_sql()
    assert "(\n      `sum`\n    ) > 1" in item


@pytest.mark.parametrize(
    ("expression", "type_"),
    [
        ("a + 1", "int"),
        ("a / 2", "double"),
        ("a DIV 2", "bigint"),
        ("1.5BD", "decimal(2,1)"),
        ("1L", "bigint"),
        ("CAST(a AS DECIMAL(10,2)) * 2", "decimal(12,2)"),
        ("coalesce(a, 1L)", "bigint"),
        ("CASE WHEN a > 1 THEN 'x' END", "string"),
        ("a > 1 AND b IS NULL", "boolean"),
        ("X'1F'", "binary"),
        ("upper(CAST(a AS STRING))", "string"),
        ("r'raw'", "string"),
        ("- (a)", "int"),
        ("1e3", "double"),
        ("3000000000", "bigint"),
        ("99999999999999999999", "decimal(20,0)"),
        ("0.05", "decimal(2,2)"),
        ("CAST(a AS FLOAT) * CAST(b AS FLOAT)", "float"),
        ("CAST(a AS FLOAT) / CAST(b AS FLOAT)", "double"),
        ("CAST(a AS DECIMAL(10,2)) + CAST(b AS DECIMAL(8,4))", "decimal(13,4)"),
        ("CAST(a AS DECIMAL(10,2)) / CAST(b AS DECIMAL(5,1))", "decimal(17,8)"),
        ("CAST(a AS DECIMAL(10,2)) % CAST(b AS DECIMAL(5,1))", "decimal(6,2)"),
        ("CAST(a AS DECIMAL(38,10)) * CAST(b AS DECIMAL(38,10))", "decimal(38,6)"),
        ("DATE '2024-01-01' + 1", "date"),
        ("TIMESTAMP '2024-01-01 00:00:00' + INTERVAL 1 DAY", "timestamp"),
        ("DATE '2024-01-01' - DATE '2023-01-01'", "unknown"),
        ("EXTRACT(YEAR FROM DATE '2024-01-01')", "int"),
        ("EXTRACT(SECOND FROM TIMESTAMP '2024-01-01 00:00:00')", "decimal(8,6)"),
        ("POSITION('a' IN 'cat')", "int"),
        ("IF(a > 1, 1, 2L)", "bigint"),
        ("nullif(a, 1)", "int"),
        ("concat('a', 'b')", "string"),
        ("round(a)", "int"),
        ("round(CAST(a AS DOUBLE), 1)", "double"),
        ("ceil(CAST(a AS DOUBLE))", "bigint"),
        ("round(CAST(a AS DECIMAL(5,2)), 1)", "decimal(5,1)"),
        ("NULL", "void"),
        ("coalesce(NULL, a)", "int"),
        ("coalesce(a, 'x')", "unknown"),
        ("md5('x')", "string"),
    ],
)
def test_expressions_have_the_types_that_spark_gives(expression: str, type_: str):
    assert output(f"SELECT {expression} AS v FROM u") == [("v", type_)]


def test_fields_of_structs_have_types():
    assert output("SELECT st.p AS p, st.q AS q FROM x") == [
        ("p", "int"),
        ("q", "array<struct<r:int>>"),
    ]
    assert field_type(SqlType("int"), "p") == "unknown"


def test_a_field_that_a_struct_does_not_have_is_an_error():
    with pytest.raises(UnknownNameError, match='no field "zzz"'):
        output("SELECT st.zzz AS z FROM x")


def test_a_group_may_stand_in_parentheses():
    assert names("SELECT a, count(*) AS n FROM u GROUP BY (a)") == ["a", "n"]


@pytest.mark.parametrize("made", ["t", "upper(t)", "t || 'x'"])
def test_text_made_of_collated_text_is_collated_and_not_stored(made: str):
    with pytest.raises(UnsupportedSqlError, match='"v" of the result is collated text'):
        output(f"SELECT {made} AS v FROM c")
    assert output(f"SELECT CAST({made} AS STRING) AS v FROM c") == [("v", "string")]
    assert output("SELECT 'a' COLLATE UTF8_BINARY AS v FROM c") == [("v", "string")]
    assert normal_type("STRING COLLATE UTF8_BINARY") == "string"


def test_wider_types_hold_both():
    assert wider(SqlType("int"), SqlType("decimal(10,2)")) == "decimal(12,2)"
    assert wider(SqlType("date"), SqlType("timestamp")) == "timestamp"
    assert wider(SqlType("int"), SqlType("string")) == "unknown"


def test_fields_of_structs_keep_the_case_of_their_names():
    tables = {
        "t": {"id": "int", "st": "Struct<`Ab`: INT, cD: STRING>", "l": "array<struct<One:int>>"}
    }
    star = compile_sql("SELECT st.* EXCEPT (CD), x.* FROM t LATERAL VIEW inline(l) x", tables)
    assert star.output == (("Ab", "int"), ("One", "int"))
    assert compile_sql("SELECT st.AB AS v FROM t", tables).output == (("v", "int"),)
    assert wider(SqlType("struct<P:int>"), SqlType("struct<p:int>")) == "struct<P:int>"
