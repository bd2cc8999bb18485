"""An alter and those that read the table: carried over, left alone or named; no Spark needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.catalog.models import StreamTable
from streamtables.errors import InUseError
from streamtables.refresh.altering.staging import Staging
from streamtables.refresh.define import Choices
from tests.support.delta_tables import DeltaTableFile

BASE = "SELECT id, a FROM orders WHERE a > 1"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[StreamTables]:
    columns = {"id": "bigint", "a": "int", "b": "string"}
    orders = DeltaTableFile(tmp_path / "orders", columns, [(1, 1, "x")])
    with StreamTables(tmp_path / "w") as db:
        db.add_source("orders", path=orders.path, key=["id"])
        db.create("base", BASE)
        db.create("star", "SELECT * FROM base")
        db.create("far", "SELECT * FROM star")
        db.create("sums", "SELECT a, count(*) AS n FROM base GROUP BY a")
        yield db


def table(db: StreamTables, name: str) -> StreamTable:
    return db._catalog.stream_table(name)


def everything(db: StreamTables) -> object:
    definitions = db._catalog.snapshot().definitions
    return definitions.generation, definitions.stream_tables, definitions.views


def names(db: StreamTables, name: str) -> list[str]:
    return [column.name for column in table(db, name).columns]


def test_the_same_meaning_keeps_the_text_and_marks_nothing(db: StreamTables) -> None:
    before = table(db, "base")
    after = db.alter("base", query="select x.id, x.a -- all\nfrom orders x where (x.a > 1)")
    assert after.query.startswith("select x.id")
    assert after.defining_query_hash == before.defining_query_hash
    assert (after.state, after.columns) == ("active", before.columns)
    assert table(db, "star").state == "active"


def test_other_rows_mark_the_table_and_not_its_readers(db: StreamTables) -> None:
    assert db.alter("base", query=BASE.replace("1", "0")).state == "needs-rebuild"
    assert {table(db, name).state for name in ("star", "far", "sums")} == {"active"}


def test_a_query_that_comes_back_needs_no_rebuild(db: StreamTables) -> None:
    before = table(db, "base")
    stand_at(db, "base")
    db.alter("base", query=BASE.replace("1", "0"))
    after = db.alter("base", query=BASE)
    assert (after.state, after.defining_query_hash) == ("active", before.defining_query_hash)


def test_a_rebuild_for_another_reason_stays_when_the_query_comes_back(db: StreamTables) -> None:
    stand_at(db, "base")
    now = db._around.clock()
    db._catalog.set_state(table(db, "base").id, "needs-rebuild", "a source was made anew", at=now)
    db.alter("base", query=BASE.replace("1", "0"))
    after = db.alter("base", query=BASE)
    assert (after.state, after.state_reason) == ("needs-rebuild", "a source was made anew")


def test_readers_of_all_columns_are_carried_over_with_the_reason(db: StreamTables) -> None:
    plan = db.plan_alter("base", query="SELECT id, a, b FROM orders WHERE a > 1")
    assert plan.effect.added == ("b",)
    assert [name for name, _ in plan.readers] == ["star", "far"]
    assert names(db, "star") == ["id", "a"]
    hashes = {name: table(db, name).defining_query_hash for name in ("star", "far", "sums")}
    db.alter("base", query="SELECT id, a, b FROM orders WHERE a > 1")
    for name in ("star", "far"):
        found = table(db, name)
        assert names(db, name) == ["id", "a", "b"]
        assert (found.state, found.state_reason) == (
            "needs-rebuild",
            '"base", which it reads, was altered',
        )
        assert found.defining_query_hash != hashes[name]
    assert (table(db, "sums").state, table(db, "sums").defining_query_hash) == (
        "active",
        hashes["sums"],
    )


def test_a_paused_reader_stays_paused_and_is_rebuilt_when_it_resumes(db: StreamTables) -> None:
    db.pause("star")
    before = table(db, "star").defining_query_hash
    db.alter("base", query="SELECT id, a, b FROM orders WHERE a > 1")
    assert table(db, "star").state == "paused"
    assert table(db, "star").defining_query_hash != before


def test_all_readers_that_would_break_are_named_and_nothing_changes(db: StreamTables) -> None:
    db.create("deep", "SELECT a + 1 AS c FROM far")
    db.add_view("seen", "SELECT a FROM base")
    before = everything(db)
    with pytest.raises(InUseError) as refused:
        db.alter("base", query="SELECT id, b FROM orders")
    assert refused.value.message == (
        'stream table "base" cannot become this: stream table "sums", stream table "deep", '
        'view "seen" would no longer compile'
    )
    assert refused.value.hint
    assert everything(db) == before


def test_a_table_that_is_replaced_is_checked_like_one_that_is_altered(db: StreamTables) -> None:
    before = table(db, "base")
    with pytest.raises(InUseError):
        db.create("base", "SELECT id, b FROM orders", replace=True)
    assert table(db, "base") == before
    after = db.create("base", "SELECT id, a, b FROM orders", replace=True)
    assert (after.id, after.location) == (before.id, before.location)
    assert names(db, "far") == ["id", "a", "b"]


def test_a_reader_of_mode_differential_must_stay_incremental(db: StreamTables) -> None:
    db.create("strict", "SELECT DISTINCT n FROM sums", mode="differential")
    db.create("lax", "SELECT DISTINCT n FROM sums")
    with pytest.raises(InUseError, match='cannot become this: stream table "strict" would no'):
        db.alter("sums", query="SELECT a, CAST(map(a, id) AS MAP<INT, BIGINT>) AS n FROM base")


def test_a_view_that_is_replaced_carries_readers_over(db: StreamTables) -> None:
    db.add_view("large", "SELECT id, a FROM orders WHERE a > 5")
    db.create("direct", "SELECT * FROM large")
    db.create("second", "SELECT * FROM direct")
    db.add_view("large", "SELECT id, a FROM orders   WHERE a > 5", replace=True)
    assert table(db, "direct").state == "active"
    db.add_view("large", "SELECT id, a, b FROM orders WHERE a > 5", replace=True)
    assert names(db, "second") == ["id", "a", "b"]
    assert table(db, "second").state_reason == '"direct", which it reads, was altered'


def test_columns_that_only_spark_can_tell_stay_until_it_has(db: StreamTables) -> None:
    db.alter("base", query="SELECT id, a FROM orders WHERE rand() > 0.5")
    assert names(db, "base") == ["id", "a"]
    assert names(db, "star") == ["id", "a"]
    # Nothing tells its rows apart any more, and so it is with those that show them.
    assert table(db, "star").key_columns is None
    assert table(db, "star").state == "needs-rebuild"


def test_an_altered_damaged_table_still_asks_for_a_repair(db: StreamTables) -> None:
    now = db._around.clock()
    db._catalog.set_state(table(db, "far").id, "damaged", "somebody wrote to it", at=now)
    assert db.alter("far", query="SELECT id FROM star").state == "damaged"


def test_a_definition_that_moves_meanwhile_is_taken_into_account(db: StreamTables) -> None:
    wider = "SELECT id, a, b FROM orders WHERE a > 1"
    tries = []

    def alter(work: Staging) -> None:
        tries.append(work.snapshot.generation)
        work.alter("base", Choices(), query=wider)
        if len(tries) == 1:
            db.create("late", "SELECT * FROM base")

    db._stored_together(alter)
    assert len(tries) == 2
    assert names(db, "late") == ["id", "a", "b"]


def test_a_table_that_others_read_is_not_dropped(db: StreamTables) -> None:
    with pytest.raises(InUseError, match='"base" is read by "far", "star", "sums"'):
        db.drop("base")
    assert len(db.stream_tables()) == 4


def stand_at(db: StreamTables, name: str) -> None:
    """Have the catalog believe that a table was filled by its query as it is."""
    from streamtables.catalog.models import Standing
    from streamtables.positions import Frontier, RefreshId, Sequence, Version

    found = table(db, name)
    standing = Standing(
        sequence=Sequence(1),
        refresh_id=RefreshId("r"),
        version=Version(0),
        frontier=Frontier.EMPTY,
        base_frontier=Frontier.EMPTY,
        query_hash=found.defining_query_hash,
        updated_at=db._around.clock(),
    )
    db._catalog.adopt_standing(found.id, standing)
