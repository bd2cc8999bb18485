"""Captured changes lead from one state of a table to the next, whatever writes to it."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.postgres.trigger_mirror import Mirror, run

pytestmark = pytest.mark.postgres

FILLED = "INSERT INTO items SELECT n, 'item ' || n, n * 1.5, n % 3 = 0 FROM generate_series(1, 9) n"


@pytest.fixture(params=["keyed", "keyless"])
def mirror(database: str, request: pytest.FixtureRequest) -> Mirror:
    key = "PRIMARY KEY (id) DEFERRABLE" if request.param == "keyed" else "CHECK (true)"
    run(
        database,
        f"CREATE TABLE items (id int, name text, price numeric(10, 2), flag boolean, {key})",
        FILLED,
    )
    return Mirror(database, "public.items")


SCRIPTS = {
    "insert": ["INSERT INTO items VALUES (10, 'ten', 1, NULL), (11, NULL, NULL, true)"],
    "insert of nothing": ["INSERT INTO items SELECT * FROM items WHERE false"],
    "update": ["UPDATE items SET price = price + 1 WHERE id < 5"],
    "update of nothing": ["UPDATE items SET price = 0 WHERE id = 99"],
    "update to the same": ["UPDATE items SET price = price"],
    "update to and from null": [
        "UPDATE items SET name = NULL WHERE id < 3",
        "UPDATE items SET name = '' WHERE id = 1",
    ],
    "delete": ["DELETE FROM items WHERE id > 4"],
    "delete all and insert again": ["DELETE FROM items", FILLED],
    "key change": ["UPDATE items SET id = id + 100 WHERE id = 3"],
    "all keys shifted": ["UPDATE items SET id = id + 1"],
    "key swap": ["UPDATE items SET id = CASE id WHEN 1 THEN 2 ELSE 1 END WHERE id IN (1, 2)"],
    "truncate": ["TRUNCATE items"],
    "rows around a truncate": [
        "INSERT INTO items VALUES (20, 'before', 1, true)",
        "TRUNCATE items",
        "INSERT INTO items VALUES (21, 'after', 1, true)",
        "UPDATE items SET price = 2",
    ],
    "two truncates": ["TRUNCATE items", FILLED, "TRUNCATE items", FILLED],
    "line ends, quotes and the end of copy": [
        """INSERT INTO items VALUES (30, E'a\\nb\\r\\n"c",\\\\.', 1, true), (31, E'\\\\.', 1, true)"""
    ],
    "quoted emptiness": ["""INSERT INTO items VALUES (40, '', 1, true), (41, '""', 1, true)"""],
    "prepared": [
        "BEGIN; INSERT INTO items VALUES (50, 'prepared', 1, true); PREPARE TRANSACTION 'it'",
        "UPDATE items SET name = 'meanwhile' WHERE id = 1",
        "COMMIT PREPARED 'it'",
    ],
    "prepared and rolled back": [
        "BEGIN; DELETE FROM items WHERE id = 2; PREPARE TRANSACTION 'no'",
        "UPDATE items SET name = 'meanwhile' WHERE id = 1",
        "ROLLBACK PREPARED 'no'",
    ],
    "several statements in one transaction": [
        "BEGIN; INSERT INTO items VALUES (60, 'a', 1, true); UPDATE items SET name = 'b' "
        "WHERE id = 60; DELETE FROM items WHERE id IN (1, 60); COMMIT"
    ],
    "truncate and insert in one transaction": [
        "BEGIN; DELETE FROM items WHERE id = 3; TRUNCATE items; " + FILLED + "; COMMIT"
    ],
    "rolled back": ["BEGIN; DELETE FROM items; ROLLBACK"],
    "truncate rolled back": ["BEGIN; TRUNCATE items; ROLLBACK"],
    "savepoint rolled back": [
        "BEGIN; DELETE FROM items WHERE id = 1; SAVEPOINT s; DELETE FROM items; "
        "ROLLBACK TO s; INSERT INTO items VALUES (70, 'kept', 1, true); COMMIT"
    ],
    "savepoint kept": [
        "BEGIN; SAVEPOINT s; DELETE FROM items WHERE id < 4; RELEASE s; SAVEPOINT u; "
        "UPDATE items SET name = 'x'; COMMIT"
    ],
    "two updates in one statement": [
        "WITH a AS (UPDATE items SET name = 'a' WHERE id < 4 RETURNING id), "
        "b AS (UPDATE items SET name = 'b' WHERE id > 6 RETURNING id), "
        "c AS (DELETE FROM items WHERE id = 5) INSERT INTO items VALUES (80, 'c', 1, true)"
    ],
    "merge": [
        "MERGE INTO items USING (VALUES (1, 'one'), (2, NULL), (90, 'new')) s(id, name) "
        "ON items.id = s.id WHEN MATCHED AND s.name IS NULL THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET name = s.name "
        "WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name, 0, true)"
    ],
    "replica role": [
        "SET session_replication_role = replica; UPDATE items SET name = 'replica'; "
        "INSERT INTO items VALUES (91, 'replica', 0, true); DELETE FROM items WHERE id = 2"
    ],
    "replica role truncates": ["SET session_replication_role = replica; TRUNCATE items"],
    "repeatable read": [
        "BEGIN ISOLATION LEVEL REPEATABLE READ; UPDATE items SET name = 'rr'; "
        "DELETE FROM items WHERE id = 1; INSERT INTO items VALUES (92, 'rr', 0, true); COMMIT"
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_the_changes_of_statements_lead_to_the_table_one_by_one_and_at_once(
    mirror: Mirror, script: list[str]
):
    once = Mirror(mirror.url, "public.items", tag="ffffffff")
    for statement in script:
        run(mirror.url, statement)
        mirror.drain()
    assert mirror.drain() == []
    once.drain(batch_rows=2)


def test_rows_copied_in_are_captured(mirror: Mirror):
    with (
        psycopg.connect(mirror.url) as connection,
        connection.cursor() as cursor,
        cursor.copy("COPY items FROM STDIN") as copy,
    ):
        for n in range(100, 1_100):
            copy.write_row((n, f"copied {n}", n, True))
    (batch,) = mirror.drain()
    assert batch.count == 1_000


def test_an_update_that_changes_nothing_is_not_written(mirror: Mirror):
    run(mirror.url, "UPDATE items SET name = name, price = price")
    assert mirror.drain() == []


def test_a_bulk_update_after_a_small_one_is_not_slow(mirror: Mirror):
    with psycopg.connect(mirror.url, autocommit=True) as connection:
        connection.execute("UPDATE items SET price = 7 WHERE id = 1")
        connection.execute(
            "INSERT INTO items SELECT n, 'x', n, true FROM generate_series(100, 20099) n"
        )
        # With a plan that compares all pairs, these are 400 million comparisons.
        connection.execute("SET statement_timeout = '5s'")
        connection.execute("UPDATE items SET price = price + 1")
    (batch, *_) = mirror.drain(batch_rows=100_000)
    assert batch.count == 2 + 20_000 + 2 * 20_009


def test_conflicting_inserts_are_captured_as_inserts_and_updates(database: str):
    run(
        database,
        "CREATE TABLE stock (id int PRIMARY KEY, n int)",
        "INSERT INTO stock VALUES (1, 1), (2, 2)",
    )
    mirror = Mirror(database, "public.stock")
    run(
        database,
        "INSERT INTO stock VALUES (2, 5), (3, 5) "
        "ON CONFLICT (id) DO UPDATE SET n = stock.n + excluded.n",
        "INSERT INTO stock VALUES (2, 5) ON CONFLICT DO NOTHING",
    )
    (batch,) = mirror.drain()
    assert batch.count == 3


def test_what_a_foreign_key_cascades_is_captured(database: str):
    run(
        database,
        "CREATE TABLE parent (id int PRIMARY KEY)",
        "CREATE TABLE child (id int PRIMARY KEY, "
        "a int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE, "
        "b int REFERENCES parent ON DELETE SET NULL ON UPDATE CASCADE)",
        "INSERT INTO parent VALUES (1), (2), (3), (4)",
        "INSERT INTO child VALUES (1, 1, 2), (2, 2, 3), (3, 3, 3), (4, 4, 1)",
    )
    mirror = Mirror(database, "public.child")
    run(database, "UPDATE parent SET id = id + 10")
    mirror.drain()
    run(database, "DELETE FROM parent WHERE id IN (12, 13)")
    mirror.drain()
    run(database, "TRUNCATE parent CASCADE")
    assert [batch.cleared for batch in mirror.drain()] == [True]
