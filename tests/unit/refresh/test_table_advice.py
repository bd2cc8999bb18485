"""Advice about a table's choices and habits is given when it is true."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from streamtables.catalog.models import JsonValue, RefreshRecord, Step, StreamTable
from streamtables.compiler.maintenance.groups_apart import groups_apart
from streamtables.compiler.plan import compile_sql
from streamtables.positions import InputId, RefreshId, Sequence
from streamtables.refresh.table_advice import table_advice

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TABLE = StreamTable(
    id=InputId("t"),
    name="t",
    query="",
    defining_query_hash="",
    location="",
    columns=(),
    created_at=NOW,
    altered_at=NOW,
)
KEPT = compile_sql("SELECT id FROM orders", {"orders": {"id": "int"}})
REFUSED = compile_sql("SELECT rand() AS r FROM orders", {"orders": {"id": "int"}})
FULL = RefreshRecord(
    id=RefreshId("r"),
    stream_table_id=TABLE.id,
    sequence=Sequence(1),
    process="host:1",
    started_at=NOW,
    state="applied",
    mode="full",
    reason_code="large-change",
    reason_text="9 changed rows against 10 in the changed sources: recomputing is cheaper",
)
CHANGES = replace(FULL, mode="differential", reason_code="changes", reason_text="1 changed row")


def codes(plan, table=TABLE, history=()) -> list[str]:
    return [item.code for item in table_advice(plan, table, history)]


def test_a_refused_query_that_forbids_full_refreshes_cannot_move():
    assert codes(REFUSED, replace(TABLE, full_policy="forbid")) == ["full-forbidden"]
    assert codes(REFUSED) == []
    assert codes(KEPT, replace(TABLE, full_policy="forbid")) == []


def test_mode_full_is_named_where_changes_would_do():
    assert codes(KEPT, replace(TABLE, mode="full")) == ["mode-full"]
    assert codes(REFUSED, replace(TABLE, mode="full")) == []


@pytest.mark.parametrize(
    ("reason", "action"),
    [
        ("large-change", "full_threshold"),
        ("full-was-faster", "mode 'full'"),
        ("rebuild", "history of the sources"),
    ],
)
def test_many_full_refreshes_have_an_action_by_their_reason(reason: str, action: str):
    history = [replace(FULL, reason_code=reason)] * 3 + [CHANGES] * 2
    (found,) = table_advice(KEPT, TABLE, history)
    assert found.code == "often-full"
    assert action in found.text
    assert found.reason.startswith("3 of the last 5 refreshes computed everything")


@pytest.mark.parametrize(
    "history",
    [
        [FULL] * 4,
        [FULL] * 2 + [CHANGES] * 4,
        [replace(FULL, reason_code="first-fill")] * 6,
        [replace(FULL, reason_code="forced")] * 6,
    ],
)
def test_few_full_refreshes_or_chosen_ones_are_no_reason(history: list[RefreshRecord]):
    assert codes(KEPT, history=history) == []


BEST = compile_sql(
    "SELECT g, sum(n) AS s FROM orders GROUP BY g ORDER BY s DESC, g LIMIT 3",
    {"orders": {"id": "int", "g": "int", "n": "int"}},
)


def found(**facts: JsonValue) -> RefreshRecord:
    """Return a refresh that looked rows up."""
    return replace(CHANGES, steps=(Step("find", 0.1, facts),))


@pytest.mark.parametrize(
    "many", [found(rows=50_000), found(declined="the keys cover more than 100000 stored rows")]
)
def test_large_groups_below_another_operator_have_an_option(many: RefreshRecord):
    few = found(rows=20)
    assert codes(BEST, history=[many] * 3 + [few] * 2) == ["store-groups"]
    assert codes(BEST, history=[many] * 2 + [few] * 3) == []
    assert codes(BEST, history=[many] * 4) == []
    assert codes(KEPT, history=[many] * 5) == []
    assert codes(BEST, replace(TABLE, mode="full"), [many] * 5) == ["mode-full"]
    (part,) = groups_apart(BEST.definition)
    assert codes(replace(BEST, apart={part.sql: "kept"}), history=[many] * 5) == []
