"""Plans over all levels: who is asked, what is counted, and that nothing stale is ever given."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lmdb
import pytest

from streamtables.catalog import Catalog, default_location
from streamtables.catalog.models import Column, StreamTable
from streamtables.refresh.plan_cache import basis as basis_module
from streamtables.refresh.plans import ClearedCaches, Plans
from tests.unit.catalog.builders import START, at, source
from tests.unit.refresh.plan_cache.shelf import TOTALS, created, plans_of

ORDERS = frozenset({"orders"})


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with Catalog.open(default_location(tmp_path)) as opened:
        opened.add_source(source("orders"))
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "plans"


def used(plans: Plans, catalog: Catalog, table: StreamTable) -> dict[str, object]:
    """Ask for all that a refresh may ask for."""
    plan = plans.plan(table, catalog.snapshot().definitions)
    found = {
        "facts": plan.facts,
        "stored": plan.stored,
        "query": plan.query,
        "small": plan.changes(ORDERS, small=True),
        "large": plan.changes(ORDERS, small=False),
    }
    return found | ({"state": plan.state_rows} if plan.facts.state is not None else {})


def work(plans: Plans) -> tuple[int, int]:
    return plans.counts.parse_count, plans.counts.differentiate_count


def looks(plans: Plans) -> dict[str, tuple[int, int]]:
    found = {level: plans.counts.of(level) for level in ("l1", "l0", "l2")}
    return {level: (counts.hits, counts.misses) for level, counts in found.items()}


def test_a_hit_is_the_same_object_and_costs_no_statement(catalog: Catalog, folder: Path):
    plans, table = plans_of(catalog, folder), created(catalog)
    definitions = catalog.snapshot().definitions
    first = plans.plan(table, definitions)
    program = first.changes(ORDERS, small=True)
    before = catalog.queries
    assert plans.plan(table, definitions) is first
    assert plans.plan(table, definitions).facts is first.facts
    assert first.changes(ORDERS, small=True) is program
    assert catalog.queries == before
    assert looks(plans)["l1"] == (2, 1)
    plans.close()


def test_a_second_process_neither_parses_nor_differentiates(catalog: Catalog, folder: Path):
    table = created(catalog)
    first, second = plans_of(catalog, folder), plans_of(catalog, folder)
    made = used(first, catalog, table)
    assert work(first) == (1, 2)
    assert used(second, catalog, table) == made
    assert work(second) == (0, 0)
    assert looks(second) == {"l1": (0, 1), "l0": (6, 0), "l2": (0, 0)}
    first.close()
    second.close()


def test_a_new_machine_starts_from_the_catalog_and_fills_its_file(catalog: Catalog, folder: Path):
    table = created(catalog)
    home, away = plans_of(catalog, folder), plans_of(catalog, folder.with_name("away"))
    made = used(home, catalog, table)
    assert used(away, catalog, table) == made
    assert work(away) == (0, 0)
    assert looks(away) == {"l1": (0, 1), "l0": (0, 6), "l2": (6, 0)}
    beside = plans_of(catalog, folder.with_name("away"))
    assert used(beside, catalog, table) == made
    assert looks(beside)["l2"] == (0, 0)
    for plans in (home, away, beside):
        plans.close()


def test_clearing_empties_all_levels_and_the_next_use_fills_them(catalog: Catalog, folder: Path):
    plans, table = plans_of(catalog, folder), created(catalog)
    made = used(plans, catalog, table)
    assert plans.clear() == ClearedCaches(l0=6, l1=1, l2=6)
    assert plans.clear() == ClearedCaches(l0=0, l1=0, l2=0)
    assert used(plans, catalog, table) == made
    assert work(plans) == (2, 4)
    assert [(item.level, item.entries) for item in plans.held()] == [
        ("l1", 1),
        ("l0", 6),
        ("l2", 6),
    ]
    plans.close()


def test_the_least_recently_used_plan_goes_and_comes_back_from_the_file(
    catalog: Catalog, folder: Path
):
    plans = plans_of(catalog, folder, entries=2)
    a, b, c = (created(catalog, name) for name in "abc")
    definitions = catalog.snapshot().definitions
    first = plans.plan(a, definitions)
    plans.plan(b, definitions)
    assert plans.peek(a, definitions) is first
    plans.plan(c, definitions)
    assert plans.peek(a, definitions) is None
    assert plans.counts.of("l1").evictions == 1
    assert looks(plans)["l1"] == (0, 3)
    again = plans.plan(a, definitions)
    assert again is not first
    assert again.facts == first.facts
    assert work(plans) == (3, 0)
    plans.close()


def test_a_change_elsewhere_keeps_the_object(catalog: Catalog, folder: Path):
    plans, table = plans_of(catalog, folder), created(catalog)
    first = plans.plan(table, catalog.snapshot().definitions)
    catalog.add_source(source("others"))
    assert plans.peek(table, catalog.snapshot().definitions) is first
    assert plans.plan(table, catalog.snapshot().definitions) is first
    plans.close()


def test_another_query_is_another_plan(catalog: Catalog, folder: Path):
    plans, table = plans_of(catalog, folder), created(catalog)
    old = used(plans, catalog, table)
    other = TOTALS.replace("sum(amount)", "max(amount)")
    new = catalog.alter_stream_table(table.id, at=START, query=other, defining_query_hash="other")
    assert used(plans, catalog, new) != old
    back = catalog.alter_stream_table(
        table.id, at=START, query=table.query, defining_query_hash=table.defining_query_hash
    )
    assert used(plans, catalog, back) == old
    plans.close()


def test_other_columns_of_a_source_are_another_plan(catalog: Catalog, folder: Path):
    plans, table = plans_of(catalog, folder), created(catalog)
    old = used(plans, catalog, table)
    orders = catalog.source("orders")
    wider = (orders.columns[0], Column("amount", "bigint"))
    catalog.update_source(dataclasses.replace(orders, columns=wider), rebuild="types", at=at(1))
    second = plans_of(catalog, folder)
    new = used(second, catalog, catalog.stream_table(table.id))
    assert new != old
    assert work(second)[0] == 1
    assert used(plans, catalog, catalog.stream_table(table.id)) == new
    assert plans.counts.parse_count == 1
    for item in (plans, second):
        item.close()


def test_a_table_that_is_dropped_takes_its_records_along(catalog: Catalog, folder: Path):
    plans, table = plans_of(catalog, folder), created(catalog)
    used(plans, catalog, table)
    catalog.drop_stream_table(table.id)
    plans.forget([table.id])
    assert [item.entries for item in plans.held()] == [0, 0, 0]
    plans.close()


def test_another_compiler_trusts_nothing_that_is_kept(
    catalog: Catalog, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    table = created(catalog)
    first = plans_of(catalog, folder)
    used(first, catalog, table)
    monkeypatch.setattr(basis_module, "compiler_stamp", lambda: "a later compiler")
    second = plans_of(catalog, folder)
    used(second, catalog, table)
    assert work(second) == (1, 2)
    assert looks(second)["l0"][0] == 0
    # The catalog holds one definition of a table; the file lets the others go when it is full.
    assert [item.entries for item in second.held()] == [1, 12, 6]
    first.close()
    second.close()


def test_damaged_records_are_passed_over_and_written_anew(
    catalog: Catalog, folder: Path, tmp_path: Path
):
    table = created(catalog)
    first = plans_of(catalog, folder)
    made = used(first, catalog, table)
    first.close()
    _damage_file(folder)
    with sqlite3.connect(default_location(tmp_path)) as connection:
        connection.execute("UPDATE plan_records SET record = zeroblob(40)")
    connection.close()
    second = plans_of(catalog, folder)
    assert used(second, catalog, table) == made
    assert work(second) == (1, 2)
    for level in ("l0", "l2"):
        counts = second.counts.of(level)
        assert counts.faults == 6
        assert counts.last_fault == "a damaged record was passed over: the checksum is wrong"
    third = plans_of(catalog, folder)
    assert used(third, catalog, table) == made
    assert work(third) == (0, 0)
    second.close()
    third.close()


def _damage_file(folder: Path) -> None:
    with (
        lmdb.open(str(folder / "records")) as environment,
        environment.begin(write=True) as transaction,
        transaction.cursor() as cursor,
    ):
        for key, value in list(cursor):
            transaction.put(key, value[:-1] + bytes([value[-1] ^ 1]))


def test_a_file_that_cannot_be_used_is_noted_and_costs_nothing_else(
    catalog: Catalog, tmp_path: Path
):
    (tmp_path / "in_the_way").write_text("")
    plans, table = plans_of(catalog, tmp_path / "in_the_way"), created(catalog)
    used(plans, catalog, table)
    assert plans.counts.of("l0").faults > 0
    assert "cannot be opened" in plans.counts.of("l0").last_fault
    level = plans.held()[1]
    assert (level.level, level.entries) == ("l0", None)
    assert "cannot be opened" in level.fault
    assert used(plans_of(catalog, tmp_path / "in_the_way"), catalog, table)
    assert plans.clear() == ClearedCaches(l0=0, l1=1, l2=6)


def test_a_catalog_that_does_not_answer_is_noted(catalog: Catalog, folder: Path, tmp_path: Path):
    table = created(catalog)
    definitions = catalog.snapshot().definitions
    with sqlite3.connect(default_location(tmp_path)) as connection:
        connection.execute("DROP TABLE plan_records")
    connection.close()
    plans = plans_of(catalog, folder)
    assert plans.plan(table, definitions).facts.form == "stored-state"
    assert "cannot use the catalog" in plans.counts.of("l2").last_fault
    plans.close()


def test_without_room_there_is_no_file(catalog: Catalog, folder: Path):
    plans, table = plans_of(catalog, folder, megabytes=0), created(catalog)
    used(plans, catalog, table)
    assert [item.level for item in plans.held()] == ["l1", "l2"]
    assert plans.clear() == ClearedCaches(l0=0, l1=1, l2=6)
    assert not folder.exists()


def test_threads_share_one_plan_that_is_compiled_once(catalog: Catalog, folder: Path):
    plans, table = plans_of(catalog, folder), created(catalog)
    definitions = catalog.snapshot().definitions

    def ask(_: int) -> tuple[int, int]:
        plan = plans.plan(table, definitions)
        return id(plan), id(plan.changes(ORDERS, small=True))

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(32)))) == 1
    assert work(plans) == (1, 1)
    plans.close()


def test_a_query_without_a_plan_is_kept_as_it_is_written(catalog: Catalog, folder: Path):
    table = created(catalog, query="SELECT rand() AS r, id FROM orders")
    first, second = plans_of(catalog, folder), plans_of(catalog, folder)
    definitions = catalog.snapshot().definitions
    made = first.plan(table, definitions)
    assert made.facts.form is None
    assert made.facts.refusal
    assert not made.facts.incremental
    assert made.stored is made.query
    found = second.plan(table, definitions)
    assert (found.stored, found.facts) == (made.stored, made.facts)
    assert work(second) == (0, 0)
    first.close()
    second.close()
