"""Which least and greatest values are kept, and what their programs read."""

from __future__ import annotations

import pytest

from streamtables.compiler.plan_facts import PlanFacts
from streamtables.refresh.stored_columns import OtherColumns, require_hidden
from tests.unit.compiler.tables import compiled


@pytest.mark.parametrize(
    "query",
    [
        "SELECT note, max(id) AS m FROM orders GROUP BY note",
        "SELECT note, min(amount) AS m FROM orders GROUP BY note",
        "SELECT id, max(note) AS m FROM orders GROUP BY id",
        "SELECT max(vip) AS m FROM customers",
        "SELECT every(vip) AS e, any(vip) FILTER (WHERE id > 1) AS s FROM customers",
        "SELECT name, bool_or(DISTINCT vip) AS m, count(*) AS n FROM customers GROUP BY name",
        "SELECT min(at) AS a, max(day) AS d FROM events",
        "SELECT note, max(DISTINCT id) FILTER (WHERE amount > 1) AS m FROM orders GROUP BY note",
        "SELECT note, sum(amount) AS s, avg(id) AS a, max(id) AS m FROM orders GROUP BY note",
    ],
)
def test_values_that_compare_by_their_bytes_are_kept(query: str):
    kept = compiled(query).maintenance
    assert kept.form == "stored-state"
    assert kept.state is not None
    assert kept.state.may_lose


@pytest.mark.parametrize(
    "query",
    [
        "SELECT name, max(score) AS m FROM customers GROUP BY name",
        "SELECT name, min(float(score)) AS m FROM customers GROUP BY name",
        "SELECT max(p) AS m FROM odd",
        "SELECT max(tags) AS m FROM events",
        "SELECT note, max(id) AS m, mode(id) AS o FROM orders GROUP BY note",
        "SELECT note, max(id) AS m FROM orders GROUP BY note HAVING max(id) > 1",
    ],
)
def test_others_compute_touched_groups_again(query: str):
    assert compiled(query).maintenance.form == "touched-groups"


def test_a_change_reads_no_table_and_lost_groups_read_theirs():
    plan = compiled("SELECT note, sum(amount) AS s, max(id) AS m FROM orders GROUP BY note")
    programs = plan.maintenance.restricted_to(frozenset({"orders"}), small=True)
    assert "__st_after_" not in programs.answer.sql
    assert not programs.answer.steps
    assert not programs.answer.reads_table
    assert "`__st_now_lost`" in programs.lost_groups.sql
    assert "`__st_after_orders`" in programs.lost_groups.sql
    assert "IS NOT DISTINCT FROM" in programs.lost_groups.sql
    assert not programs.lost_groups.large


def test_what_adds_up_alone_has_the_columns_that_it_always_had():
    plan = compiled(
        "SELECT note, sum(amount) AS s, count(id) AS n, avg(id) AS a FROM orders GROUP BY note"
    )
    names = [name for name, _ in plan.maintenance.layout.hidden]
    assert names == ["__st_rows", "__st_sum_2", "__st_count_1", "__st_count_3", "__st_sum_5"]


def test_a_table_without_the_state_says_what_is_missing():
    facts = PlanFacts.of(compiled("SELECT note, max(id) AS m FROM orders GROUP BY note"))
    require_hidden(facts, ["note", "m", "__st_rows", "__st_max_2", "__st_count_1"])
    with pytest.raises(OtherColumns, match="kept no __st_count_1, __st_max_2, __st_rows, which"):
        require_hidden(facts, ["note", "m"])


def test_a_table_without_a_state_needs_none():
    require_hidden(PlanFacts.of(compiled("SELECT id FROM orders")), ["id"])
