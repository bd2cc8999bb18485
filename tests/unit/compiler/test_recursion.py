"""Which recursions are one walk, and what that walk reads."""

from __future__ import annotations

from streamtables.compiler.plan import Plan, compile_sql

TABLES = {
    "root": {"n": "int"},
    "edge": {"a": "int", "b": "int"},
    "stop": {"n": "int"},
    "way": {"x": "double", "y": "double"},
}


def recursion(step: str, base: str = "SELECT n, 0 FROM root") -> Plan:
    """Return the plan of a recursion over (n, d)."""
    return compile_sql(
        f"WITH RECURSIVE p(n, d) AS ({base} UNION ALL {step}) SELECT n, d FROM p", TABLES
    )


def changes_sql(plan: Plan, *changed: str) -> str:
    """Return the statements that compute the changes, old versions being there to read."""
    program = plan.maintenance.restricted_to(frozenset(changed), before="read").signed_rows
    return "\n".join((*(step.sql for step in program.steps), program.sql))


REACHED = recursion("SELECT b, d + 1 FROM p JOIN edge ON a = p.n")


def test_a_change_of_the_base_alone_reads_nothing_else_of_the_base():
    sql = changes_sql(REACHED, "root")
    assert "__st_changes_root" in sql
    assert "__st_after_root" not in sql
    assert "__st_changes_edge" not in sql


def test_a_change_of_the_edges_opens_no_old_version_and_walks_once():
    sql = changes_sql(REACHED, "edge")
    assert "__st_before_" not in sql
    assert sql.count("RECURSIVE") == 1
    assert "`__st_p_2`" not in sql


def test_a_step_that_joins_the_recursion_to_itself_is_walked_before_and_after():
    twice = recursion(
        "SELECT x.n + y.n, x.d + 1 FROM p AS x JOIN p AS y ON x.n < y.n WHERE x.d < 2"
    )
    assert "`__st_p_2`" in changes_sql(twice, "root")


def test_an_outer_join_to_what_changed_is_walked_before_and_after():
    stopped = recursion(
        "SELECT b, d + 1 FROM p JOIN edge ON a = p.n LEFT ANTI JOIN stop ON stop.n = p.n"
    )
    assert "`__st_p_2`" not in changes_sql(stopped, "root", "edge")
    assert "`__st_p_2`" in changes_sql(stopped, "stop")


def test_relations_of_floats_alone_are_walked_before_and_after():
    floats = recursion("SELECT CAST(y AS INT), d + 1 FROM p JOIN way ON x = p.n")
    assert "`__st_p_2`" not in changes_sql(floats, "root")
    assert "`__st_p_2`" in changes_sql(floats, "way")


def test_the_kind_says_whether_the_changes_alone_are_followed():
    assert "Recursive  [linear]" in recursion("SELECT n, d + 1 FROM p WHERE d < n").explain()
    assert "Recursive  [whole]" in REACHED.explain()
