"""A buffer of the first layout is brought to the present one, with all that it holds."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql

from streamtables.errors import SourceUnusableError
from streamtables.sources.postgres import triggers
from streamtables.sources.postgres.buffer_upgrade import upgrade
from streamtables.sources.postgres.server import SCHEMA, Server
from tests.integration.postgres.trigger_mirror import TAG, Mirror, run

pytestmark = pytest.mark.postgres

WIDE = f"""
CREATE TABLE {SCHEMA}.changes_{TAG} (
    __st_seq bigint GENERATED ALWAYS AS IDENTITY,
    __st_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    __st_at timestamptz DEFAULT transaction_timestamp(), __st_action "char" NOT NULL,
    old_id int, new_id int, old_mood mood, new_mood mood, "old_A.b" numeric(8, 2), "new_A.b" numeric(8, 2));
CREATE FUNCTION {SCHEMA}.insert_{TAG}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    INSERT INTO {SCHEMA}.changes_{TAG} (__st_action, new_id, new_mood, "new_A.b")
    SELECT 'I', id, mood, "A.b" FROM __st_new; RETURN NULL; END$$;
CREATE FUNCTION {SCHEMA}.delete_{TAG}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    INSERT INTO {SCHEMA}.changes_{TAG} (__st_action, old_id, old_mood, "old_A.b")
    SELECT 'D', id, mood, "A.b" FROM __st_old; RETURN NULL; END$$;
CREATE FUNCTION {SCHEMA}.update_{TAG}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    INSERT INTO {SCHEMA}.changes_{TAG}
        (__st_action, old_id, new_id, old_mood, new_mood, "old_A.b", "new_A.b")
    SELECT 'U', o.id, n.id, o.mood, n.mood, o."A.b", n."A.b"
    FROM __st_old o JOIN __st_new n USING (id); RETURN NULL; END$$;
CREATE FUNCTION {SCHEMA}.truncate_{TAG}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    INSERT INTO {SCHEMA}.changes_{TAG} (__st_action) VALUES ('T'); RETURN NULL; END$$;
CREATE TRIGGER __st_{TAG}_insert AFTER INSERT ON items REFERENCING NEW TABLE AS __st_new
    FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.insert_{TAG}();
CREATE TRIGGER __st_{TAG}_update AFTER UPDATE ON items REFERENCING NEW TABLE AS __st_new
    OLD TABLE AS __st_old FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.update_{TAG}();
CREATE TRIGGER __st_{TAG}_delete AFTER DELETE ON items REFERENCING OLD TABLE AS __st_old
    FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.delete_{TAG}();
CREATE TRIGGER __st_{TAG}_truncate AFTER TRUNCATE ON items
    FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.truncate_{TAG}();
"""


@pytest.fixture
def mirror(database: str) -> Mirror:
    """A table whose buffer has the first layout, with a copy of its rows taken after that."""
    run(
        database,
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        'CREATE TABLE items (id int PRIMARY KEY, mood mood, "A.b" numeric(8, 2))',
        "INSERT INTO items SELECT n, 'sad', n FROM generate_series(1, 9) n",
    )
    mirror = Mirror(database, "public.items")
    with Server(database).connected("test") as connection:
        triggers.remove(connection, TAG)
        connection.execute(WIDE)
    mirror.copy_anew()
    return mirror


def upgraded(mirror: Mirror) -> bool:
    with Server(mirror.url).connected("test") as connection:
        return upgrade(connection, mirror.table, mirror.tag)


def test_changes_before_and_after_an_upgrade_lead_to_the_table(mirror: Mirror):
    run(
        mirror.url,
        "INSERT INTO items VALUES (10, NULL, NULL)",
        "UPDATE items SET mood = 'happy' WHERE id < 4",
        "UPDATE items SET mood = NULL WHERE id < 2",
        "DELETE FROM items WHERE id = 3",
    )
    assert upgraded(mirror)
    run(mirror.url, "UPDATE items SET mood = 'sad'", "DELETE FROM items WHERE id = 4")
    mirror.drain()
    assert mirror.drain() == []


def test_what_came_after_a_table_was_emptied_stays_after_it(mirror: Mirror):
    run(mirror.url, "DELETE FROM items WHERE id = 1", "TRUNCATE items")
    run(mirror.url, "INSERT INTO items VALUES (1, 'sad', 1)", "UPDATE items SET mood = 'happy'")
    assert upgraded(mirror)
    run(mirror.url, "INSERT INTO items VALUES (2, 'sad', 1)")
    (batch,) = mirror.drain()
    assert batch.cleared
    assert batch.count == 4


def test_a_transaction_that_was_open_at_the_last_position_comes_after_the_upgrade(mirror: Mirror):
    with psycopg.connect(mirror.url) as late:
        late.execute("UPDATE items SET mood = 'happy' WHERE id = 2")
        run(mirror.url, "UPDATE items SET mood = 'happy' WHERE id = 1")
        mirror.copy_anew()
        late.commit()
    assert upgraded(mirror)
    (batch,) = mirror.drain()
    assert batch.rows.column("id").to_pylist() == [2, 2]


def test_a_second_upgrade_does_nothing(mirror: Mirror):
    run(mirror.url, "DELETE FROM items WHERE id = 1")
    assert [upgraded(mirror), upgraded(mirror)] == [True, False]
    assert [batch.count for batch in mirror.drain()] == [1]


def test_an_upgrade_that_cannot_be_finished_changes_nothing(mirror: Mirror):
    run(mirror.url, "DELETE FROM items WHERE id = 1")
    run(mirror.url, f"ALTER TABLE {SCHEMA}.changes_{TAG} DROP COLUMN new_mood CASCADE")
    with pytest.raises(SourceUnusableError) as raised:
        upgraded(mirror)
    assert "new_mood" in raised.value.detail
    with psycopg.connect(mirror.url) as connection:
        left = connection.execute(
            sql.SQL("SELECT __st_action::text, old_id FROM {}").format(
                sql.Identifier(SCHEMA, f"changes_{TAG}")
            )
        ).fetchall()
    assert left == [("D", 1)]
