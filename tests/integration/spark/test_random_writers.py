"""Random writers through the whole chain: a stream table is its query in PostgreSQL at a moment."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from uuid import uuid4

import psycopg
import pytest

from streamtables.api import StreamTables
from streamtables.demo.postgres_server import PostgresServer, running_server
from tests.support.bags import bag_of
from tests.support.random_transactions import TABLES
from tests.support.random_writers import WAYS, Gate, writers_of, writing
from tests.support.spark_oracle import refreshed

pytestmark = [pytest.mark.spark, pytest.mark.postgres]

# What means the same in both.
QUERIES = {
    "totals": """SELECT a.owner, count(*) AS n, sum(e.amount) AS total
        FROM accounts a JOIN entries e ON e.account = a.id GROUP BY a.owner""",
    "notes": """SELECT a.id, a.owner, e.note FROM accounts a
        LEFT JOIN entries e ON e.account = a.id AND e.amount > 3""",
    "kinds": "SELECT DISTINCT note, account FROM entries",
    "richest": """SELECT id, balance FROM accounts
        WHERE balance >= (SELECT max(balance) - 2 FROM accounts)""",
}
MOMENTS = 2
STEPS = 100
SEEDS = [("triggers", 1), ("wal", 2)]
MORE_SEEDS = [(way, seed) for way in WAYS for seed in range(3, 6)]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server(fsync="off") as started:
        yield started


@pytest.fixture
def url(server: PostgresServer) -> Iterator[str]:
    name = f"db_{uuid4().hex[:8]}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        with psycopg.connect(server.url_of(name), autocommit=True) as fresh:
            for statement in TABLES:
                fresh.execute(statement)
        yield server.url_of(name)
        # A server has room for a few slots only.
        connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
            " WHERE database = %s",
            (name,),
        )


@pytest.mark.parametrize(
    ("way", "seed"),
    [*SEEDS, *(pytest.param(*more, marks=pytest.mark.long) for more in MORE_SEEDS)],
)
def test_what_random_writers_leave_is_what_postgres_says(
    db: StreamTables, url: str, way: str, seed: int
) -> None:
    chosen = Random(seed).sample(sorted(QUERIES), 2)
    gate = Gate()
    modes: dict[str, list[str]] = {name: [] for name in chosen}
    with writing(url, writers_of(seed), gate) as ends:
        for table, capture in zip(("accounts", "entries"), WAYS[way], strict=True):
            db.add_source(table, postgres=url, table=table, capture=capture)
        for name in chosen:
            db.create(name, QUERIES[name])
        for _ in range(MOMENTS):
            gate.let_pass(STEPS)
            # What is drained while writers write is a moment too, which only the server knew.
            modes[chosen[0]].append(db.refresh(chosen[0]).mode)
            with gate.all_held(), psycopg.connect(url) as asked:
                for name in chosen:
                    modes[name].append(refreshed(db, name).mode)
                    stored = bag_of(map(tuple, db.read(name).collect()))
                    assert stored == bag_of(asked.execute(QUERIES[name]).fetchall()), name
    assert min(ends["commit"], ends["rollback"], ends["prepare"]) > 0, ends
    assert all(found[0] == "full" and "full" not in found[1:] for found in modes.values()), modes
