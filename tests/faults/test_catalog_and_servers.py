"""Catalogs that cannot be written, clocks that go back, and servers without room for one more."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from streamtables.api import StreamTables
from streamtables.backing_up import restore
from streamtables.catalog import Catalog
from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.errors import AnotherLeaderError, TransientError
from tests.support.postgres_chain import Chain, rows_of
from tests.support.published import open_shelf

CREATE = [sys.executable, "-m", "streamtables.cli", "create", "fresh", "SELECT id FROM t"]
NAMES = {"t", "bag"}


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    shelf = open_shelf(tmp_path)
    shelf.fill("t", (1, "a"))
    shelf.db.close()
    return shelf.db.warehouse


def names(warehouse: Path) -> set[str]:
    with StreamTables(warehouse) as db:
        return {table.name for table in db.stream_tables()}


def refused(warehouse: Path, **how: object) -> str:
    """Create a table in a process that cannot write the catalog; return what it said."""
    environment = {**os.environ, "STREAMTABLES_PLAN_CACHE_DIR": str(warehouse.parent / "plans")}
    done = subprocess.run(
        [*CREATE, "--warehouse", str(warehouse)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        **how,  # type: ignore[call-overload]
    )
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return str(done.stderr)


@pytest.mark.fault(
    "catalog",
    "the catalog may not be written",
    step="any change",
    seen="ST-4002 with a hint; nothing is changed",
    recovery="give the right to write, and again",
)
def test_a_catalog_that_may_not_be_written_is_an_error_and_stays_as_it_is(warehouse: Path) -> None:
    with read_only(warehouse):
        assert "error[ST-4002]" in refused(warehouse)
    assert names(warehouse) == NAMES
    with StreamTables(warehouse) as db:
        db.create("fresh", "SELECT id FROM t")


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Take the right to write away; root has it whatever a file says, so there a mount does it."""
    if os.geteuid() != 0:
        paths = [folder, *folder.rglob("*")]
        for path in paths:
            path.chmod(path.stat().st_mode & ~0o222)
        yield
        for path in paths:
            path.chmod(path.stat().st_mode | 0o200)
        return
    place = str(folder)
    for words in (("--bind", place, place), ("-o", "remount,bind,ro", place)):
        if subprocess.run(["mount", *words], capture_output=True, check=False).returncode:
            pytest.skip("root may write everywhere, and may not mount here")
    yield
    subprocess.run(["umount", place], check=True)


@pytest.mark.fault(
    "catalog",
    "there is no room for the catalog to grow",
    step="any change",
    seen="ST-4002 with what SQLite says; nothing is changed",
    recovery="make room, and again",
)
def test_a_catalog_that_cannot_grow_is_an_error_and_stays_as_it_is(warehouse: Path) -> None:
    # The write-ahead log is what grows first.
    limit = 4096

    def no_more() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    said = refused(warehouse, preexec_fn=no_more)
    assert "error[ST-4002]" in said
    assert names(warehouse) == NAMES
    with StreamTables(warehouse) as db:
        db.create("fresh", "SELECT id FROM t")


@pytest.mark.fault(
    "clock",
    "the clock of the leader goes back by a day",
    step="between two ticks",
    seen="nothing: it leads on; others stand by until its lease ends by their clock",
    recovery="by itself: after `lease_seconds` of the time that holds now",
)
def test_a_clock_that_goes_back_neither_ends_a_term_nor_makes_a_second_leader(
    warehouse: Path,
) -> None:
    now = datetime.now(UTC)
    moment = [now]
    with (
        StreamTables(warehouse, clock=lambda: moment[0]) as leader,
        StreamTables(warehouse, clock=lambda: moment[0]) as other,
    ):
        other._around.process = "elsewhere:1"
        leader.tick()
        moment[0] = now - timedelta(days=1)
        leader.tick()
        with pytest.raises(AnotherLeaderError):
            other.tick()
        # The lease was renewed by the clock that went back, so nobody waits for a day.
        moment[0] += timedelta(minutes=5)
        other.tick()
        with pytest.raises(AnotherLeaderError):
            leader.tick()


@pytest.fixture
def small_server() -> Iterator[PostgresServer]:
    """A server with room for few."""
    settings = {"max_connections": "5", "superuser_reserved_connections": "0"}
    with running_server(fsync="off", max_wal_senders="2", **settings) as server:
        yield server


@pytest.mark.postgres
@pytest.mark.fault(
    "postgres",
    "the server has too many connections",
    step="drain, and any use of a catalog there",
    seen="ST-3000; the last recorded drain is read on",
    recovery="by itself, when there is room",
)
def test_too_many_connections_are_a_passing_fault(
    small_server: PostgresServer, tmp_path: Path
) -> None:
    url = small_server.url
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE items (id int PRIMARY KEY)")
        connection.execute("INSERT INTO items VALUES (1)")
        with Chain(tmp_path / "w", url) as chain, ExitStack() as taken:
            chain.add("items")
            connection.execute("INSERT INTO items VALUES (2)")
            before = chain.mirror("items")
            with pytest.raises(psycopg.OperationalError, match="too many"):
                _take_all(taken, url)
            assert isinstance(chain.drain()["items"], TransientError)
            with pytest.raises(TransientError):
                Catalog.open(url)
            assert chain.mirror("items") == before
            taken.close()
            assert chain.drain() == {}
            assert chain.mirror("items") == rows_of(connection, "items")
            Catalog.open(url).close()


def _take_all(taken: ExitStack, url: str) -> None:
    while True:
        taken.enter_context(psycopg.connect(url))


@pytest.mark.fault(
    "catalog",
    "the catalog is gone, and the tables are there",
    step="opening",
    seen="an empty warehouse; each table is `orphan` in `health`",
    recovery="`streamtables restore BACKUP --into WAREHOUSE`",
)
def test_tables_whose_catalog_is_gone_are_left_alone_and_named(warehouse: Path) -> None:
    with StreamTables(warehouse) as db:
        db.backup(warehouse.parent / "backup")
    shutil.rmtree(warehouse / "_streamtables")
    with StreamTables(warehouse) as db:
        assert db.stream_tables() == []
        assert [item.code for item in db.health_check() if item.code == "orphan"] == ["orphan"]
    shutil.rmtree(warehouse / "_streamtables")
    restore(warehouse.parent / "backup", warehouse)
    assert names(warehouse) == NAMES
