"""A PostgreSQL table that follows a stream table: equal, exactly once, and only where it is ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from streamtables.errors import StreamTablesError, TargetRefusedError, TransientError
from streamtables.publish import postgres_sink
from streamtables.publish.postgres_sink import PostgresSink
from streamtables.publish.reading import Changes
from tests.support.published import Rows, Shelf, open_shelf

pytestmark = pytest.mark.postgres


@pytest.fixture
def shelf(tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    monkeypatch.setenv("TARGET", database)
    opened = open_shelf(tmp_path)
    opened.fill("t", (1, "a"), (2, None))
    opened.fill("bag", ("a",), ("a",), (None,))
    for name in ("t", "bag"):
        opened.db.publish(name)
        subscribed(opened, name)
    yield opened
    opened.db.close()


def subscribed(shelf: Shelf, name: str, table: str = "") -> None:
    target = {"kind": "postgres", "address": "${env:TARGET}", "table": table or f"public.{name}"}
    shelf.db.subscribe(name, "copy", to=target)


def rows_at(database: str, statement: str) -> Any:
    with psycopg.connect(database) as connection:
        return connection.execute(statement).fetchall()


def copied(database: str, name: str) -> Rows:
    columns = "id, note" if name == "t" else "note"
    found = rows_at(database, f"SELECT {columns}, __st_count FROM public.{name}")
    return Counter({row[:-1]: row[-1] for row in found})


def pushed(shelf: Shelf, database: str) -> None:
    """Push, and check that both targets equal their tables."""
    assert [done.error for done in shelf.db.push() if done.error] == []
    for name in ("t", "bag"):
        assert copied(database, name) == shelf.stored(name)


def test_a_table_and_a_bag_stay_equal_through_every_kind_of_change(
    shelf: Shelf, database: str
) -> None:
    pushed(shelf, database)
    shelf.append("t", (3, "c"), (4, "d"))
    shelf.append("bag", ("a",), ("b",))
    pushed(shelf, database)
    shelf.delete("t", "id = 1")
    shelf.delete("bag", "note = 'a'")
    pushed(shelf, database)
    shelf.overwrite("t", (2, "other"), (4, "d"), (9, None))
    shelf.overwrite("bag", ("b",), ("b",), (None,), (None,))
    pushed(shelf, database)
    shelf.remake("t", (7, "g"))
    shelf.remake("bag", ("z",))
    pushed(shelf, database)
    assert shelf.db.push() == []


def test_a_crash_before_the_commit_leaves_nothing_and_the_next_push_does_it_once(
    shelf: Shelf, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed(shelf, database)
    before = copied(database, "bag")
    shelf.append("bag", ("a",), ("n",))

    def fail(boundary: str) -> None:
        if boundary == "push-applied":
            raise TransientError("power cut")

    monkeypatch.setattr(postgres_sink, "reach", fail)
    [done] = shelf.db.push()
    assert isinstance(done.error, TransientError)
    assert copied(database, "bag") == before
    monkeypatch.undo()
    monkeypatch.setenv("TARGET", database)
    pushed(shelf, database)


def test_a_crash_after_the_commit_repeats_nothing_because_the_target_knows(
    shelf: Shelf, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed(shelf, database)
    shelf.append("bag", ("a",), ("n",))

    def fail(boundary: str) -> None:
        if boundary == "push-committed":
            raise TransientError("power cut")

    monkeypatch.setattr(postgres_sink, "reach", fail)
    [done] = shelf.db.push()
    assert isinstance(done.error, TransientError)
    # The rows are there, and the catalog does not know.
    assert copied(database, "bag") == shelf.stored("bag")
    assert shelf.db.publications()[0].subscribers[0].acknowledged == 0
    monkeypatch.undo()
    monkeypatch.setenv("TARGET", database)
    [done] = shelf.db.push()
    assert (done.error, done.rows, done.version) == (None, 0, 1)
    assert copied(database, "bag") == shelf.stored("bag")
    shelf.append("bag", ("o",))
    pushed(shelf, database)


@pytest.mark.fault(
    "receivers",
    "a window is sent to PostgreSQL a second time",
    step="push",
    seen="nothing",
    recovery="none needed",
)
def test_a_window_that_arrives_twice_is_applied_once(shelf: Shelf, database: str) -> None:
    pushed(shelf, database)
    shelf.db.subscribe("bag", "reader", "now")
    shelf.append("bag", ("twice",))
    owner = shelf.db._catalog.publication("bag").id
    sink = PostgresSink(owner, "copy", "${env:TARGET}", "public.bag")
    assert sink.deliver(shelf.db.changes("bag", "reader")) == 1
    assert sink.deliver(shelf.db.changes("bag", "reader")) == 0
    assert copied(database, "bag") == shelf.stored("bag")


def test_a_table_that_is_not_ours_is_refused_and_left_alone(shelf: Shelf, database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE public.theirs AS SELECT 1 AS id")
    shelf.db.unsubscribe("t", "copy")
    subscribed(shelf, "t", "public.theirs")
    [done] = shelf.db.push("t")
    assert isinstance(done.error, TargetRefusedError)
    assert rows_at(database, "SELECT * FROM public.theirs") == [(1,)]
    [event] = [e for e in shelf.db.events("t") if e.kind == "push-failed"]
    assert "ST-1502" in event.text


def test_two_subscribers_cannot_keep_one_table(shelf: Shelf, database: str) -> None:
    pushed(shelf, database)
    target = {"kind": "postgres", "address": "${env:TARGET}", "table": "public.t"}
    shelf.db.subscribe("t", "second", to=target)
    [done] = shelf.db.push("t")
    assert isinstance(done.error, TargetRefusedError)
    assert copied(database, "t") == shelf.stored("t")


@pytest.mark.parametrize(
    "damage", ["DELETE FROM public.t WHERE id = 1", "DROP TABLE public.t"], ids=["row", "table"]
)
def test_a_target_that_somebody_changed_is_told(shelf: Shelf, database: str, damage: str) -> None:
    pushed(shelf, database)
    with psycopg.connect(database) as connection:
        connection.execute(damage)
    shelf.delete("t", "id = 1")
    [done] = shelf.db.push("t")
    assert isinstance(done.error, TargetRefusedError)
    assert done.error.hint


def test_a_server_that_is_away_is_tried_again_and_stops_nobody_else(
    shelf: Shelf, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TARGET", "postgresql://nobody:hidden@127.0.0.1:1/none")
    done = shelf.db.push()
    assert all(isinstance(item.error, StreamTablesError) for item in done)
    assert not any("hidden" in event.text for event in shelf.db.events())
    monkeypatch.setenv("TARGET", database)
    pushed(shelf, database)


def test_every_type_arrives(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARGET", database)
    moment = datetime(2030, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    rows = pa.table(
        {
            "b": pa.array([True, None]),
            "i": pa.array([1, None], pa.int32()),
            "d": pa.array([Decimal("1.50"), None], pa.decimal128(12, 2)),
            "f": pa.array([float("nan"), -0.0]),
            "day": pa.array([moment.date(), None]),
            "at": pa.array([moment, None], pa.timestamp("us", "UTC")),
            "local": pa.array([moment.replace(tzinfo=None), None], pa.timestamp("us")),
            "raw": pa.array([b"\x00\xff", None]),
            "list": pa.array([[1, 2], None]),
            "part": pa.array([{"x": "y"}, None]),
            "__st_weight": pa.array([1, 2]),
        }
    )
    changes = Changes(
        "p", "t", "i", None, 0, 0, "new", None, "k", rows.schema, iter(rows.to_batches())
    )
    assert PostgresSink("id", "s", "${env:TARGET}", "public.wide").deliver(changes) == 2
    columns = "b, i, d, day, at, local, raw, list, part, __st_count"
    found = rows_at(database, f"SELECT {columns}, f::text FROM public.wide ORDER BY __st_count")
    assert found == [
        (True, 1, Decimal("1.50"), moment.date(), moment, moment.replace(tzinfo=None),
         b"\x00\xff", [1, 2], {"x": "y"}, 1, "NaN"),
        (None, None, None, None, None, None, None, None, None, 2, "-0"),
    ]  # fmt: skip


def test_a_time_that_python_does_not_have_is_refused_and_changes_nothing(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TARGET", database)
    rows = pa.table(
        {"at": pa.array([2**62], pa.timestamp("us")), "__st_weight": pa.array([1], pa.int64())}
    )
    changes = Changes(
        "p", "t", "i", None, 0, 0, "new", None, "k", rows.schema, iter(rows.to_batches())
    )
    with pytest.raises(TargetRefusedError):
        PostgresSink("id", "s", "${env:TARGET}", "public.far").deliver(changes)
    assert rows_at(database, "SELECT to_regclass('public.far')") == [(None,)]
