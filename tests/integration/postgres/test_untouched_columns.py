"""Mirror commits say which columns they touch; a reader of the others need not read them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import psycopg
import pytest

from streamtables.engine.change_feed import read_small
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.outcomes import TooLarge
from streamtables.positions import Version
from streamtables.sources.changes import SharedChanges, Window
from tests.support.postgres_chain import Chain, rows_of

pytestmark = pytest.mark.postgres

COLUMNS = ("id", "a", "n")


@pytest.fixture
def shop(database: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE keyed (id int PRIMARY KEY, a text, n numeric(10,2))")
        connection.execute("CREATE TABLE bag (id int, a text, n numeric(10,2))")
        connection.execute("ALTER TABLE bag REPLICA IDENTITY FULL")
        for table in ("keyed", "bag"):
            connection.execute(
                f"INSERT INTO {table} SELECT g, 'row ' || g, g / 4.0 FROM generate_series(1, 9) g"
            )
        yield connection
        connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
            " WHERE database = current_database()"
        )


@pytest.fixture(params=["triggers", "wal"])
def chain(
    request: pytest.FixtureRequest, tmp_path: Path, database: str, shop: psycopg.Connection
) -> Iterator[Chain]:
    with Chain(tmp_path / "w", database) as opened:
        opened.add("keyed", "bag", capture=request.param)
        yield opened


def head(chain: Chain, table: str) -> Version:
    return chain.capture.pinned(chain.catalog.source(table))


def window(chain: Chain, table: str, since: Version) -> Window:
    source = chain.catalog.source(table)
    return Window(source.id, source.location, since, head(chain, table))


def not_read(changes: SharedChanges, window: Window) -> set[tuple[str, ...]]:
    """Return the sets of columns whose readers are told that nothing changed; it has to be true."""
    found = set()
    for count in range(len(COLUMNS) + 1):
        for columns in combinations(COLUMNS, count):
            if changes.leave_alone(window, columns):
                arguments = (window.location, window.since, window.upto)
                rows = read_small(*arguments, columns=columns, limit=1_000)
                assert getattr(rows, "num_rows", None) == 0, columns
                found.add(columns)
    return found


def drained(chain: Chain, shop: psycopg.Connection, *statements: str) -> None:
    for statement in statements:
        shop.execute(statement)
    assert chain.drain() == {}
    for table in ("keyed", "bag"):
        assert chain.mirror(table) == rows_of(shop, table)


UNREAD = {(), ("id",), ("n",), ("id", "n")}

STEPS: dict[str, tuple[list[str], set[tuple[str, ...]]]] = {
    "one column": (["UPDATE {} SET a = a || '!' WHERE id < 4"], UNREAD),
    "twice": (["UPDATE {} SET a = 'x' WHERE id = 1", "UPDATE {} SET a = NULL"], UNREAD),
    "two columns": (["UPDATE {} SET a = 'y', n = n + 1 WHERE id = 2"], {(), ("id",)}),
    "in two transactions": (
        ["UPDATE {} SET a = 'z' WHERE id = 2", "UPDATE {} SET n = 99 WHERE id = 3"],
        {(), ("id",)},
    ),
    "insert": (["INSERT INTO {} VALUES (20, 'x', 1)"], set()),
    "insert and update": (
        ["INSERT INTO {} VALUES (21, 'x', 1)", "UPDATE {} SET a = '' WHERE id = 1"],
        set(),
    ),
    "delete": (["DELETE FROM {} WHERE id = 3"], set()),
    "truncate": (["TRUNCATE {}", "INSERT INTO {} VALUES (1, 'again', 1)"], set()),
    "copy": (["ALTER TABLE {} ADD COLUMN m int DEFAULT 7"], set()),
}


@pytest.mark.parametrize("table", ["keyed", "bag"])
def test_only_what_is_left_alone_is_not_read(
    chain: Chain, shop: psycopg.Connection, table: str
) -> None:
    for name, (statements, expected) in STEPS.items():
        since = head(chain, table)
        drained(chain, shop, *(statement.format(table) for statement in statements))
        assert head(chain, table) > since, name
        changes = SharedChanges(1_000, {})
        assert not_read(changes, window(chain, table, since)) == expected, name


def test_a_row_with_another_key_is_read_by_those_who_read_the_key(
    chain: Chain, shop: psycopg.Connection
) -> None:
    since = head(chain, "keyed")
    drained(chain, shop, "UPDATE keyed SET id = 100 WHERE id = 1")
    found = not_read(SharedChanges(1_000, {}), window(chain, "keyed", since))
    assert all("id" not in columns for columns in found)


def test_values_that_rows_exchange_are_read(chain: Chain, shop: psycopg.Connection) -> None:
    since = head(chain, "keyed")
    swap = "UPDATE keyed SET a = 'row ' || (3 - id) WHERE id IN (1, 2)"
    drained(chain, shop, swap)
    changes = SharedChanges(1_000, {})
    assert not changes.leave_alone(window(chain, "keyed", since), ("id", "a"))
    assert not_read(changes, window(chain, "keyed", since)) <= UNREAD | {("a",)}


def test_every_version_of_the_window_has_to_leave_the_columns_alone(
    chain: Chain, shop: psycopg.Connection
) -> None:
    since = head(chain, "keyed")
    drained(chain, shop, "UPDATE keyed SET a = 'x' WHERE id = 1")
    drained(chain, shop, "UPDATE keyed SET n = 5 WHERE id = 1")
    found = not_read(SharedChanges(1_000, {}), window(chain, "keyed", since))
    assert found == {(), ("id",)}


def test_two_readers_of_one_window_each_get_what_they_read(
    chain: Chain, shop: psycopg.Connection
) -> None:
    since = head(chain, "keyed")
    drained(chain, shop, "UPDATE keyed SET a = 'x' WHERE id = 1")
    changes = SharedChanges(1_000, {chain.catalog.source("keyed").id: COLUMNS})
    seen = window(chain, "keyed", since)
    unread, read = changes.small(seen, ("id", "n")), changes.small(seen, ("id", "a"))
    assert not isinstance(unread, TooLarge)
    assert not isinstance(read, TooLarge)
    assert (unread.num_rows, read.num_rows) == (0, 2)
    assert (changes.skipped, changes.reads) == (1, 1)


def test_a_commit_of_somebody_else_says_nothing(chain: Chain, shop: psycopg.Connection) -> None:
    since = head(chain, "keyed")
    drained(chain, shop, "UPDATE keyed SET a = 'x' WHERE id = 1")
    seen = window(chain, "keyed", since)
    other = Window(chain.catalog.source("bag").id, seen.location, seen.since, seen.upto)
    assert SharedChanges(1_000, {}).leave_alone(seen, ("n",))
    assert not SharedChanges(1_000, {}).leave_alone(other, ("n",))
    entry = DeltaLog(seen.location).entry(seen.upto)
    assert entry is not None
    assert entry.stamp is not None
    assert entry.stamp.changed == frozenset("a")
