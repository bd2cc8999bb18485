"""A PostgreSQL table that begins or ceases to be captured, in a process that is killed on the way."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from streamtables.sources.postgres.health import capture_findings
from tests.faults import operations
from tests.faults.steps import killed_at_every_step
from tests.support.postgres_chain import Chain, rows_of

pytestmark = [pytest.mark.postgres, pytest.mark.crash, pytest.mark.slow]


OURS = """
SELECT 'slot ' || slot_name FROM pg_replication_slots WHERE database = current_database()
UNION ALL SELECT 'publication ' || pubname FROM pg_publication
UNION ALL SELECT 'function ' || proname FROM pg_proc
    WHERE pronamespace = to_regnamespace('streamtables_capture')
UNION ALL SELECT 'table ' || relname FROM pg_class
    WHERE relnamespace = to_regnamespace('streamtables_capture') AND relkind = 'r'
UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE tgname LIKE '\\_\\_st\\_%'
"""


def _new_table(connection: psycopg.Connection) -> None:
    """Begin as the first try did, whatever one before left on the server."""
    for name in connection.execute(
        "SELECT slot_name FROM pg_replication_slots WHERE database = current_database()"
    ).fetchall():
        connection.execute("SELECT pg_drop_replication_slot(%s)", name)
    for (name,) in connection.execute("SELECT pubname FROM pg_publication").fetchall():
        connection.execute(sql.SQL("DROP PUBLICATION {}").format(sql.Identifier(name)))
    connection.execute("DROP TABLE IF EXISTS items")
    connection.execute("DROP SCHEMA IF EXISTS streamtables_capture CASCADE")
    connection.execute("CREATE TABLE items (id int PRIMARY KEY, a int)")
    connection.execute("INSERT INTO items VALUES (1, 1), (2, 2)")


def _doctor(chain: Chain, connection: psycopg.Connection) -> None:
    """What is left over is found, and gone when the hints were followed."""
    for finding in capture_findings(chain.catalog):
        if finding.fault:
            for statement in finding.hint.split("; "):
                connection.execute(statement)
    assert connection.execute(OURS).fetchall() == []
    assert not any(finding.fault for finding in capture_findings(chain.catalog))


@pytest.mark.fault(
    "process",
    "killed while a PostgreSQL source is added",
    step="every third step; captured by triggers and by the WAL",
    seen="the source is there or it is not; writers of the table go on; what is left on the server, "
    "a slot among it, is named by `doctor`",
    recovery="by itself; `source add` again where it is not there; `doctor` has the statements that "
    "remove what is left",
)
@pytest.mark.parametrize("way", ["triggers", "wal"])
def test_a_killed_capture_is_there_or_can_be_made_again(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("CAPTURED", database)
    folder = tmp_path / "place"
    with Chain(folder / "warehouse", database):
        pass
    operation = operations.capture if way == "triggers" else operations.capture_by_wal
    found = []
    with psycopg.connect(database, autocommit=True) as connection:
        _new_table(connection)
        for number in killed_at_every_step(operation, folder, every=3):
            connection.execute("UPDATE items SET a = a + 1 WHERE id = 1")
            with Chain(folder / "warehouse", database) as chain:
                found.append(bool(chain.catalog.sources()))
                if not found[-1]:
                    # With what is left over there, and without it.
                    if number % 2:
                        _doctor(chain, connection)
                    chain.add("items", capture=way)
                connection.execute("INSERT INTO items VALUES (3, 3)")
                connection.execute("DELETE FROM items WHERE id = 2")
                assert chain.drain() == {}
                assert chain.mirror("items") == rows_of(connection, "items")
            _new_table(connection)
    assert (found[0], found[-1]) == (False, True)


@pytest.mark.fault(
    "process",
    "killed while a PostgreSQL source is dropped",
    step="every second step; captured by triggers and by the WAL",
    seen="the source is there and works, or it is not; what is left on the server, a slot among it, "
    "is named by `doctor`",
    recovery="`source drop` again where it is there; `doctor` has the statements that remove what is "
    "left",
)
@pytest.mark.parametrize("way", ["triggers", "wal"])
def test_a_killed_drop_leaves_a_source_that_works_or_what_doctor_names(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("CAPTURED", database)
    folder = tmp_path / "place"
    with Chain(folder / "warehouse", database):
        pass
    found = []
    with psycopg.connect(database, autocommit=True) as connection:

        def prepare(_: Path) -> None:
            _new_table(connection)
            with Chain(folder / "warehouse", database) as chain:
                chain.add("items", capture=way)

        for _ in killed_at_every_step(operations.capture_no_more, folder, every=2, prepare=prepare):
            connection.execute("UPDATE items SET a = a + 1 WHERE id = 1")
            with Chain(folder / "warehouse", database) as chain:
                found.append(bool(chain.catalog.sources()))
                if found[-1]:
                    assert chain.drain() == {}
                    assert chain.mirror("items") == rows_of(connection, "items")
                    assert not any(f.fault for f in capture_findings(chain.catalog))
                    chain.capture.drop(chain.catalog.source("items"))
                    assert chain.catalog.traces() == []
                _doctor(chain, connection)
        assert (found[0], found[-1]) == (True, False)
