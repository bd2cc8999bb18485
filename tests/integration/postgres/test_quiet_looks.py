"""Cheap looks: a quiet database is not drained, and one that is not quiet never looks so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from deltalake import DeltaTable

from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.sources.postgres.look import Lookout
from streamtables.sources.postgres.server import Server
from tests.support.postgres_chain import Chain, rows_of

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def still_server() -> Iterator[PostgresServer]:
    # A vacuum is a transaction too, and would come whenever it likes.
    with running_server(autovacuum="off") as started:
        yield started


@pytest.fixture
def shop(still_server: PostgresServer) -> Iterator[psycopg.Connection]:
    name = f"db_{uuid4().hex[:8]}"
    with psycopg.connect(still_server.url, autocommit=True) as root:
        root.execute(f"CREATE DATABASE {name}")
        with psycopg.connect(still_server.url_of(name), autocommit=True) as connection:
            connection.execute("CREATE TABLE keyed (id int PRIMARY KEY, a text)")
            connection.execute("CREATE TABLE bag (a int, b text)")
            connection.execute("ALTER TABLE bag REPLICA IDENTITY FULL")
            connection.execute("CREATE TABLE parts (k int) PARTITION BY RANGE (k)")
            connection.execute("CREATE TABLE low PARTITION OF parts FOR VALUES FROM (0) TO (9)")
            connection.execute("CREATE TABLE foreign_one (t text)")
            connection.execute("INSERT INTO keyed SELECT g, 'x' FROM generate_series(1, 5) g")
            yield connection
        root.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
            " WHERE database = %s",
            (name,),
        )


@pytest.fixture
def chain(tmp_path: Path, shop: psycopg.Connection) -> Iterator[Chain]:
    url = f"postgresql://postgres@127.0.0.1:{shop.info.port}/{shop.info.dbname}"
    with Chain(tmp_path / "w", url) as opened:
        yield opened


def settled(chain: Chain, *tables: str, capture: str) -> str:
    """Capture tables, and drain until nothing is left to do; return the name of the database."""
    chain.add(*tables, capture=capture)
    drained(chain)
    [database] = chain.catalog.captured_databases()
    return database


def drained(chain: Chain) -> None:
    """Drain until nothing is left to do: trimming, and having the log written out, leave traces."""
    for _ in range(3):
        assert chain.drain() == {}


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect what is sent to the server."""
    sent: list[str] = []
    execute = psycopg.Connection.execute

    def noted(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        sent.append(str(query))
        return execute(self, query, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Connection, "execute", noted)
        yield sent


WAYS = ["triggers", "wal"]


@pytest.mark.parametrize("capture", WAYS)
def test_a_quiet_database_costs_one_statement_and_one_look_into_the_catalog(
    chain: Chain, capture: str
) -> None:
    database = settled(chain, "keyed", "bag", capture=capture)
    sources = chain.catalog.sources()
    before = chain.catalog.last_drain(database)
    readings: list[object] = []
    reading = chain.catalog._database.reading

    def noted(_: object) -> object:
        readings.append(1)
        return reading()

    with statements() as sent, pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(chain.catalog._database), "reading", noted)
        patch.setattr(type(chain.catalog._database), "writing", None)
        assert chain.capture.drain(sources) == {}
    assert (len(sent), len(readings)) == (1, 1)
    assert chain.catalog.last_drain(database) == before


@pytest.mark.parametrize("capture", WAYS)
@pytest.mark.parametrize("prepared", [False, True])
def test_a_transaction_that_was_open_is_noticed_when_it_commits_and_not_before(
    chain: Chain, shop: psycopg.Connection, capture: str, prepared: bool
) -> None:
    database = settled(chain, "keyed", "bag", capture=capture)
    with psycopg.connect(chain.url) as late:
        late.execute("INSERT INTO keyed VALUES (70, 'late')")
        shop.execute("INSERT INTO bag VALUES (1, 'early')")
        drained(chain)
        assert chain.mirror("keyed") == rows_of(shop, "keyed")
        if prepared:
            late.execute("PREPARE TRANSACTION 'p'")
            late.autocommit = True
            drained(chain)
            assert chain.capture.looks_quiet(database)
            shop.execute("COMMIT PREPARED 'p'")
        else:
            assert chain.capture.looks_quiet(database)
            late.commit()
    assert not chain.capture.looks_quiet(database)
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")


@pytest.mark.parametrize("capture", WAYS)
def test_a_rollback_brings_no_commit_and_no_record(
    chain: Chain, shop: psycopg.Connection, capture: str
) -> None:
    database = settled(chain, "keyed", capture=capture)
    before = chain.catalog.last_drain(database)
    with psycopg.connect(chain.url) as undone:
        undone.execute("DELETE FROM keyed")
        undone.rollback()
    # The log is read once more; a buffer says by itself that there is nothing.
    assert chain.capture.looks_quiet(database) == (capture == "triggers")
    drained(chain)
    assert chain.capture.looks_quiet(database)
    assert chain.catalog.last_drain(database) == before


NOTICED = {
    "a row": "INSERT INTO keyed VALUES (8, 'x')",
    "an update that changes nothing else": "UPDATE keyed SET a = a || '' || 'y' WHERE id = 1",
    "truncate": "TRUNCATE keyed",
    "a new column": "ALTER TABLE keyed ADD COLUMN more int DEFAULT 7",
    "a new type": "ALTER TABLE keyed ALTER COLUMN a TYPE varchar(90)",
    "rewritten values": "ALTER TABLE keyed ALTER COLUMN a TYPE text USING a || '!'",
    "another name": "ALTER TABLE keyed RENAME COLUMN a TO z",
    "no key": "ALTER TABLE keyed DROP CONSTRAINT keyed_pkey, REPLICA IDENTITY FULL",
    "another identity": "ALTER TABLE keyed REPLICA IDENTITY FULL",
    "made again": "DROP TABLE keyed; CREATE TABLE keyed (id int PRIMARY KEY, a text)",
    "rewritten whole": "VACUUM FULL keyed",
}


@pytest.mark.parametrize("capture", WAYS)
@pytest.mark.parametrize("what", NOTICED)
def test_whatever_happens_to_a_table_is_noticed(
    chain: Chain, shop: psycopg.Connection, capture: str, what: str
) -> None:
    database = settled(chain, "keyed", "bag", capture=capture)
    assert chain.capture.looks_quiet(database)
    shop.execute(NOTICED[what])
    assert not chain.capture.looks_quiet(database)
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    drained(chain)
    assert chain.capture.looks_quiet(database)


TRIGGERS_LOST = {
    "disabled": "ALTER TABLE keyed DISABLE TRIGGER ALL",
    "not always on": "ALTER TABLE keyed ENABLE TRIGGER USER",
    "dropped": "DROP TRIGGER {insert} ON keyed",
}


@pytest.mark.parametrize("what", TRIGGERS_LOST)
def test_a_trigger_that_does_not_fire_is_noticed(
    chain: Chain, shop: psycopg.Connection, what: str
) -> None:
    database = settled(chain, "keyed", capture="triggers")
    [capture] = chain.catalog.captures().values()
    shop.execute(TRIGGERS_LOST[what].format(insert=f'"__st_{capture.tag}_insert"'))
    shop.execute("INSERT INTO keyed VALUES (9, 'unseen')")
    assert not chain.capture.looks_quiet(database)
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE high PARTITION OF parts FOR VALUES FROM (10) TO (20)",
        "ALTER TABLE parts DETACH PARTITION low",
        "DROP TABLE low",
        "TRUNCATE low",
        "INSERT INTO low VALUES (1)",
    ],
)
def test_partitions_are_looked_at_too(
    chain: Chain, shop: psycopg.Connection, statement: str
) -> None:
    database = settled(chain, "parts", capture="triggers")
    shop.execute(statement)
    assert not chain.capture.looks_quiet(database)
    assert chain.drain() == {}
    assert chain.mirror("parts") == rows_of(shop, "parts")


def test_what_happens_to_other_tables_leaves_triggers_quiet(
    chain: Chain, shop: psycopg.Connection
) -> None:
    database = settled(chain, "keyed", capture="triggers")
    for statement in (
        "INSERT INTO foreign_one VALUES ('x')",
        "CREATE INDEX ON keyed (a)",
        "ANALYZE keyed",
        "GRANT SELECT ON keyed TO PUBLIC",
    ):
        shop.execute(statement)
        # A process that has seen nothing itself knows as much as the catalog.
        chain.capture._lookout = Lookout()
        assert chain.capture.looks_quiet(database), statement


def test_foreign_wal_is_drained_once_and_is_quiet_then(
    chain: Chain, shop: psycopg.Connection
) -> None:
    database = settled(chain, "keyed", capture="wal")
    shop.execute("INSERT INTO foreign_one VALUES ('x')")
    assert not chain.capture.looks_quiet(database)
    drained(chain)
    assert chain.capture.looks_quiet(database)
    with psycopg.connect(chain.url) as held:
        # Nothing of it is visible, but the slot has to move on.
        held.execute(
            "INSERT INTO foreign_one SELECT repeat('x', 900) FROM generate_series(1, 3000)"
        )
        assert not chain.capture.looks_quiet(database)


@pytest.mark.parametrize("how", ["dropped", "moved"])
def test_a_slot_that_somebody_touched_is_noticed_although_no_row_changed(
    chain: Chain, shop: psycopg.Connection, how: str
) -> None:
    database = settled(chain, "keyed", capture="wal")
    assert chain.capture.looks_quiet(database)
    shop.execute(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
        " WHERE database = current_database()"
        if how == "dropped"
        else "SELECT pg_replication_slot_advance(slot_name, pg_current_wal_lsn())"
        " FROM pg_replication_slots, pg_logical_emit_message(true, 'x', 'y')"
        " WHERE database = current_database()"
    )
    assert not chain.capture.looks_quiet(database)


def test_a_database_with_both_ways_is_quiet_only_when_both_are(
    chain: Chain, shop: psycopg.Connection
) -> None:
    settled(chain, "keyed", capture="wal")
    database = settled(chain, "bag", capture="triggers")
    for table, row in (("keyed", "(50, 'x')"), ("bag", "(50, 'x')")):
        assert chain.capture.looks_quiet(database)
        shop.execute(f"INSERT INTO {table} VALUES {row}")
        assert not chain.capture.looks_quiet(database)
        drained(chain)
        assert chain.mirror(table) == rows_of(shop, table)


def test_what_another_process_drained_is_not_taken_for_seen(
    chain: Chain, shop: psycopg.Connection, tmp_path: Path
) -> None:
    database = settled(chain, "keyed", capture="wal")
    with Chain(tmp_path / "w", chain.url) as other:
        shop.execute("INSERT INTO keyed VALUES (60, 'x')")
        assert other.drain() == {}
        assert chain.capture.looks_quiet(database) == other.capture.looks_quiet(database)
        shop.execute("INSERT INTO keyed VALUES (61, 'x')")
        assert not chain.capture.looks_quiet(database)
        assert not other.capture.looks_quiet(database)


def test_mirrors_that_were_touched_are_not_quiet(chain: Chain) -> None:
    database = settled(chain, "keyed", capture="triggers")
    DeltaTable(chain.catalog.source("keyed").location).delete("id = 1")
    assert not chain.capture.looks_quiet(database)
    assert chain.drain() == {}
    assert "not written by a drain" in chain.reasons("keyed")[0][1]


def test_a_buffer_that_is_gone_is_left_to_the_drain(chain: Chain, shop: psycopg.Connection) -> None:
    database = settled(chain, "keyed", capture="triggers")
    [capture] = chain.catalog.captures().values()
    shop.execute(f"DROP TABLE streamtables_capture.changes_{capture.tag}")
    assert not chain.capture.looks_quiet(database)


def test_a_busy_server_that_writes_elsewhere_is_never_drained(
    chain: Chain, shop: psycopg.Connection
) -> None:
    settled(chain, "keyed", "bag", capture="triggers")
    shop.execute("INSERT INTO foreign_one VALUES ('x')")
    with statements() as sent:
        assert chain.drain() == {}
    assert len(sent) == 1
    assert Server(chain.url).shown not in sent[0]
