"""Writers that call: the scheduler hears of a commit at once, and nothing of it stays behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import psycopg
import pytest

from streamtables.catalog.captures import CapturedDatabase
from streamtables.positions import InputId
from streamtables.sources.postgres import wakeups
from streamtables.sources.postgres.wakeups import Wakeups
from tests.support.postgres_chain import Chain

pytestmark = pytest.mark.postgres

SECONDS = 10.0


@pytest.fixture
def writer(database: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE orders (id int PRIMARY KEY, amount int)")
        yield connection


@pytest.fixture
def known(writer: psycopg.Connection, database: str, tmp_path: Path) -> CapturedDatabase:
    with Chain(tmp_path, database) as chain:
        chain.add("orders")
        [found] = chain.catalog.captured_databases().values()
    return found


@pytest.fixture
def woken() -> Event:
    return Event()


@pytest.fixture
def ears(woken: Event) -> Iterator[Wakeups]:
    opened = Wakeups(woken.set)
    yield opened
    opened.close()


def ours(writer: psycopg.Connection) -> list[str]:
    rows = writer.execute("SELECT tgname FROM pg_trigger WHERE tgname LIKE '%wake'").fetchall()
    return [row[0] for row in rows]


def wanting(ears: Wakeups, known: CapturedDatabase, woken: Event) -> None:
    sources = frozenset(capture.source_id for capture in known.captures)
    assert ears.want(sources, lambda: [known]) == []
    # The first call comes when somebody listens.
    assert woken.wait(SECONDS)
    woken.clear()


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO orders VALUES (1, 10)",
        "UPDATE orders SET amount = 2",
        "DELETE FROM orders",
        "TRUNCATE orders",
    ],
)
def test_a_commit_wakes(
    writer: psycopg.Connection,
    ears: Wakeups,
    known: CapturedDatabase,
    woken: Event,
    statement: str,
) -> None:
    wanting(ears, known, woken)
    writer.execute(statement)
    assert woken.wait(SECONDS)


def test_what_is_not_committed_does_not_wake(
    writer: psycopg.Connection, ears: Wakeups, known: CapturedDatabase, woken: Event
) -> None:
    wanting(ears, known, woken)
    with writer.transaction(force_rollback=True):
        writer.execute("INSERT INTO orders VALUES (1, 10)")
    assert not woken.wait(0.3)


def test_asking_again_changes_nothing_and_asking_for_less_takes_it_off(
    writer: psycopg.Connection, ears: Wakeups, known: CapturedDatabase, woken: Event
) -> None:
    wanting(ears, known, woken)
    wanted = frozenset(capture.source_id for capture in known.captures)
    assert ears.want(wanted, lambda: pytest.fail("it was asked again")) == []
    assert len(ours(writer)) == 1
    assert ears.want(frozenset(), lambda: [known]) == []
    assert ours(writer) == []
    writer.execute("INSERT INTO orders VALUES (1, 10)")
    assert not woken.wait(0.3)


def test_dropping_the_source_takes_it_off_too(
    writer: psycopg.Connection, database: str, tmp_path: Path, ears: Wakeups, woken: Event
) -> None:
    with Chain(tmp_path, database) as chain:
        chain.add("orders")
        [known] = chain.catalog.captured_databases().values()
        wanting(ears, known, woken)
        chain.capture.drop(chain.catalog.source("orders"))
    assert ours(writer) == []
    left = writer.execute(
        "SELECT count(*) FROM pg_proc JOIN pg_namespace n ON n.oid = pronamespace"
        " WHERE nspname LIKE 'streamtables%'"
    )
    assert left.fetchone() == (0,)


def test_a_server_that_is_away_is_said_and_not_waited_for(
    ears: Wakeups, known: CapturedDatabase
) -> None:
    away = "postgresql://nobody@127.0.0.1:1/none"
    gone = replace(known, captures=tuple(replace(c, server=away) for c in known.captures))
    [fault] = ears.want(frozenset({InputId("a")}), lambda: [gone])
    assert fault.startswith("writers cannot call: ")
    assert ears.want(frozenset({InputId("a")}), lambda: [gone]) == []


def test_the_channel_is_that_of_one_catalog(known: CapturedDatabase) -> None:
    assert wakeups.channel(known) == f"streamtables_{known.tag}"


def test_partitions_and_replicated_writes_call_too(
    database: str, tmp_path: Path, ears: Wakeups, woken: Event
) -> None:
    with (
        psycopg.connect(database, autocommit=True) as writer,
        Chain(tmp_path, database) as chain,
    ):
        writer.execute("CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id)")
        for number in range(2):
            writer.execute(
                f"CREATE TABLE part_{number} PARTITION OF parts"
                f" FOR VALUES FROM ({number * 10}) TO ({number * 10 + 10})"
            )
        chain.add("parts")
        [known] = chain.catalog.captured_databases().values()
        wanting(ears, known, woken)
        for statement in ("INSERT INTO part_1 VALUES (10)", "INSERT INTO parts VALUES (1)"):
            writer.execute(statement)
            assert woken.wait(SECONDS), statement
            woken.clear()
        writer.execute("SET session_replication_role = 'replica'")
        writer.execute("DELETE FROM part_0")
        assert woken.wait(SECONDS)


def test_what_is_missing_or_disabled_on_one_partition_is_put_back(
    database: str, tmp_path: Path
) -> None:
    with (
        psycopg.connect(database, autocommit=True) as writer,
        Chain(tmp_path, database) as chain,
    ):
        writer.execute("CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id)")
        writer.execute("CREATE TABLE part_0 PARTITION OF parts FOR VALUES FROM (0) TO (10)")
        chain.add("parts")
        [known] = chain.catalog.captured_databases().values()
        [capture] = known.captures
        wakeups.install(writer, capture, "called")
        writer.execute("CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (10) TO (20)")
        [name] = set(ours(writer))
        writer.execute(f"ALTER TABLE part_0 DISABLE TRIGGER {name}")
        wakeups.install(writer, capture, "called")
        always = writer.execute(
            "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = %s"
            " AND tgenabled = 'A' ORDER BY 1",
            (name,),
        ).fetchall()
    assert always == [("part_0",), ("part_1",), ("parts",)]
