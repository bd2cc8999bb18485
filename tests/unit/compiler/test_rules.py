"""What must hold for every operator, and for the SQL that only Spark could prove wrong."""

from __future__ import annotations

import pytest
from sqlglot import exp

from streamtables.compiler.algebra import OPERATORS, SIGNED_OPERATORS, kind_of
from streamtables.compiler.algebra.node import delta_rule
from streamtables.compiler.backend.operators import render
from streamtables.compiler.binary_image import image, in_order
from streamtables.compiler.frontend.dialect import VerbatimSpark
from streamtables.compiler.plan import compile_sql
from streamtables.compiler.types import normal_type


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.__name__)
def test_every_operator_has_a_delta_rule_a_kind_and_a_rendering(operator):
    for answer in (delta_rule, kind_of, render):
        assert answer.dispatch(operator) is not answer.dispatch(object)


@pytest.mark.parametrize("operator", SIGNED_OPERATORS, ids=lambda operator: operator.__name__)
def test_every_signed_operator_has_a_rendering(operator):
    assert render.dispatch(operator) is not render.dispatch(object)


def test_wide_decimals_are_added_by_sum_and_narrow_ones_by_plus():
    # Spark's + of two DECIMAL(38, s) gives up a digit of the scale; its SUM does not.
    def combined(type_: str) -> str:
        plan = compile_sql(
            "SELECT g, sum(n) AS s FROM t GROUP BY g", {"t": {"g": "int", "n": type_}}
        )
        return plan.maintenance.restricted_to(frozenset({"t"})).whole_delta.sql

    assert "explode(sequence(1, 3))" in combined("decimal(38,18)")
    assert "explode(sequence(1, 3))" not in combined("decimal(10,2)")


def test_no_value_is_ever_multiplied_by_a_weight():
    plan = compile_sql("SELECT g, sum(n) AS s FROM t GROUP BY g", {"t": {"g": "int", "n": "int"}})
    programs = plan.maintenance.restricted_to(frozenset({"t"}))
    assert " * " not in plan.delta_sql() + programs.whole_delta.sql + programs.contributions.sql


def test_the_average_of_bigint_is_taken_over_an_exact_sum():
    plan = compile_sql("SELECT avg(n) AS a FROM t", {"t": {"n": "bigint"}})
    assert "CAST(sum(CAST(`n` AS DECIMAL(20, 0))) AS DOUBLE)" in plan.query_sql()


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("int", "v"),
        ("string", "v"),
        ("double", "CAST(v AS STRING)"),
        ("string collate UTF8_LCASE", "CAST(v AS BINARY)"),
        ("struct<a:timestamp>", "SSSSSS"),
        ("unknown", "SSSSSS"),
        ("map<string,int>", "array_sort(map_entries(v))"),
        ("map<string,map<string,int>>", "named_struct('v', v)"),
    ],
)
def test_the_binary_image_tells_stored_values_apart(type_: str, text: str):
    made = image(exp.column("v"), normal_type(type_))
    assert text in made.sql(dialect=VerbatimSpark, normalize_functions=False)


@pytest.mark.parametrize(
    ("type_", "parts"),
    [
        ("string", ("v",)),
        ("array<struct<variant:int,q:date>>", ("v",)),
        ("double", ("v", "CAST(v AS STRING)")),
        ("string collate UTF8_LCASE", ("v", "CAST(v AS BINARY)")),
        ("array<float>", ("v", "to_json(named_struct('v', v)")),
        ("map<string,int>", ("to_json(named_struct('v', array_sort(map_entries(v)))",)),
        ("unknown", ("to_json(named_struct('v', v)",)),
        ("variant", ("to_json(named_struct('v', v)",)),
    ],
)
def test_an_order_leaves_no_ties_but_equal_bytes(type_: str, parts: tuple[str, ...]):
    made = in_order(exp.column("v"), normal_type(type_))
    texts = [part.sql(dialect=VerbatimSpark, normalize_functions=False) for part in made]
    assert len(texts) == len(parts)
    assert all(text.startswith(part) for text, part in zip(texts, parts, strict=True))


@pytest.mark.parametrize(
    ("column", "call", "made"),
    [
        ("int", "collect_list(c)", "sort_array(collect_list(c))"),
        ("double", "collect_list(c)", "sort_array(collect_list(c))"),
        ("map<string,int>", "array_agg(c)", "sort_array(array_agg(sort_array(map_entries(c))))"),
        ("map<string,int>", "collect_list(c)", "map_from_entries(__st_item)"),
        ("map<string,double>", "collect_list(c)", "map_from_entries(__st_item.value)"),
        ("array<double>", "collect_list(c)", "__st_item -> __st_item.value"),
        ("int", "max_by(c, id)", "max_by(c, named_struct('k0', id, 'k1', c))"),
        ("map<string,int>", "max_by(c, id)", "'k1', to_json("),
        (
            "string collate UTF8_LCASE",
            "CAST(first(c) AS STRING)",
            "(min_by(named_struct('value', c)",
        ),
        ("map<string,array<map<int,int>>>", "min_by(c, id)", "'k1', to_json("),
    ],
)
def test_lists_and_chosen_values_are_told_by_an_order_that_spark_has(
    column: str, call: str, made: str
):
    plan = compile_sql(f"SELECT {call} AS x FROM t", {"t": {"id": "int", "c": column}})
    text = " ".join(plan.query_sql().replace("`", "").split())
    assert made in text.replace("( ", "(").replace(" )", ")")


def test_a_branch_of_unknown_type_stays_in_the_delta_without_rows():
    # Left out, the other branch would no longer be widened to the common type.
    sql = "SELECT a FROM l UNION ALL SELECT s FROM r"
    plan = compile_sql(sql, {"l": {"a": "int"}, "r": {"s": "string"}})
    changed = plan.maintenance.restricted_to(frozenset({"l"})).signed_rows.sql
    assert "FROM `__st_after_r`" in changed
    assert "WHERE FALSE" in changed


def test_unchanged_tables_take_no_part_in_a_refresh():
    sql = "SELECT l.a FROM l JOIN r ON l.a = r.a"
    plan = compile_sql(sql, {"l": {"a": "int"}, "r": {"a": "int"}})
    text = plan.maintenance.restricted_to(frozenset({"l"})).signed_rows.sql
    assert "__st_changes_l" in text
    assert "__st_changes_r" not in text
    assert "__st_before" not in text


def test_only_columns_that_are_read_are_scanned():
    tables = {"t": {"id": "int", "a": "int", "b": "int", "noise": "string"}}
    plan = compile_sql("SELECT a FROM t WHERE b > 1", tables, {"t": ["id"]})
    assert set(plan.columns_read["t"]) == {"id", "a", "b"}
    assert "noise" not in plan.delta_sql()
