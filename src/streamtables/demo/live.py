"""The second half of the demonstration: a PostgreSQL database that somebody keeps writing to.

the till        two tables on the bundled server, captured and copied into mirrors
live            a writer commits orders; refreshes follow, and show how far behind they are
the proof       the same query, asked in PostgreSQL
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Any

import psycopg

from streamtables.api import StreamTables
from streamtables.demo.postgres_server import running_server
from streamtables.demo.screen import Column, Screen
from streamtables.errors import TableDamagedError

ROUNDS = 6
SECONDS_BETWEEN = 1.0
TABLES = ("till_orders", "till_items")
NAME = "takings"

SCHEMA = """
CREATE TABLE till_orders (order_id bigint PRIMARY KEY, customer_id bigint NOT NULL,
                          placed_at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE till_items (order_id bigint NOT NULL, product text, price numeric(10,2) NOT NULL);
ALTER TABLE till_items REPLICA IDENTITY FULL;
"""

# The customers are the Delta table of the first half: both kinds of sources in one query.
QUERY = """
SELECT region, count(*) AS items, sum(price) AS revenue, max(placed_at) AS last_order
FROM till_orders JOIN till_items USING (order_id) LEFT JOIN customers USING (customer_id)
GROUP BY region
"""

IN_POSTGRES = """
SELECT count(*), coalesce(sum(price), 0) FROM till_orders JOIN till_items USING (order_id)
"""


def run_live(screen: Screen, db: StreamTables, customers: int) -> None:
    """Follow a PostgreSQL database for a few rounds, and take everything down again."""
    screen.title("Live from PostgreSQL")
    screen.line("A real server with two tables. Their changes are captured, and each transaction")
    screen.line("is seen whole. One query joins them with the Delta table of customers.")
    screen.line()
    with running_server() as server, psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(SCHEMA)
        till = Till(server.url, customers)
        till.sell(connection, 2_000)
        began = perf_counter()
        for table in screen.steps(TABLES, lambda table: f"capturing and copying {table}"):
            db.add_source(table, postgres=server.url, table=table)
        db.create(NAME, QUERY)
        with screen.working("the first fill"):
            db.refresh(NAME)
        screen.line(f"Captured, copied and filled in {perf_counter() - began:.1f} s.")
        screen.line("Somebody sells without a pause from now on:")
        screen.line()
        with till.open():
            rows = [_followed(db, number) for number in screen.steps(range(1, ROUNDS + 1), _words)]
        screen.table(COLUMNS, rows)
        _prove(screen, db, connection)
        db.drop(NAME)
        for table in TABLES:
            db.drop_source(table)
        screen.line("The sources are dropped again; no trigger, slot or publication is left.")


COLUMNS = (
    Column("round", number=True),
    Column("captured by"),
    Column("mode"),
    Column("changed rows", number=True),
    Column("seconds", number=True),
    Column("behind, s", number=True),
)


@dataclass(frozen=True)
class Till:
    """Sells: every order is one transaction over both tables."""

    url: str
    customers: int

    def sell(self, connection: psycopg.Connection[Any], orders: int) -> None:
        """Commit many orders at once."""
        connection.execute(
            "WITH placed AS (INSERT INTO till_orders SELECT g, g %% %s FROM"
            " generate_series(1, %s) g RETURNING order_id)"
            " INSERT INTO till_items SELECT order_id, 'coffee', 2.50 FROM placed",
            (self.customers, orders),
        )

    @contextmanager
    def open(self) -> Iterator[None]:
        """Sell in the background until the block ends."""
        closed = Event()
        seller = Thread(target=self._sell_on, args=(closed,), name="streamtables-demo-seller")
        seller.start()
        try:
            yield
        finally:
            closed.set()
            seller.join()

    def _sell_on(self, closed: Event) -> None:
        chance = random.Random(7)
        with psycopg.connect(self.url) as connection:
            number = 1_000_000
            while not closed.wait(0.005):
                number += 1
                connection.execute(
                    "INSERT INTO till_orders (order_id, customer_id) VALUES (%s, %s)",
                    (number, chance.randrange(self.customers)),
                )
                for _ in range(chance.randint(1, 3)):
                    connection.execute(
                        "INSERT INTO till_items VALUES (%s, 'tea', %s)",
                        (number, chance.randint(1, 900) / 100),
                    )
                connection.commit()


def _followed(db: StreamTables, number: int) -> list[str]:
    """Refresh once while the till is open; return a row to show."""
    sleep(SECONDS_BETWEEN)
    result = db.refresh(NAME)
    last = max(row[0] for row in db.read(NAME).select("last_order").collect())
    behind = datetime.now(UTC) - last.astimezone(UTC)
    ways = {status.mode for status in db.wal_source_status()}
    changed = db.history(NAME, 1)[0].rows_in
    return [
        str(number),
        " and ".join(sorted(ways)),
        result.mode,
        f"{changed:,}",
        f"{result.seconds:.2f}",
        f"{behind.total_seconds():.2f}",
    ]


def _words(number: int) -> str:
    return f"round {number}"


def _prove(screen: Screen, db: StreamTables, connection: psycopg.Connection[Any]) -> None:
    """Compare with the answer of PostgreSQL, and with the whole query in Spark."""
    db.refresh(NAME)
    ours = db.read(NAME).agg({"items": "sum", "revenue": "sum"}).collect()[0]
    found = {name.split("(")[1].rstrip(")"): value for name, value in ours.asDict().items()}
    row = connection.execute(IN_POSTGRES).fetchone()
    assert row is not None
    equal = (found["items"], found["revenue"]) == (row[0], row[1])
    verified = db.verify(NAME).equal
    screen.line()
    screen.line(
        f"PostgreSQL counts {row[0]:,} items worth {row[1]:,}; the stream table "
        f"{found['items']:,} worth {found['revenue']:,}. verify: "
        f"{'equal' if verified else 'different'}."
    )
    if not (equal and verified):
        raise TableDamagedError(f'stream table "{NAME}" differs from the database')
