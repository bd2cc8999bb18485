"""Columns that are altered while they are captured: no writer fails, no change is lost in silence."""

from __future__ import annotations

import psycopg
import pytest

from streamtables.sources.postgres import triggers
from streamtables.sources.postgres.server import SCHEMA, Server
from tests.integration.postgres.trigger_mirror import TAG, Mirror, rows, run

pytestmark = pytest.mark.postgres

WRITES = (
    "INSERT INTO items (id) VALUES (50)",
    "UPDATE items SET id = id + 1000 WHERE id = 2",
    "DELETE FROM items WHERE id = 3",
)
BREAKING = {
    "dropped": "ALTER TABLE items DROP COLUMN name",
    "renamed": "ALTER TABLE items RENAME COLUMN name TO title",
    "retyped to what cannot be cast": "ALTER TABLE items ALTER name TYPE int USING 1",
    "retyped to what would be rounded": "ALTER TABLE items ALTER n TYPE numeric",
    "retyped to what may not fit": "ALTER TABLE items ALTER n TYPE bigint",
    "dropped and added again": "ALTER TABLE items DROP COLUMN name, ADD COLUMN name text",
    "names swapped": "ALTER TABLE items RENAME n TO x; ALTER TABLE items RENAME m TO n; "
    "ALTER TABLE items RENAME x TO m",
}


@pytest.fixture(params=["keyed", "keyless"])
def mirror(database: str, request: pytest.FixtureRequest) -> Mirror:
    key = "PRIMARY KEY" if request.param == "keyed" else ""
    run(
        database,
        f"CREATE TABLE items (id int {key}, name text, n int, m int, short varchar(3))",
        "INSERT INTO items SELECT n, 'item', n, 0 FROM generate_series(1, 9) n",
    )
    return Mirror(database, "public.items")


@pytest.mark.parametrize("statement", BREAKING.values(), ids=BREAKING)
@pytest.mark.parametrize("write", WRITES)
def test_no_writer_fails_and_the_reader_is_told(mirror: Mirror, statement: str, write: str):
    with psycopg.connect(mirror.url, autocommit=True) as writer:
        # A session that has its plans already, and one that has not.
        writer.execute("UPDATE items SET n = n + 1; DELETE FROM items WHERE id = 9")
        writer.execute("INSERT INTO items VALUES (9)")
        mirror.drain()
        run(mirror.url, statement)
        writer.execute(write)
    (batch,) = mirror.peek()
    assert "columns other than those" in (batch.unexplained or "")
    with Server(mirror.url).connected("test") as connection:
        assert triggers.reshaped(connection, TAG) == {mirror.table.oid}


def test_a_reader_is_told_of_altered_columns_before_anyone_writes(mirror: Mirror):
    run(mirror.url, BREAKING["renamed"])
    (batch,) = mirror.peek()
    assert "altered" in (batch.unexplained or "")


@pytest.mark.parametrize("isolation", ["REPEATABLE READ", "SERIALIZABLE"])
@pytest.mark.parametrize("statement", BREAKING.values(), ids=BREAKING)
def test_a_writer_that_looks_at_the_past_does_not_fail_either(
    mirror: Mirror, statement: str, isolation: str
):
    run(mirror.url, "CREATE TABLE other (id int)")
    with psycopg.connect(mirror.url, autocommit=True) as writer:
        writer.execute("INSERT INTO items (id) VALUES (60)")
        mirror.drain()
        writer.execute(f"BEGIN ISOLATION LEVEL {isolation}")
        writer.execute("SELECT count(*) FROM other")
        run(mirror.url, statement)
        writer.execute("INSERT INTO items (id, n) VALUES (50, 5)")
        writer.execute("COMMIT")
    (batch,) = mirror.peek()
    assert batch.unexplained


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE items ADD COLUMN extra text DEFAULT 'x'",
        "ALTER TABLE items ALTER short TYPE varchar(30)",
        "ALTER TABLE items ALTER n SET DEFAULT 4",
        "ALTER TABLE items ADD CHECK (n < 1000)",
    ],
)
def test_alterations_that_capture_can_follow_do_not_disturb_it(mirror: Mirror, statement: str):
    run(mirror.url, "UPDATE items SET n = n + 1", statement)
    run(mirror.url, *WRITES, "UPDATE items SET short = 'now' WHERE id = 4")
    mirror.drain()
    with Server(mirror.url).connected("test") as connection:
        assert triggers.reshaped(connection, TAG) == set()


def test_a_longer_text_than_was_allowed_at_first_is_kept_whole(mirror: Mirror):
    run(mirror.url, "ALTER TABLE items ALTER short TYPE varchar(30)")
    run(mirror.url, "UPDATE items SET short = 'much longer' WHERE id = 4")
    (batch,) = mirror.drain()
    assert [row["short"] for row in rows(batch)] == [None, "much longer"]


def test_columns_that_updates_changed_are_named(database: str):
    wide = ", ".join(f"c{n} int" for n in range(70))
    run(
        database,
        f"CREATE TABLE wide (id int PRIMARY KEY, {wide})",
        "INSERT INTO wide (id, c3) VALUES (1, 1), (2, 1)",
    )
    mirror = Mirror(database, "public.wide")
    run(database, "UPDATE wide SET c3 = 2, c65 = 1 WHERE id = 1", "UPDATE wide SET c3 = 2")
    (batch,) = mirror.drain()
    assert batch.changed == frozenset(("c3", "c65"))
    run(database, "UPDATE wide SET c3 = 3", "UPDATE wide SET id = 3 WHERE id = 2")
    (batch,) = mirror.drain()
    assert batch.changed is None


def test_both_halves_of_an_update_have_one_mask_and_all_old_ones_come_first(mirror: Mirror):
    run(mirror.url, "UPDATE items SET n = n + 1")
    with Server(mirror.url).connected("test") as connection:
        found = connection.execute(
            f"SELECT __st_action::text, id, __st_changed::text FROM {SCHEMA}.changes_{TAG} "
            "ORDER BY __st_seq"
        ).fetchall()
    assert [action for action, _, _ in found] == ["D"] * 9 + ["I"] * 9
    masks = [{(key, mask) for action, key, mask in found if action == half} for half in "DI"]
    assert masks[0] == masks[1]
    (batch,) = mirror.drain()
    assert [row["__st_weight"] for row in rows(batch)] == [-1] * 9 + [1] * 9
