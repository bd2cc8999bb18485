"""Servers that are put back to an earlier time, and servers that take the place of another."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from streamtables.demo.postgres_server import PostgresServer, running_server
from tests.support.postgres_chain import Chain, rows_of

pytestmark = pytest.mark.postgres


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with running_server(fsync="off") as started:
        yield started


def execute(server: PostgresServer, *statements: str) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def data_of(server: PostgresServer) -> Path:
    return server.folder / "data"


def put_back(server: PostgresServer, kept: Path) -> None:
    shutil.rmtree(data_of(server))
    copy(kept, data_of(server))


def copy(source: Path, target: Path) -> None:
    """Copy a folder with its owners, which the server insists on."""
    shutil.copytree(source, target, copy_function=shutil.copy2)
    for path in (target, *target.rglob("*")):
        found = source / path.relative_to(target)
        shutil.chown(path, found.stat().st_uid, found.stat().st_gid)
    shutil.copymode(source, target)


def reasons(chain: Chain, name: str) -> list[str]:
    events = chain.catalog.capture_events(chain.catalog.source(name).id)
    return [event.reason for event in events if event.kind == "copied"]


def check(chain: Chain, server: PostgresServer) -> None:
    assert chain.drain() == {}
    with psycopg.connect(server.url, autocommit=True) as connection:
        assert chain.mirror("t") == rows_of(connection, "t")


@pytest.mark.fault(
    "postgres",
    "the server was put back to an earlier time",
    step="drain",
    seen="the event with its reason",
    recovery="by itself: the tables are copied",
)
@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_a_folder_put_back_is_noticed_and_copied_once(
    server: PostgresServer, tmp_path: Path, capture: str
) -> None:
    execute(server, "CREATE TABLE t (id int PRIMARY KEY, a text)", "INSERT INTO t VALUES (1, 'x')")
    with Chain(tmp_path / "w", server.url) as chain:
        chain.add("t", capture=capture)
        check(chain, server)
        server.stop()
        copy(data_of(server), server.folder / "kept")
        server.start()
        for number in range(5):
            execute(server, f"INSERT INTO t VALUES ({number + 10}, repeat('lost', 1000))")
        check(chain, server)
        server.stop()
        put_back(server, server.folder / "kept")
        server.start()
        # Its number of the transaction was drained already, with another row.
        execute(server, "INSERT INTO t VALUES (10, 'of the new history')")
        check(chain, server)
        assert len(reasons(chain, "t")) == 1
        assert "restored from an older copy" in reasons(chain, "t")[0]
        execute(server, "UPDATE t SET a = 'y'")
        check(chain, server)
        check(chain, server)
        assert len(reasons(chain, "t")) == 1


def test_a_new_timeline_is_noticed_though_the_log_is_longer(
    server: PostgresServer, tmp_path: Path
) -> None:
    execute(server, "CREATE TABLE t (id int PRIMARY KEY, a text)", "INSERT INTO t VALUES (1, 'x')")
    with Chain(tmp_path / "w", server.url) as chain:
        chain.add("t")
        server.stop()
        copy(data_of(server), server.folder / "kept")
        server.start()
        execute(server, "INSERT INTO t VALUES (2, 'lost')")
        check(chain, server)
        server.stop()
        put_back(server, server.folder / "kept")
        signal = data_of(server) / "recovery.signal"
        signal.touch()
        shutil.chown(signal, *(getattr(data_of(server).stat(), n) for n in ("st_uid", "st_gid")))
        server.settings = {**server.settings, "restore_command": "false"}
        server.start()
        _wait_until_it_writes(server)
        for number in range(20):
            execute(server, f"INSERT INTO t VALUES ({number + 10}, repeat('new', 5000))")
        check(chain, server)
        assert "timeline 2, and was on 1" in reasons(chain, "t")[0]
        check(chain, server)
        assert len(reasons(chain, "t")) == 1


def test_another_server_at_the_same_address_is_noticed(tmp_path: Path) -> None:
    make = "CREATE TABLE t (id int PRIMARY KEY, a text)"
    with running_server(fsync="off") as first:
        execute(first, make, "INSERT INTO t VALUES (1, 'of the first')")
        with Chain(tmp_path / "w", first.url) as chain:
            chain.add("t")
            check(chain, first)
            first.stop()
            shutil.move(data_of(first), first.folder / "gone")
            first.create()
            first.start()
            execute(first, make, "INSERT INTO t VALUES (2, 'of the second')")
            check(chain, first)
            assert reasons(chain, "t") == [
                "another PostgreSQL server or database answers at the address"
            ]
            execute(first, "INSERT INTO t VALUES (3, 'of the second')")
            check(chain, first)
            assert len(reasons(chain, "t")) == 1


@pytest.mark.fault(
    "files",
    "the mirror of a PostgreSQL table is gone",
    step="drain",
    seen="the event with its reason",
    recovery="by itself: the table is copied",
)
@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_a_mirror_that_is_gone_is_copied(
    server: PostgresServer, tmp_path: Path, capture: str
) -> None:
    execute(server, "CREATE TABLE t (id int PRIMARY KEY, a text)", "INSERT INTO t VALUES (1, 'x')")
    with Chain(tmp_path / "w", server.url) as chain:
        chain.add("t", capture=capture)
        for number in range(3):
            execute(server, f"INSERT INTO t VALUES ({number + 10}, 'more')")
            check(chain, server)
        shutil.rmtree(chain.catalog.source("t").location)
        check(chain, server)
        execute(server, "UPDATE t SET a = 'y'")
        check(chain, server)


def _wait_until_it_writes(server: PostgresServer) -> None:
    import time

    for _ in range(200):
        with psycopg.connect(server.url, autocommit=True) as connection:
            row = connection.execute("SELECT pg_is_in_recovery()").fetchone()
        if row == (False,):
            return
        time.sleep(0.05)
    raise AssertionError("the server did not leave recovery")
