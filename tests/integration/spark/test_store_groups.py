"""Groups below other operators that are stored apart, where a table has the option for it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from streamtables.api import StreamTables
from streamtables.catalog.models import CHOICE, StreamTable
from streamtables.engine.session import SparkSessions
from streamtables.errors import StreamTablesError, TableDamagedError, UserError
from streamtables.positions import InputId
from streamtables.refresh.owned import GROUPS
from streamtables.refresh.results import Refresh
from streamtables.refresh.round import Round
from tests.support.delta_tables import DeltaTableFile
from tests.support.settings import settings_with

ORDERS = {"id": "bigint", "customer": "bigint", "amount": "decimal(12,2)", "kind": "string"}
CUSTOMERS = {"customer": "bigint", "region": "string"}
APART = {"store_groups": True}
QUERIES = {
    "best": """
        SELECT customer, sum(amount) AS total FROM orders GROUP BY customer
        ORDER BY total DESC NULLS LAST, customer LIMIT 3""",
    "above_average": """
        SELECT o.id, o.amount FROM orders o JOIN (
            SELECT kind, avg(amount) AS usual FROM orders GROUP BY kind) k ON k.kind <=> o.kind
        WHERE o.amount > k.usual""",
    "regions": """
        SELECT region, count(*) AS n, sum(spent) AS spent FROM (
            SELECT c.region, o.customer, sum(o.amount) AS spent
            FROM orders o LEFT JOIN customers c ON c.customer = o.customer
            GROUP BY c.region, o.customer) GROUP BY region""",
    "dearest": """
        SELECT c.region, m.most FROM customers c LEFT JOIN (
            SELECT customer, max(amount) AS most, count(*) AS n FROM orders GROUP BY customer
            HAVING count(*) > 1) m ON m.customer = c.customer""",
    "kinds": "SELECT a.kind, b.n FROM (SELECT DISTINCT kind FROM orders) a JOIN ("
    "SELECT kind, count(amount) AS n FROM orders GROUP BY kind) b ON a.kind <=> b.kind",
}


class Shop:
    """Two sources that change at random."""

    def __init__(self, db: StreamTables, folder: Path, seed: int) -> None:
        self._chance = random.Random(seed)
        self._next = 1
        self.orders = DeltaTableFile(folder / "orders", ORDERS, self._rows(30))
        customers = [(number, f"r{number % 3}") for number in range(1, 6)]
        self.customers = DeltaTableFile(folder / "customers", CUSTOMERS, customers)
        db.add_source("orders", path=folder / "orders", key="id")
        db.add_source("customers", path=folder / "customers", key="customer")

    def _rows(self, count: int) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for _ in range(count):
            customer = self._chance.choice([None, 1, 2, 3, 4, 5, 6])
            amount = self._chance.choice([None, "1.00", "2.50", "99.99", "-3.00"])
            found.append((self._next, customer, amount, self._chance.choice(["a", "b", None])))
            self._next += 1
        return found

    def change(self) -> None:
        """Let rows come, go and change in both tables."""
        self.orders.append(*self._rows(self._chance.randint(0, 4)))
        went = self._chance.sample(range(1, self._next), 3)
        self.orders.delete(f"id IN ({', '.join(map(str, went))})")
        if self._chance.random() < 0.5:
            moved, gone = self._chance.sample(range(1, 7), 2)
            self.customers.delete(f"customer IN ({moved}, {gone})")
            self.customers.append((moved, self._chance.choice(["r0", None])))


def verified(db: StreamTables, name: str) -> Refresh:
    found = db.refresh(name)
    compared = db.verify(name)
    assert compared.equal, compared.sample
    return found


def internal(db: StreamTables) -> list[StreamTable]:
    return [table for table in db._catalog.stream_tables(internal=True) if table.is_internal]


def following(db: StreamTables, folder: Path) -> Shop:
    """Have a table over stored groups that was filled and has followed a change."""
    shop = Shop(db, folder, seed=1)
    db.create("best", QUERIES["best"], mode="differential", options=APART)
    verified(db, "best")
    shop.orders.append((900, 1, "5.00", "a"))
    assert verified(db, "best").mode != "full"
    return shop


def test_tables_over_stored_groups_follow_changes(db: StreamTables, tmp_path: Path):
    shop = Shop(db, tmp_path, seed=5)
    for name, query in QUERIES.items():
        db.create(name, query, mode="differential", options=APART)
    assert {result.table: result.mode for result in db.refresh_all()} == dict.fromkeys(
        QUERIES, "full"
    )
    for number in range(4):
        shop.change()
        for found in db.refresh_all():
            assert found.mode != "full", f"change {number}: {found.reason}"
            assert GROUPS in dict(found.steps)
            assert db.verify(found.table).equal, found.table


def test_spark_alone_keeps_a_table_over_stored_groups(
    spark_sessions: SparkSessions, tmp_path: Path
):
    session, settings = spark_sessions.get(), settings_with(driver_rows_max=0)
    with StreamTables(tmp_path / "w", spark=session, settings=settings) as db:
        shop = Shop(db, tmp_path, seed=6)
        db.create("best", QUERIES["best"], mode="differential", options=APART)
        verified(db, "best")
        shop.change()
        assert verified(db, "best").mode != "full"


def test_nobody_is_told_of_internal_tables(db: StreamTables, tmp_path: Path):
    following(db, tmp_path)
    [kept] = internal(db)
    assert kept.owner_id == db.stream_tables()[0].id
    assert [table.name for table in db.stream_tables()] == ["best"]
    assert [status.name for status in db.status()] == ["best"]
    assert [result.table for result in db.refresh_all()] == ["best"]
    assert db.read("best").columns == ["customer", "total"]
    with pytest.raises(UserError):
        db.create("mine", f"SELECT * FROM {kept.name}")


def test_a_drop_takes_stored_groups_along(db: StreamTables, tmp_path: Path):
    following(db, tmp_path)
    [kept] = internal(db)
    assert Path(kept.location).exists()
    assert [table.name for table in db.drop("best")] == ["best"]
    assert not Path(kept.location).exists()
    assert internal(db) == []
    assert db.drop_source("customers").name == "customers"


def test_the_option_is_set_and_taken_back(db: StreamTables, tmp_path: Path):
    shop = Shop(db, tmp_path, seed=2)
    db.create("best", QUERIES["best"])
    verified(db, "best")
    db.alter("best", options=APART)
    [kept] = internal(db)
    # What the groups held when the rows were stored, nobody can tell: all of it is compared once.
    assert verified(db, "best").mode == "no-change"
    [chosen] = [step for step in db.history("best")[0].steps if step.name == CHOICE]
    assert chosen.facts["way"] == "full"
    shop.change()
    assert verified(db, "best").mode != "full"
    db.alter("best", options={"store_groups": "none"})
    assert internal(db) == []
    assert not Path(kept.location).exists()
    shop.change()
    assert verified(db, "best").mode != "full"


def test_groups_of_an_altered_query_stay_where_they_are_the_same(db: StreamTables, tmp_path: Path):
    shop = following(db, tmp_path)
    [kept] = internal(db)
    db.alter("best", query=QUERIES["best"].replace("LIMIT 3", "LIMIT 2"))
    assert [table.id for table in internal(db)] == [kept.id]
    verified(db, "best")
    shop.change()
    assert verified(db, "best").mode != "full"
    db.alter("best", query=QUERIES["best"].replace("sum(amount)", "max(amount)"))
    assert [table.id for table in internal(db)] != [kept.id]
    verified(db, "best")
    shop.change()
    assert verified(db, "best").mode != "full"


def test_that_groups_cannot_be_computed_is_the_failure_of_their_owner(
    db: StreamTables, tmp_path: Path
):
    shop = Shop(db, tmp_path, seed=3)
    inverse = "SELECT customer, sum(CAST(1 / id AS DECIMAL(9,4))) AS total FROM orders"
    query = f"{inverse} GROUP BY customer ORDER BY total, customer LIMIT 3"
    db.create("best", query, mode="differential", options=APART)
    verified(db, "best")
    shop.orders.append((0, 1, "1.00", "a"))
    [failed] = db.refresh_all()
    assert (failed.table, failed.outcome) == ("best", "failed")
    assert failed.error is not None
    assert "DIVIDE_BY_ZERO" in failed.error.detail
    with pytest.raises(StreamTablesError):
        db.refresh("best")
    shop.orders.delete("id = 0")
    verified(db, "best")


def test_groups_that_somebody_wrote_to_are_found_and_repaired(db: StreamTables, tmp_path: Path):
    shop = following(db, tmp_path)
    [kept] = internal(db)
    DeltaTable(kept.location).delete("customer = 1")
    shop.orders.append((901, 1, "7.00", "a"))
    with pytest.raises(TableDamagedError):
        db.refresh("best")
    assert db.stream_tables()[0].state == "damaged"
    db.repair("best")
    assert db.stream_tables()[0].state == "active"
    shop.orders.append((902, 1, "8.00", "a"))
    assert verified(db, "best").mode != "full"


def test_groups_that_moved_alone_are_followed_from_where_the_owner_stood(
    db: StreamTables, tmp_path: Path
):
    shop = following(db, tmp_path)
    for _ in range(2):
        # As a process leaves it that died between the two commits.
        shop.change()
        snapshot = db._catalog.snapshot()
        Round(db._around, snapshot, snapshot.definitions.internal_tables(_id(db))).run()
    assert verified(db, "best").mode != "full"


def test_the_scheduler_brings_stored_groups_along(db: StreamTables, tmp_path: Path):
    shop = Shop(db, tmp_path, seed=4)
    db.create("best", QUERIES["best"], schedule="on change", options=APART)
    assert [result.table for result in db.tick()] == ["best"]
    shop.orders.append((903, 2, "5000.00", "b"))
    [found] = db.tick()
    assert (found.table, found.mode) == ("best", "differential")
    assert db.verify("best").equal
    assert db.tick() == []


def test_what_has_no_groups_to_store_is_as_it_was(db: StreamTables, tmp_path: Path):
    Shop(db, tmp_path, seed=7)
    total = "SELECT kind, sum(amount) AS total FROM orders GROUP BY kind"
    db.create("totals", total, options=APART)
    assert internal(db) == []
    db.create("full", QUERIES["best"], mode="full", options=APART)
    assert internal(db) == []


def _id(db: StreamTables) -> InputId:
    return db.stream_tables()[0].id
