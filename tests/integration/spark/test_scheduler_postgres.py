"""The scheduler on PostgreSQL sources: one moment for all mirrors, and writers that wake it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from uuid import uuid4

import psycopg
import pytest

from streamtables.api import StreamTables
from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.engine.session import SparkSessions
from tests.support.settings import settings_with
from tests.support.spark_oracle import assert_equal_to_query

pytestmark = [pytest.mark.spark, pytest.mark.postgres]


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server() as started:
        yield started


@pytest.fixture
def shop(server: PostgresServer) -> Iterator[psycopg.Connection]:
    name = f"db_{uuid4().hex[:8]}"
    with psycopg.connect(server.url, autocommit=True) as root:
        root.execute(f"CREATE DATABASE {name}")
    with psycopg.connect(server.url_of(name), autocommit=True) as connection:
        connection.execute("CREATE TABLE parents (id int PRIMARY KEY)")
        connection.execute("CREATE TABLE children (id int PRIMARY KEY, parent int)")
        connection.execute("INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1, 1)")
        yield connection


def add(db: StreamTables, shop: psycopg.Connection) -> None:
    url = f"postgresql://postgres@127.0.0.1:{shop.info.port}/{shop.info.dbname}"
    for name in ("parents", "children"):
        db.add_source(name, postgres=url, table=name, capture="triggers")


def test_tables_on_different_mirrors_are_read_at_one_drain(
    db: StreamTables, shop: psycopg.Connection
) -> None:
    add(db, shop)
    db.create("all_parents", "SELECT id FROM parents")
    db.create("all_children", "SELECT id, parent FROM children")
    db.refresh_all()
    with shop.transaction():
        shop.execute("INSERT INTO parents VALUES (2)")
        shop.execute("INSERT INTO children VALUES (2, 2)")
    db.refresh("all_children")
    # They share no source, but their sources are one database: 2 has no parent yet.
    together = db.read(["all_parents", "all_children"])
    assert {row.id for row in together["all_children"].collect()} == {1}
    assert {row.id for row in db.read("all_children").collect()} == {1, 2}
    db.refresh("all_parents")
    together = db.read(["all_parents", "all_children"])
    assert {row.id for row in together["all_children"].collect()} == {1, 2}


def test_an_idle_tick_asks_the_catalog_one_question_and_each_database_one(
    db: StreamTables, shop: psycopg.Connection
) -> None:
    add(db, shop)
    db.create("n", "SELECT count(*) AS n FROM children", schedule="on change")
    assert len(db.tick()) == 1
    for _ in range(3):
        # What a drain leaves behind on the server is a transaction too.
        db.tick()
    before = db._catalog.queries
    assert db.tick() == []
    assert db._catalog.queries == before + 1
    shop.execute("INSERT INTO children VALUES (2, 1)")
    assert [result.outcome for result in db.tick()] == ["applied"]
    assert_equal_to_query(db, "n")


def test_a_paused_table_keeps_its_readers_from_mixing_two_drains(
    db: StreamTables, shop: psycopg.Connection
) -> None:
    add(db, shop)
    db.create("all_parents", "SELECT id FROM parents")
    db.create("orphans", "SELECT id FROM children WHERE parent NOT IN (SELECT id FROM all_parents)")
    db.refresh_all()
    db.pause("all_parents")
    with shop.transaction():
        shop.execute("INSERT INTO parents VALUES (2)")
        shop.execute("INSERT INTO children VALUES (2, 2)")
    [result] = [r for r in db.refresh_all() if r.table == "orphans"]
    assert result.outcome == "deferred"
    assert db.read("orphans").count() == 0
    db.resume("all_parents")
    db.refresh_all()
    assert_equal_to_query(db, "orphans")
    assert db.read("orphans").count() == 0


def test_a_commit_wakes_a_scheduler_that_would_sleep_for_long(
    spark_sessions: SparkSessions, tmp_path: Path, shop: psycopg.Connection
) -> None:
    settings = settings_with(poll_seconds=3_600)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        add(db, shop)
        query = "SELECT count(*) AS n FROM children"
        db.create("n", query, schedule="on change", options={"notify": True})
        heard: list[tuple[datetime, str]] = []

        def hear(done) -> None:
            heard.extend((datetime.now(UTC), result.outcome) for result in done)
            if len(heard) > 1:
                db.stop()

        thread = Thread(target=db.run, args=(hear,))
        thread.start()
        while not heard or not _listens(shop):
            thread.join(0.05)
            assert thread.is_alive()
        shop.execute("INSERT INTO children VALUES (2, 1)")
        thread.join(60)
        assert not thread.is_alive()
        assert [outcome for _, outcome in heard] == ["applied", "applied"]
        assert_equal_to_query(db, "n")


def _listens(shop: psycopg.Connection) -> bool:
    row = shop.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'streamtables listen'"
        " AND query LIKE 'LISTEN%' AND state = 'idle'"
    ).fetchone()
    return row is not None and row[0] > 0
