"""Views and functions in the compiler: what they are inlined to, and what is refused."""

from __future__ import annotations

import pytest

from streamtables import compile
from streamtables.compiler.frontend.calls import check_function
from streamtables.compiler.library import Library, PythonFunction, SqlFunction, View
from streamtables.compiler.plan import Plan, compile_query
from streamtables.compiler.schema import build_schema
from streamtables.errors import (
    ConfigError,
    CycleError,
    NotIncrementalError,
    SqlError,
    SqlSyntaxError,
    SqlTypeError,
    UnknownNameError,
    UnsupportedSqlError,
)

TABLES = {
    "orders": {"id": "bigint", "amount": "decimal(12,2)", "v": "int", "xs": "array<int>"},
    "cities": {"id": "bigint", "name": "string"},
}
SCHEMA = build_schema(TABLES, {"orders": ["id"]})
TIMES = SqlFunction("times", (("x", "INT"), ("y", "DECIMAL(10,2)")), "DECIMAL(12,2)", "x * y")


def planned(query: str, *entries: View | SqlFunction | PythonFunction) -> Plan:
    return compile_query(query, SCHEMA, Library.of(entries))


def test_a_view_is_maintained_as_the_same_with_query_is():
    view = View("big", "SELECT id, amount FROM orders WHERE amount > 10")
    query = "SELECT b.id, name FROM big AS b JOIN cities ON b.id = cities.id"
    inlined = planned(query, view)
    written = compile(f"WITH big AS ({view.sql}) {query}", TABLES, {"orders": ["id"]})
    assert inlined.delta_sql() == written.delta_sql()
    assert inlined.query_sql() == written.query_sql()
    assert inlined.tables == ("orders", "cities")
    assert inlined.columns_read["orders"] == ("id", "amount")
    assert inlined.used == (view,)
    assert "through   view big" in inlined.explain()


def test_views_are_a_parameter_of_the_public_compile():
    views = {"a": "SELECT id, v FROM orders", "b": "SELECT v, count(*) AS n FROM a GROUP BY v"}
    plan = compile("SELECT n FROM b WHERE v > 1", TABLES, views=views)
    assert (plan.incremental, plan.tables) == (True, ("orders",))
    assert [entry.name for entry in plan.used] == ["a", "b"]
    with pytest.raises(ConfigError):
        compile("SELECT 1 AS a", TABLES, views={"Orders": "SELECT 1 AS a"})


def test_a_view_that_is_read_twice_is_computed_once():
    view = View("per", "SELECT v, count(*) AS n FROM orders GROUP BY v")
    plan = planned("SELECT a.v, b.n FROM per a JOIN per b ON a.v = b.v", view)
    assert plan.query_sql().count("GROUP BY") == 1


def test_a_view_does_not_see_the_named_queries_of_its_reader():
    view = View("all_orders", "SELECT id FROM orders")
    plan = planned("WITH orders AS (SELECT 1 AS id) SELECT id FROM all_orders", view)
    assert plan.tables == ("orders",)
    assert "`orders`" in plan.query_sql()


def test_a_named_query_hides_a_view():
    plan = planned("WITH big AS (SELECT 1 AS id) SELECT id FROM big", View("big", "SELECT nope"))
    assert plan.used == ()


def test_an_error_inside_a_view_points_into_its_text():
    view = View("bad", "SELECT id, nothing FROM orders")
    with pytest.raises(UnknownNameError) as caught:
        planned("SELECT id FROM bad", view)
    assert caught.value.place == "SELECT id, nothing FROM orders\n           ^^^^^^^"
    assert 'the view "bad"' in caught.value.detail


def test_a_refusal_inside_a_view_is_one_of_its_reader():
    view = View("dice", "SELECT id, rand() AS r FROM orders -- end")
    plan = planned("SELECT id FROM dice", view)
    assert [refusal.code for refusal in plan.refusals] == ["ST-1201"]
    assert plan.refusals[0].place.startswith(view.sql)
    assert plan.query_program().sql == (
        "SELECT id FROM (SELECT id, rand() AS r FROM `__st_after_orders` AS `orders` -- end\n"
        ") AS `dice`"
    )


def test_views_that_read_each_other_are_refused():
    with pytest.raises(CycleError) as caught:
        planned("SELECT * FROM a", View("a", "SELECT * FROM b"), View("b", "SELECT * FROM a"))
    assert caught.value.detail == "a → b → a."


def test_a_sql_function_is_its_expression_between_casts():
    plan = planned("SELECT id, times(v, 2) AS t FROM orders", TIMES)
    written = compile(
        "SELECT id, CAST(CAST(v AS INT) * CAST(2 AS DECIMAL(10,2)) AS DECIMAL(12,2)) AS t "
        "FROM orders",
        TABLES,
        {"orders": ["id"]},
    )
    assert plan.delta_sql() == written.delta_sql()
    assert dict(plan.output)["t"] == "decimal(12,2)"


def test_functions_call_functions_and_take_aggregates():
    double = SqlFunction("double_of", (("x", "decimal(22,2)"),), "decimal(23,2)", "x + x")
    quad = SqlFunction("quad", (("x", "decimal(22,2)"),), "decimal(24,2)", "2 * double_of(x)")
    plan = planned("SELECT v, quad(sum(amount)) AS q FROM orders GROUP BY v", double, quad)
    assert plan.incremental
    assert [entry.name for entry in plan.used] == ["double_of", "quad"]
    assert plan.maintenance.form == "stored-state"


def test_an_item_without_a_name_is_shown_as_it_was_written():
    plan = planned("SELECT `times(v, 2)` + 1 AS n FROM (SELECT times(v, 2) FROM orders)", TIMES)
    assert [name for name, _ in plan.output] == ["n"]


def test_a_call_in_a_group_is_the_call_in_the_select_list():
    assert planned("SELECT times(v, 2) AS t FROM orders GROUP BY times(v, 2)", TIMES).key == ["t"]


def test_an_argument_does_not_meet_the_variable_of_a_lambda():
    has = SqlFunction(
        "has", (("xs", "array<int>"), ("x", "int")), "boolean", "exists(xs, v -> v = x)"
    )
    sql = planned("SELECT has(xs, v) AS h FROM orders", has).query_sql()
    assert "-> `__st_lambda_has_v` = CAST(`v` AS INT)" in sql


def test_a_refused_query_has_its_calls_in_its_text():
    plan = planned("SELECT rand() + times(times(v , 1 /* , */), 2) AS r FROM orders", TIMES)
    inner = "CAST(CAST(v \n AS INT) * CAST( 1 /* , */\n AS DECIMAL(10,2)) AS DECIMAL(12,2))"
    assert plan.query_program().sql == (
        f"SELECT rand() + CAST(CAST({inner}\n AS INT) * CAST( 2\n AS DECIMAL(10,2)) "
        "AS DECIMAL(12,2)) AS r FROM `__st_after_orders` AS `orders`"
    )


def test_a_python_function_is_a_call_of_its_type():
    plan = planned("SELECT size_of(v) AS s FROM orders", PythonFunction("Size_Of", "int"))
    assert plan.output == (("s", "int"),)
    assert plan.python_functions == ("Size_Of",)
    assert "Size_Of(`v`)" in plan.delta_sql()


def test_a_python_function_without_one_answer_is_refused_like_rand():
    plan = planned("SELECT dice(v) AS s FROM orders", PythonFunction("dice", "int", False))
    assert [refusal.code for refusal in plan.refusals] == [NotIncrementalError.code]
    assert plan.refusals[0].place == "SELECT dice(v) AS s FROM orders\n       ^^^^^^"


BAD_CALLS = [
    ("SELECT times(v) AS t FROM orders", SqlTypeError, "takes 2 arguments, not 1"),
    ("SELECT times(v, 2) OVER () AS t FROM orders", SqlTypeError, "neither an aggregate"),
    ("SELECT times(DISTINCT v, 2) AS t FROM orders", SqlTypeError, "takes values alone"),
    ("SELECT times(v, orders.*) AS t FROM orders", SqlTypeError, "takes values alone"),
    ("SELECT times(x => v, y => 2) AS t FROM orders", SqlTypeError, "takes values alone"),
    ("SELECT other.times(v, 2) AS t FROM orders", UnknownNameError, 'no function "times"'),
    ("SELECT tims(v, 2) AS t FROM orders", UnknownNameError, 'no function "tims"'),
]


@pytest.mark.parametrize(("query", "error", "message"), BAD_CALLS)
def test_a_wrong_call_is_an_error_at_its_place(query: str, error: type[SqlError], message: str):
    with pytest.raises(error, match=message) as caught:
        planned(query, TIMES)
    assert caught.value.place


def test_an_unknown_function_is_told_how_to_define_it():
    with pytest.raises(UnknownNameError) as caught:
        planned("SELECT tims(v, 2) AS t FROM orders", TIMES)
    assert 'Did you mean "times"?' in caught.value.hint
    assert "CREATE FUNCTION" in caught.value.hint
    assert "register_function" in caught.value.hint


BAD_BODIES = [
    ("x + (SELECT 1)", UnsupportedSqlError, "a subquery"),
    ("x + rand()", NotIncrementalError, "incrementally"),
    ("x + unix_timestamp()", UnsupportedSqlError, "the current time"),
    ("sum(x)", UnknownNameError, "aggregate"),
    ("row_number() OVER (ORDER BY x)", UnknownNameError, "window"),
    ("x + z", UnknownNameError, '"z"'),
    ("x FROM orders", SqlSyntaxError, "one expression"),
    ("x, x", SqlSyntaxError, "one expression"),
    ("x AS y", SqlSyntaxError, "one expression"),
    ("x +", SqlSyntaxError, "syntax"),
    ("1", UnsupportedSqlError, "is not used"),
    ("nope(x)", UnknownNameError, 'no function "nope"'),
]


@pytest.mark.parametrize(("body", "error", "message"), BAD_BODIES)
def test_a_body_is_one_deterministic_expression(body: str, error: type[SqlError], message: str):
    with pytest.raises(error, match=message) as caught:
        check_function(SqlFunction("f", (("x", "int"),), "int", body), Library())
    assert caught.value.sql == f"RETURN {body}"


def test_a_function_that_calls_itself_is_refused():
    first = SqlFunction("f", (("x", "int"),), "int", "g(x)")
    second = SqlFunction("g", (("x", "int"),), "int", "f(x)")
    with pytest.raises(CycleError) as caught:
        check_function(first, Library.of([first, second]))
    assert caught.value.detail == "f → g → f."


@pytest.mark.parametrize("type_", ["nothing", "", "decimal(", "int int"])
def test_a_type_that_spark_does_not_have_is_refused(type_: str):
    with pytest.raises(ConfigError):
        check_function(SqlFunction("f", (), type_, "1"), Library())
