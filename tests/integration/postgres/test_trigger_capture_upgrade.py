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
from tests.integration.postgres.wide_buffer import CREATE_ITEMS, wide_capture

pytestmark = pytest.mark.postgres


@pytest.fixture
def mirror(database: str) -> Mirror:
    """A table whose buffer has the first layout, with a copy of its rows taken after that."""
    run(
        database,
        *CREATE_ITEMS,
    )
    mirror = Mirror(database, "public.items")
    with Server(database).connected("test") as connection:
        triggers.remove(connection, TAG)
        connection.execute(wide_capture(TAG))
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
