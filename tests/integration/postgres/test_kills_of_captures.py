"""A PostgreSQL table that begins to be captured, in a process that is killed on the way."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.faults import operations
from tests.faults.steps import killed_at_every_step
from tests.support.postgres_chain import Chain, rows_of

pytestmark = [pytest.mark.postgres, pytest.mark.crash, pytest.mark.slow]


def _new_table(connection: psycopg.Connection) -> None:
    """Begin as the first try did, whatever one before left on the server."""
    connection.execute("DROP TABLE IF EXISTS items")
    connection.execute("DROP SCHEMA IF EXISTS streamtables_capture CASCADE")
    connection.execute("CREATE TABLE items (id int PRIMARY KEY, a int)")
    connection.execute("INSERT INTO items VALUES (1, 1), (2, 2)")


@pytest.mark.fault(
    "process",
    "killed while a PostgreSQL source is added",
    step="every third step; captured by triggers",
    seen="the source is there or it is not; writers of the table go on",
    recovery="by itself; `source add` again where it is not there",
)
def test_a_killed_capture_is_there_or_can_be_made_again(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPTURED", database)
    folder = tmp_path / "place"
    with Chain(folder / "warehouse", database):
        pass
    found = []
    with psycopg.connect(database, autocommit=True) as connection:
        _new_table(connection)
        for _ in killed_at_every_step(operations.capture, folder, every=3):
            connection.execute("UPDATE items SET a = a + 1 WHERE id = 1")
            with Chain(folder / "warehouse", database) as chain:
                found.append(bool(chain.catalog.sources()))
                if not found[-1]:
                    chain.add("items")
                connection.execute("INSERT INTO items VALUES (3, 3)")
                connection.execute("DELETE FROM items WHERE id = 2")
                assert chain.drain() == {}
                assert chain.mirror("items") == rows_of(connection, "items")
            _new_table(connection)
    assert (found[0], found[-1]) == (False, True)
