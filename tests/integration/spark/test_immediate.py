"""Writes that tables of mode immediate include when they return."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from streamtables.api import StreamTables
from streamtables.catalog.models import Source
from streamtables.engine.session import SparkSessions
from streamtables.errors import (
    ConfigError,
    DuplicateKeyError,
    NotFoundError,
    QueryFailedError,
    StreamTablesError,
)
from streamtables.refresh.immediate.locking import Locks
from tests.support.delta_tables import DeltaTableFile
from tests.support.settings import settings_with

ORDERS = {"id": "bigint", "region": "string", "amount": "decimal(12,2)"}
START = [(1, "north", Decimal("10.00")), (2, "south", Decimal("5.00"))]
BY_REGION = "SELECT region, sum(amount) AS total, count(*) AS n FROM orders GROUP BY region"


def order(id_: int, region: str | None, amount: str) -> dict[str, Any]:
    return {"id": id_, "region": region, "amount": Decimal(amount)}


@pytest.fixture(params=[False, True], ids=["direct", "staged"])
def db(
    request: pytest.FixtureRequest, tmp_path: Path, spark_sessions: SparkSessions
) -> Iterator[StreamTables]:
    settings = settings_with(immediate_staging=request.param)
    DeltaTableFile(tmp_path / "orders", ORDERS, START)
    DeltaTableFile(
        tmp_path / "regions", {"region": "string", "chief": "string"}, [("north", "Ann")]
    )
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as opened:
        opened.add_source("orders", path=tmp_path / "orders", key="id")
        opened.add_source("regions", path=tmp_path / "regions")
        yield opened


def check(db: StreamTables) -> None:
    for table in db.stream_tables():
        found = db.verify(table.name)
        assert found.equal, (table.name, found)


def versions(db: StreamTables, folder: Path) -> list[int]:
    tables = [Path(table.location) for table in db.stream_tables()]
    return [len(list((at / "_delta_log").glob("*.json"))) for at in (folder / "orders", *tables)]


def test_a_write_is_in_every_table_that_follows(db: StreamTables, tmp_path: Path) -> None:
    db.create("totals", BY_REGION, mode="immediate")
    db.create("large", "SELECT region FROM totals WHERE total > 20", mode="immediate")
    db.create(
        "chiefs", "SELECT chief, amount FROM orders JOIN regions USING (region)", mode="immediate"
    )
    db.create("later", "SELECT id FROM orders")
    for name in ("totals", "large", "chiefs", "later"):
        db.refresh(name)
    written = db.write("orders", [order(3, "north", "15.50"), order(4, None, "1.00")])
    assert (written.rows_inserted, written.rows_deleted) == (2, 0)
    assert {r.table: r.outcome for r in written.refreshes} == {
        "totals": "applied",
        "large": "applied",
        "chiefs": "applied",
    }
    assert written.lock_mode == "table"
    check(db)
    assert {row.region for row in db.read("large").collect()} == {"north"}
    assert db.read("later").count() == 2
    db.write("orders", {"upsert": [order(1, "south", "100.00")], "delete": [{"id": 2}]})
    check(db)
    assert {row.region for row in db.read("large").collect()} == {"south"}
    assert db.read("chiefs").count() == 1
    assert db.history("totals")[0].reason_code == "write"
    assert db.refresh("later").mode == "differential"
    check(db)


def test_random_writes(db: StreamTables) -> None:
    random = Random(7)
    db.create("totals", BY_REGION, mode="immediate")
    db.create(
        "top", "SELECT region, max(amount) AS m FROM orders GROUP BY region", mode="immediate"
    )
    db.create("cheap", "SELECT id, amount FROM orders WHERE amount < 10", mode="immediate")
    known, following = {1, 2}, 3
    for _ in range(6):
        delete = random.sample(sorted(known), min(len(known), random.randint(0, 2)))
        upsert = random.sample(sorted(known - set(delete)), min(len(known) - len(delete), 1))
        insert = range(following, following + random.randint(0, 3))
        following = insert.stop
        rows = [
            [
                order(
                    i, random.choice(["north", "south", "east", None]), f"{random.randint(0, 20)}"
                )
                for i in part
            ]
            for part in (insert, upsert)
        ]
        written = db.write(
            "orders", {"insert": rows[0], "upsert": rows[1], "delete": [{"id": i} for i in delete]}
        )
        known = (known - set(delete)) | set(insert)
        assert written.lock_mode == "key", written.lock_reason
        check(db)


def test_a_source_without_a_key_is_a_bag(db: StreamTables) -> None:
    db.create("chiefs", "SELECT chief, count(*) AS n FROM regions GROUP BY chief", mode="immediate")
    twice = {"region": "x", "chief": "Bo"}
    db.write("regions", [twice, twice, {"region": "y"}])
    check(db)
    db.write("regions", {"delete": pa.table({"region": ["x"], "chief": ["Bo"]})})
    check(db)
    rows = {(row.chief, row.n) for row in db.read("chiefs").collect()}
    assert rows == {("Ann", 1), ("Bo", 1), (None, 1)}
    with pytest.raises(NotFoundError):
        db.write("regions", {"delete": [twice, twice]})
    check(db)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ([order(1, "x", "1")], DuplicateKeyError),
        ([order(9, "x", "1"), order(9, "y", "1")], DuplicateKeyError),
        ({"delete": [{"id": 77}]}, NotFoundError),
        ({"delete": [{"region": "x"}]}, ConfigError),
        ({"remove": []}, ConfigError),
        ([{"id": 9, "price": 3}], ConfigError),
        ([{"id": "nine"}], ConfigError),
        ([{"id": 9, "amount": Decimal("12345678901234.5")}], ConfigError),
        (17, ConfigError),
    ],
)
def test_a_wrong_write_changes_nothing(
    db: StreamTables, tmp_path: Path, changes: object, error: type[StreamTablesError]
) -> None:
    db.create("totals", BY_REGION, mode="immediate")
    db.refresh("totals")
    before = versions(db, tmp_path)
    with pytest.raises(error):
        db.write("orders", changes)
    assert versions(db, tmp_path) == before


def test_a_follower_that_fails_rejects_the_write(db: StreamTables, tmp_path: Path) -> None:
    db.create("totals", BY_REGION, mode="immediate")
    db.create("ratio", "SELECT id, 100 / amount AS r FROM orders", mode="immediate")
    for name in ("totals", "ratio"):
        db.refresh(name)
    before = versions(db, tmp_path)
    with pytest.raises(QueryFailedError):
        db.write("orders", [order(3, "north", "0")])
    assert versions(db, tmp_path) == before
    db.write("orders", [order(3, "north", "4")])
    check(db)


def test_what_others_wrote_comes_first(db: StreamTables, tmp_path: Path) -> None:
    db.create("totals", BY_REGION, mode="immediate")
    db.refresh("totals")
    rows = pa.Table.from_pylist(
        [order(50, "west", "7.00")],
        schema=pa.schema(
            [("id", pa.int64()), ("region", pa.string()), ("amount", pa.decimal128(12, 2))]
        ),
    )
    write_deltalake(str(tmp_path / "orders"), rows, mode="append")
    # A read alone brings the table forward.
    assert db.read("totals").count() == 3
    write_deltalake(
        str(tmp_path / "orders"), rows.set_column(0, "id", pa.array([51])), mode="append"
    )
    db.write("orders", [order(52, "west", "1.00")])
    check(db)
    assert {row.n for row in db.read("totals").collect() if row.region == "west"} == {3}


def test_writers_side_by_side(db: StreamTables) -> None:
    db.create("totals", BY_REGION, mode="immediate")
    db.refresh("totals")
    regions = ["north", "south", "east"]

    def write(number: int) -> str:
        written = db.write("orders", [order(100 + number, regions[number % 3], "1.00")])
        return written.lock_mode

    with ThreadPoolExecutor(3) as pool:
        assert set(pool.map(write, range(6))) == {"key"}
    check(db)
    assert sum(row.n for row in db.read("totals").collect()) == 8


def test_modes_that_cannot_be_immediate(db: StreamTables) -> None:
    db.create("later", "SELECT id FROM orders")
    for query in (
        "SELECT id FROM later",
        "SELECT id FROM orders WHERE current_date() > DATE '2020-01-01'",
        "SELECT id, rand() AS r FROM orders",
    ):
        with pytest.raises(StreamTablesError):
            db.create("now", query, mode="immediate")


def test_waiting_for_a_version(db: StreamTables) -> None:
    db.create("ids", "SELECT id FROM orders")
    db.refresh("ids")
    written = db.write("orders", [order(5, "north", "1")])
    assert written.version is not None
    db.wait_for("ids", {"orders": written.version})
    assert db.read("ids").count() == 3
    db.wait_for("ids")
    with pytest.raises(ConfigError):
        db.wait_for("ids", {"orders": 99})
    with pytest.raises(ConfigError):
        db.wait_for("ids", 17)
    with pytest.raises(ConfigError):
        db.wait_for("ids", {"nothing": 1})


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Callable[[Locks], None]]]:
    """What happens, once each, after a write was computed and before it commits."""
    events: list[Callable[[Locks], None]] = []
    real = Locks.take_turn

    def take_turn(self: Locks, source: Source) -> None:
        if events:
            events.pop(0)(self)
        real(self, source)

    monkeypatch.setattr(Locks, "take_turn", take_turn)
    yield events
    assert not events


def test_a_key_that_others_bring_meanwhile_is_found(
    db: StreamTables, tmp_path: Path, meanwhile: list[Callable[[Locks], None]]
) -> None:
    db.create("totals", BY_REGION, mode="immediate")
    db.refresh("totals")
    rows = pa.table(
        {"id": [3], "region": ["west"], "amount": pa.array([Decimal("7.00")], pa.decimal128(12, 2))}
    )
    meanwhile.append(lambda _: write_deltalake(str(tmp_path / "orders"), rows, mode="append"))
    with pytest.raises(DuplicateKeyError):
        db.write("orders", [order(3, "north", "1.00")])
    assert db.read("totals").count() == 3
    check(db)


@pytest.mark.fault(
    "rivals",
    "a writer of `db.write` stalls past its locks",
    step="write",
    seen="nothing: it begins again",
    recovery="by itself",
)
def test_a_writer_that_lost_its_locks_begins_again(
    db: StreamTables, meanwhile: list[Callable[[Locks], None]]
) -> None:
    db.create("totals", BY_REGION, mode="immediate")
    db.refresh("totals")

    def overtaken(locks: Locks) -> None:
        db._catalog.unlock_write(locks.holder)
        db.write("orders", [order(4, "east", "2.00")])

    meanwhile.append(overtaken)
    db.write("orders", [order(3, "east", "1.00")])
    check(db)
    assert {row.n for row in db.read("totals").collect() if row.region == "east"} == {2}
