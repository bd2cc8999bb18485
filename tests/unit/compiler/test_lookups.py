"""Which rows a program of a small change asks to be found first."""

from __future__ import annotations

import pytest

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
