"""Waiting until a stream table has what a transaction of PostgreSQL wrote, by its number."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from streamtables.api import StreamTables
from streamtables.errors import ConfigError, TransientError
from tests.support.spark_oracle import assert_equal_to_query

pytestmark = [pytest.mark.spark, pytest.mark.postgres]

POSITION = "SELECT pg_current_xact_id()::text"
QUERY = "SELECT region, sum(amount) AS amount, count(*) AS n FROM orders GROUP BY region"
PATIENCE_SECONDS = 60.0
FRUITLESS_SECONDS = 0.5


@pytest.fixture(params=["triggers", "wal"])
def server_url(database: str, request: pytest.FixtureRequest, db: StreamTables) -> Iterator[str]:
    """A database whose table of orders is captured, and followed by a filled stream table."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE orders (id int PRIMARY KEY, region text NOT NULL, amount int NOT NULL)"
        )
        connection.execute("INSERT INTO orders VALUES (1, 'north', 5), (2, 'south', 8)")
    db.add_source("orders", postgres=database, table="orders", capture=request.param)
    db.create("totals", QUERY)
    db.refresh("totals")
    yield database
    db.drop("totals")
    db.drop_source("orders")


def _insert(connection: psycopg.Connection, number: int, amount: int) -> str:
    """Write an order in the open transaction, and return what the transaction is called."""
    connection.execute("INSERT INTO orders VALUES (%s, 'north', %s)", (number, amount))
    [position] = connection.execute(POSITION).fetchone() or ()
    return str(position)


def _north(db: StreamTables) -> tuple[int, int]:
    assert_equal_to_query(db, "totals")
    [row] = [row for row in db.read("totals").collect() if row["region"] == "north"]
    return row["amount"], row["n"]


def _waits_in_vain(db: StreamTables, position: str, *, refresh: bool = True) -> None:
    with pytest.raises(TransientError) as caught:
        db.wait_for("totals", position, timeout=FRUITLESS_SECONDS, refresh=refresh)
    assert caught.value.message == (
        f'stream table "totals" does not include the position after {FRUITLESS_SECONDS:g} s'
    )
    assert caught.value.hint == "Look at its history and at the scheduler, or wait longer."


def test_a_table_has_a_committed_row_when_the_wait_for_its_transaction_ends(
    server_url: str, db: StreamTables
) -> None:
    with psycopg.connect(server_url) as connection:
        position = _insert(connection, 3, 12)
    found = db.wait_for("totals", position, timeout=PATIENCE_SECONDS)
    assert found.name == "totals"
    assert _north(db) == (17, 2)


def test_a_transaction_that_is_open_is_waited_for_though_a_later_one_is_in(
    server_url: str, db: StreamTables
) -> None:
    with psycopg.connect(server_url) as first, psycopg.connect(server_url) as second:
        open_still = _insert(first, 3, 12)
        committed = _insert(second, 4, 100)
        second.commit()
        db.wait_for("totals", committed, timeout=PATIENCE_SECONDS)
        assert _north(db) == (105, 2)
        _waits_in_vain(db, open_still)
        assert _north(db) == (105, 2)
        first.commit()
        db.wait_for("totals", open_still, timeout=PATIENCE_SECONDS)
    assert _north(db) == (117, 3)


def test_who_does_not_refresh_waits_for_somebody_who_does(
    server_url: str, db: StreamTables
) -> None:
    with psycopg.connect(server_url) as connection:
        position = _insert(connection, 3, 12)
    _waits_in_vain(db, position, refresh=False)
    assert _north_as_stored(db) == (5, 1)
    db.refresh("totals")
    db.wait_for("totals", position, timeout=0, refresh=False)
    assert _north(db) == (17, 2)


def _north_as_stored(db: StreamTables) -> tuple[int, int]:
    [row] = [row for row in db.read("totals").collect() if row["region"] == "north"]
    return row["amount"], row["n"]


def test_a_position_that_never_comes_ends_with_an_error_that_says_so(
    server_url: str, db: StreamTables
) -> None:
    with psycopg.connect(server_url) as connection:
        position = _insert(connection, 3, 12)
    _waits_in_vain(db, str(int(position) + 1_000_000))
    # What is committed is in all the same.
    assert _north(db) == (17, 2)


def test_a_table_over_postgres_is_not_waited_for_without_a_position(
    server_url: str, db: StreamTables
) -> None:
    with pytest.raises(ConfigError) as caught:
        db.wait_for("totals")
    assert "its position is needed" in caught.value.message
    assert caught.value.hint is not None
    assert "pg_current_xact_id()" in caught.value.hint
