"""What is made ahead after a fill: the likely sets of changed tables, and not too many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import pytest

from benchmarks.compile_time import chain_of_joins
from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import new_id
from streamtables.compiler.algebra import CLOCK_TABLE
from streamtables.positions import Frontier, InputId, RefreshId, Version
from streamtables.refresh.plan_cache import KeptPlan, Levels
from streamtables.refresh.plan_cache.counts import Counts
from streamtables.refresh.prepare import prepare_changes
from streamtables.refresh.task import Task, TaskInput
from tests.unit.catalog.builders import stream_table
from tests.unit.refresh.plan_cache.shelf import LIMITS, basis

ORDERS = {"orders": {"id": "bigint", "at": "timestamp", "amount": "int", "cust": "bigint"}}
BOTH = {**ORDERS, "custs": {"cust_id": "bigint", "name": "string"}}
JOINED = "SELECT id, name FROM orders JOIN custs ON cust = cust_id"


def task(sql: str, tables: Mapping[str, Mapping[str, str]], counts: Counts) -> Task:
    inputs = tuple(
        TaskInput(InputId(name), name, f"/{name}", Version(1), tuple(columns))
        for name, columns in tables.items()
    )
    return Task(
        table=stream_table("t", query=sql),
        definitions=Definitions(1, {}, {}),
        plan=KeptPlan(new_id(), basis(sql, tables, {}), Levels(counts), LIMITS),
        standing=None,
        inputs=inputs,
        base_frontier=Frontier.EMPTY,
        refresh_id=RefreshId("refresh"),
    )


@pytest.mark.parametrize(("small", "found"), [(True, True), (True, False), (False, False)])
def test_all_inputs_and_each_alone_are_ready(small: bool, found: bool):
    counts = Counts()
    filled = task(JOINED, BOTH, counts)
    prepare_changes(filled, small=small, found=found)
    assert (counts.parse_count, counts.differentiate_count) == (1, 3)
    for size in (1, 2):
        for changed in combinations(BOTH, size):
            filled.plan.changes(frozenset(changed), small=small, found=found)
    assert counts.differentiate_count == 3


def test_where_a_query_asks_for_the_time_it_has_always_passed():
    counts = Counts()
    filled = task("SELECT id FROM orders WHERE at < current_timestamp()", ORDERS, counts)
    prepare_changes(filled, small=True, found=True)
    made = counts.differentiate_count
    for others in ((), ("orders",)):
        filled.plan.changes(frozenset({CLOCK_TABLE, *others}), small=True, found=True)
    assert counts.differentiate_count == made


def test_a_table_that_follows_no_changes_needs_nothing():
    for mode, sql in (("full", JOINED), ("auto", "SELECT id, rand() AS r FROM orders")):
        counts = Counts()
        filled = task(sql, BOTH, counts)
        filled = replace(filled, table=replace(filled.table, mode=mode))
        prepare_changes(filled, small=True, found=True)
        assert counts.differentiate_count == 0


def test_many_inputs_do_not_make_it_long():
    counts = Counts()
    sql, tables, _ = chain_of_joins(10)
    prepare_changes(task(sql, tables, counts), small=True, found=True)
    assert counts.differentiate_count == 8
