"""Past a limit a program is made in another way, and gives the same rows."""

from __future__ import annotations

from itertools import pairwise

import pytest

from streamtables.compiler.maintenance import ChangedTables, Limits
from streamtables.compiler.maintenance.limits import widest_join
from streamtables.compiler.plan import Plan, compile_sql
from tests.support.choices import Seeded
from tests.support.duckdb_oracle import Database
from tests.support.histories import random_history
from tests.support.maintained_table import check_maintenance

COLUMNS = {"k": "int", "v": "int"}
NAMES = tuple("abcde")
TABLES = {name: dict(COLUMNS) for name in NAMES}


def joined(count: int) -> Plan:
    names = NAMES[:count]
    sql = f"SELECT {', '.join(f'{name}.v AS {name}v' for name in names)} FROM {names[0]}"
    for left, right in pairwise(names):
        sql += f" JOIN {right} ON {left}.v = {right}.k"
    return compile_sql(sql, {name: TABLES[name] for name in names})


def programs(plan: Plan, limits: Limits) -> ChangedTables:
    return plan.maintenance.restricted_to(
        frozenset(plan.tables),
        small=True,
        before=limits.before(plan.definition),
        scans_at_most=limits.scans,
    )


def test_the_widest_join_of_a_query_counts():
    assert widest_join(joined(4).definition) == 4
    plain = compile_sql("SELECT v FROM a", {"a": COLUMNS})
    assert widest_join(plain.definition) == 0


@pytest.mark.parametrize(("inputs", "reads_old"), [(3, False), (2, True)])
def test_a_join_wider_than_the_limit_reads_old_versions(inputs: int, reads_old: bool):
    sql = programs(joined(3), Limits(join_inputs=inputs, scans=100)).signed_rows.sql
    assert ("__st_before_a" in sql) is reads_old


def test_a_statement_wider_than_the_limit_is_split_into_its_terms():
    plan = joined(4)
    whole = programs(plan, Limits(join_inputs=9, scans=12)).signed_rows
    split = programs(plan, Limits(join_inputs=9, scans=11)).signed_rows
    narrow = programs(plan, Limits(join_inputs=9, scans=1)).signed_rows
    assert (len(whole.steps), len(split.steps), len(narrow.steps)) == (0, 1, 4)
    assert split.steps[0].name == "__st_part_1"
    assert split.reads_table
    assert not narrow.reads_table
    assert "__st_after_" not in narrow.sql


@pytest.mark.parametrize("seed", range(4))
def test_split_programs_give_what_the_query_gives(seed: int):
    plan = joined(5)
    history = random_history(Seeded(seed), TABLES)
    database = Database(TABLES)
    for table, rows in history.start.items():
        database.fill(table, rows)
    check_maintenance(plan, database, history.batches, turn=3, again=True)
    database.close()


@pytest.mark.parametrize("scans", [1, 11, 100])
@pytest.mark.parametrize(
    "shown", ["a.v AS k", "a.v AS k, max(d.v) AS m", "a.v AS k, sum(d.v) AS s"]
)
def test_statements_are_counted_as_they_are_written(scans: int, shown: str):
    tables = {name: TABLES[name] for name in "abcd"}
    joined = "FROM a JOIN b ON a.v = b.k JOIN c ON b.v = c.k JOIN d ON c.v = d.k"
    grouped = " GROUP BY a.v" if "(" in shown else ""
    plan = compile_sql(f"SELECT {shown} {joined}{grouped}", tables)
    changed = programs(plan, Limits(join_inputs=9, scans=scans))
    written = [*(step.sql for step in changed.answer.steps), changed.answer.sql]
    assert len(changed.statements.parts) == len(written) - 1
    # A part that a statement names twice is written once there, but Spark reads its tables twice.
    assert changed.statements.scans >= max(sql.count("`__st_after_") for sql in written)
