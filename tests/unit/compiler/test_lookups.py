"""Which rows a program of a small change asks to be found first."""

from __future__ import annotations

import pytest

from streamtables.compiler.algebra.plain_conditions import PlainCondition
from streamtables.compiler.backend.statement import Program
from streamtables.compiler.plan import compile_sql

TABLES = {
    "f": {"id": "bigint", "a": "bigint", "s": "string", "x": "double", "n": "int"},
    "d": {"a": "bigint", "s": "string", "x": "double", "e": "bigint"},
    "e": {"e": "bigint", "name": "string"},
}
KEYS = {"f": ["id"], "d": ["a"], "e": ["e"]}


def found(sql: str, *changed: str) -> Program:
    plan = compile_sql(sql, TABLES, KEYS)
    names = frozenset(changed or plan.tables)
    return plan.maintenance.restricted_to(names, small=True, found=True).answer


def asked(program: Program) -> dict[str, list[dict[str, set[str]]]]:
    return {
        lookup.view: [
            {item.column: {f"{view}.{name}" for view, name in item.held} for item in one}
            for one in lookup.any_of
        ]
        for lookup in program.lookups
    }


def test_each_side_of_a_join_is_asked_for_by_the_other():
    program = found("SELECT f.id, d.s FROM f JOIN d ON f.a = d.a")
    assert asked(program) == {
        "__st_old_1_1_f": [{"a": {"__st_changes_d.a"}}],
        "__st_found_1_1_d": [{"a": {"__st_changes_f.a"}}],
    }
    assert not program.reads_table
    assert "__st_after_" not in program.sql


def test_an_equality_in_every_branch_of_an_or_asks_too():
    either = "(f.a = d.a AND f.n > 1) OR (d.a = f.a AND d.s = 'x')"
    for join in ("JOIN", "LEFT JOIN", "LEFT SEMI JOIN"):
        program = found(f"SELECT f.id FROM f {join} d ON {either}")
        assert {lookup.table for lookup in program.lookups} == {"f", "d"}, join
        assert not program.reads_table
    assert not found("SELECT f.id FROM f JOIN d ON (f.a = d.a AND f.n > 1) OR d.s = 'x'").lookups


def test_plain_conditions_of_filters_are_conditions_of_lookups():
    program = found(
        "SELECT f.id, d.s FROM f JOIN d ON f.a = d.a WHERE f.n > 1 AND d.s = 'x' AND d.x > 0.5D"
    )
    assert {
        item.view: [(c.column, c.comparison, c.constants) for c in item.conditions]
        for item in program.lookups
    } == {
        "__st_old_1_1_f": [("n", ">", ("1",))],
        "__st_found_1_1_d": [("s", "=", ("x",))],
    }
    assert "> 1" in program.sql
    assert "= 'x'" in program.sql


RED = "f.a = d.a AND d.s = 'red'"


def test_rows_are_found_by_those_that_a_condition_left():
    """Most of the changed keys name rows that join nothing."""
    program = found(
        f"SELECT f.id FROM f JOIN d ON {RED} WHERE f.n < (SELECT avg(n) FROM f g WHERE g.a = d.a)",
        "f",
    )
    red = {"__st_found_1_1_d.a", "__st_found_1_2_d.a"}
    assert asked(program) == {
        "__st_found_1_1_d": [{"a": {"__st_changes_f.a"}}],
        "__st_found_1_2_d": [{"a": {"__st_changes_f.a"}}],
        "__st_old_2_1_f": [{"a": {"__st_found_1_2_d.a"}}],
        "__st_old_2_2_f": [{"a": red}],
        "__st_found_2_2_f": [{"a": red}],
    }


def test_rows_of_a_semi_join_are_found_by_their_matches():
    sql = f"SELECT f.id, x.m FROM f LEFT SEMI JOIN d ON {RED} JOIN (SELECT a, max(n) AS m FROM f GROUP BY a) x"
    program = found(f"{sql} ON f.a = x.a", "f")
    red = [{"a": {"__st_found_1_1_d.a"}}]
    assert red in asked(program).values()
    for kept in ("ANTI", "OUTER"):
        program = found(f"{sql} ON f.a = x.a".replace("SEMI", kept), "f")
        assert "__st_found_1_1_d" in asked(program), kept
        assert red not in asked(program).values(), kept


def test_scans_of_one_table_under_other_conditions_are_other_lookups():
    program = found(
        "SELECT f.id, p.s AS p, q.s AS q FROM f JOIN d p ON f.a = p.a AND p.s = 'x' "
        "JOIN d q ON f.a = q.a AND q.e = 1",
        "f",
    )
    assert {(item.view, *item.conditions) for item in program.lookups} == {
        ("__st_found_1_1_d", PlainCondition("s", "=", "text", ("x",))),
        ("__st_found_1_2_d", PlainCondition("e", "=", "number", ("1",))),
    }


def test_a_condition_on_another_type_or_behind_an_aggregate_is_none_of_the_scan():
    for sql in (
        "SELECT f.id, t.k FROM f JOIN (SELECT a, e AS k FROM d UNION ALL SELECT a, x FROM d) t "
        "ON f.a = t.a WHERE t.k = 1",
        "SELECT f.id, t.k FROM f JOIN (SELECT a, max(e) AS k FROM d GROUP BY a) t ON f.a = t.a "
        "WHERE t.k = 1",
        "SELECT f.id, t.k FROM f JOIN (SELECT a, e + 1 AS k FROM d) t ON f.a = t.a WHERE t.k = 1",
    ):
        program = found(sql, "f")
        assert program.lookups, sql
        assert not any(item.conditions for item in program.lookups), sql


def test_keys_that_nothing_is_restricted_by_any_more_are_at_hand():
    for sql in (
        "SELECT d.s, count(DISTINCT f.n) AS n FROM d LEFT JOIN f ON f.a = d.a GROUP BY d.s",
        "SELECT s, count(DISTINCT n) AS n FROM f WHERE EXISTS (SELECT 1 FROM e WHERE e = f.a) "
        "GROUP BY s",
    ):
        changed = "f" if "LEFT" in sql else "e"
        keys = found(sql, changed).keys
        assert keys is not None
        assert keys.column == "s"
        assert {view.rpartition("_")[0] for view, _ in keys.held} == {"__st_found_1_1"}


def test_what_was_found_asks_for_more():
    program = found("SELECT f.id, e.name FROM f JOIN d ON f.a = d.a JOIN e ON d.e = e.e", "f")
    assert asked(program) == {
        "__st_found_1_1_d": [{"a": {"__st_changes_f.a"}}],
        "__st_found_2_1_e": [{"e": {"__st_found_1_1_d.e"}}],
    }
    assert program.lookups[0].columns == ("a", "e")


def test_a_column_of_an_outer_join_may_also_be_null():
    program = found(
        "SELECT f.id, g.n FROM f LEFT JOIN d ON f.a = d.a "
        "LEFT JOIN (SELECT e, count(*) AS n FROM e GROUP BY e) AS g ON d.e <=> g.e",
        "f",
    )
    [last] = [lookup for lookup in program.lookups if lookup.table == "e"]
    assert [item.null for one in last.any_of for item in one] == [True]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT f.id FROM f JOIN d ON f.x = d.x",
        "SELECT f.id FROM f JOIN d ON f.s COLLATE UTF8_LCASE = d.s COLLATE UTF8_LCASE",
        "SELECT f.id FROM f JOIN d ON f.n = d.a",
        "SELECT f.id FROM f JOIN d ON upper(f.s) = upper(d.s)",
        "SELECT f.id FROM f JOIN d ON f.a > d.a",
        "SELECT sum(f.a) OVER () AS t, f.id FROM f",
        "SELECT a, count(*) AS n FROM f GROUP BY a",
    ],
    ids=["float", "collation", "two types", "expression", "range", "all rows", "no table read"],
)
def test_nothing_is_asked_for_that_values_do_not_name(sql: str):
    assert not found(sql).lookups


def test_keys_come_from_changes_and_take_no_statement():
    joined = "SELECT f.id, d.s FROM f LEFT JOIN d ON f.a = d.a"
    plan = compile_sql(joined, TABLES, KEYS).maintenance
    assert len(plan.restricted_to(frozenset({"f", "d"}), small=True).answer.steps) == 2
    assert not found(joined).steps


def test_lookups_spare_readings_of_a_table_that_is_also_read_whole():
    both = "SELECT a, median(n) AS t FROM f GROUP BY a UNION ALL SELECT 0, median(n) FROM f"
    kept = compile_sql(both, TABLES, KEYS).maintenance
    plain = kept.restricted_to(frozenset({"f"}), small=True).answer
    assert 0 < _readings(found(both)) < _readings(plain)


def _readings(program: Program) -> int:
    texts = (program.sql, *(step.sql for step in program.steps))
    return sum(text.count("`__st_after_f`") for text in texts)
