"""How joins follow changes and aggregates are kept, and where limits stand."""

from __future__ import annotations

import pytest

from streamtables.compiler.explaining.strategies import aggregate_strategies, join_strategies
from streamtables.compiler.explaining.thresholds import DEEP_JOIN, SCANS, thresholds
from streamtables.compiler.maintenance import Limits
from streamtables.compiler.plan import compile_sql
from tests.unit.compiler.tables import compiled

STAR = {name: {"id": "int", "a": "int", "b": "int", "c": "int"} for name in "fxyz"}
STAR_JOIN = """SELECT f.id, x.b AS xb, y.b AS yb, z.b AS zb FROM f JOIN x ON f.a = x.id
JOIN y ON f.b = y.id JOIN z ON f.c = z.id"""


@pytest.mark.parametrize(
    ("sql", "way", "terms"),
    [
        ("SELECT o.id FROM orders o JOIN customers c ON customer = c.id", "telescoped", 2),
        (
            "SELECT o.id, c.id AS i FROM orders o LEFT JOIN customers c ON customer = c.id",
            "keyed",
            3,
        ),
        ("SELECT id FROM orders WHERE customer IN (SELECT id FROM customers)", "keyed", 3),
        ("SELECT id, customer IN (SELECT id FROM customers) AS i FROM orders", "mark", 3),
        (
            "SELECT o.id, c.id AS i FROM orders o LEFT JOIN customers c ON customer < c.id",
            "whole",
            3,
        ),
    ],
)
def test_each_join_has_a_way_and_a_number_of_terms(sql: str, way: str, terms: int):
    found = join_strategies(compiled(sql).definition)[-1]
    assert (found.way, found.terms) == (way, terms)


def test_a_star_is_followed_from_its_widest_input_where_keys_are_known():
    keys = {name: ["id"] for name in STAR}
    (with_keys,) = join_strategies(compile_sql(STAR_JOIN, STAR, keys).definition)
    (without,) = join_strategies(compile_sql(STAR_JOIN, STAR).definition)
    assert (with_keys.way, with_keys.terms) == ("from-widest", 2)
    assert "one pass over f" in with_keys.reason
    assert (without.way, without.terms) == ("telescoped", 4)


def test_each_input_says_how_its_rows_are_met():
    sql = """SELECT o.id, n FROM orders o JOIN
    (SELECT customer AS k, count(*) AS n FROM orders GROUP BY customer) g ON o.customer = k"""
    (join,) = join_strategies(compiled(sql).definition)
    assert [item.name for item in join.inputs] == ["orders", "what is computed from orders"]
    orders, groups = (item.met for item in join.inputs)
    assert orders == "rows by customer"
    assert groups.startswith("one row by ")
    assert groups.endswith("computed for the keys that are looked up")


@pytest.mark.parametrize(
    ("sql", "way", "reason"),
    [
        ("SELECT sum(amount) AS s FROM orders", "stored-state", "added to the stored sums"),
        ("SELECT max(id) AS m FROM orders", "stored-state", "when it goes, all rows"),
        (
            "SELECT note, max(id) AS m FROM orders GROUP BY note",
            "stored-state",
            "a group that lost",
        ),
        ("SELECT max(score) AS m FROM customers", "whole", "looks at all rows"),
        (
            "SELECT name, max(score) AS m FROM customers GROUP BY name",
            "touched-groups",
            "looks at all",
        ),
        (
            "SELECT name, sum(score) AS s FROM customers GROUP BY name",
            "touched-groups",
            "exact sum",
        ),
        (
            "SELECT n FROM (SELECT note, count(*) AS n FROM orders GROUP BY note) WHERE n > 1",
            "touched-groups",
            "hides some groups",
        ),
        (
            "SELECT max(n) AS m FROM (SELECT count(*) AS n FROM orders GROUP BY note)",
            "touched-groups",
            "below another operator",
        ),
    ],
)
def test_each_aggregate_has_a_way_and_a_reason(sql: str, way: str, reason: str):
    found = aggregate_strategies(compiled(sql).maintenance)[-1]
    assert found.way == way
    assert reason in found.reason


def test_a_sum_of_floats_says_that_it_is_not_exact():
    (found,) = aggregate_strategies(compiled("SELECT sum(score) AS s FROM customers").maintenance)
    assert not found.exact


def test_thresholds_have_values_and_effects():
    kept = compile_sql(STAR_JOIN, STAR).maintenance
    within = {item.name: item for item in thresholds(kept, Limits(join_inputs=4, scans=100))}
    beyond = {item.name: item for item in thresholds(kept, Limits(join_inputs=3, scans=5))}
    assert (within[DEEP_JOIN].value, within[DEEP_JOIN].crossed) == (4, False)
    assert (beyond[DEEP_JOIN].crossed, beyond[SCANS].crossed) == (True, True)
    assert "after minus changes" in within[DEEP_JOIN].effect
    assert "at their old version" in beyond[DEEP_JOIN].effect
    assert within[SCANS].value == beyond[SCANS].value == 12
    assert "computed first; no statement reads more than" in beyond[SCANS].effect


def test_a_wide_statement_that_cannot_be_split_says_so():
    kept = compiled("SELECT max(score) AS m FROM customers").maintenance
    (_, scans) = thresholds(kept, Limits(join_inputs=8, scans=0))
    assert scans.crossed
    assert "no part that could be computed first" in scans.effect
