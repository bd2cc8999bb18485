"""Drains: mirrors that show one position of their database, whichever way tables are captured."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from time import sleep
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from deltalake import DeltaTable
from psycopg import sql

from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.engine import jdbc_copy
from streamtables.errors import ConfigError, SourceUnusableError, TransientError
from streamtables.positions import Frontier, Version
from streamtables.sources.postgres import publication, spool
from streamtables.sources.postgres.copying import Copied
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.status import capture_status
from tests.support.postgres_chain import Chain, rows_of
from tests.support.postgres_role import make_role
from tests.support.settings import settings_with

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    with running_server() as started:
        yield started


@pytest.fixture
def url(own_server: PostgresServer) -> Iterator[str]:
    name = f"db_{uuid4().hex[:8]}"
    with psycopg.connect(own_server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield own_server.url_of(name)
        # A server has room for a few slots only.
        connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
            " WHERE database = %s",
            (name,),
        )


@pytest.fixture
def shop(url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE keyed (id int PRIMARY KEY, a text, n numeric(10,2))")
        connection.execute("CREATE TABLE bag (a int, b text)")
        connection.execute("ALTER TABLE bag REPLICA IDENTITY FULL")
        connection.execute(
            "INSERT INTO keyed SELECT g, 'row ' || g, g / 4.0 FROM generate_series(1, 20) g"
        )
        connection.execute("INSERT INTO bag SELECT g % 3, NULL FROM generate_series(1, 9) g")
        yield connection


@pytest.fixture
def chain(tmp_path: Path, url: str) -> Iterator[Chain]:
    with Chain(tmp_path / "w", url) as opened:
        yield opened


STEPS = {
    "insert": [
        "INSERT INTO keyed VALUES (21, NULL, NULL)",
        "INSERT INTO bag VALUES (1, NULL), (1, NULL)",
    ],
    "update": [
        "UPDATE keyed SET a = NULL, n = n * 2 WHERE id < 5",
        "UPDATE bag SET b = 'x' WHERE a = 2",
    ],
    "delete": [
        "DELETE FROM keyed WHERE id % 2 = 0",
        "DELETE FROM bag WHERE ctid = (SELECT min(ctid) FROM bag)",
    ],
    "another key": ["UPDATE keyed SET id = id + 100"],
    "truncate": ["TRUNCATE keyed, bag", "INSERT INTO keyed VALUES (1, 'again', 1)"],
    "there and back": ["INSERT INTO keyed VALUES (50, 'x', 1)", "DELETE FROM keyed WHERE id = 50"],
    "nothing": ["UPDATE keyed SET a = a"],
}


@pytest.mark.parametrize("capture", ["triggers", "wal", "auto"])
def test_mirrors_follow_their_tables(chain: Chain, shop: psycopg.Connection, capture: str) -> None:
    chain.add("keyed", "bag", capture=capture)
    for statements in STEPS.values():
        for statement in statements:
            shop.execute(statement)
        assert chain.drain() == {}
        for table in ("keyed", "bag"):
            assert chain.mirror(table) == rows_of(shop, table), statements
    expected = "triggers" if capture == "triggers" else "wal"
    assert chain.modes() == {"keyed": (expected, None), "bag": (expected, None)}


@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_mirrors_follow_their_tables_without_room_in_memory(
    chain: Chain,
    shop: psycopg.Connection,
    capture: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(spool, "MEMORY_BYTES", 0)
    chain.add("keyed", "bag", capture=capture)
    for statements in STEPS.values():
        for statement in statements:
            shop.execute(statement)
        assert chain.drain() == {}
        for table in ("keyed", "bag"):
            assert chain.mirror(table) == rows_of(shop, table), statements
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_a_quiet_drain_makes_no_commit_and_no_record(
    chain: Chain, shop: psycopg.Connection, capture: str
) -> None:
    chain.add("keyed", "bag", capture=capture)
    shop.execute("INSERT INTO keyed VALUES (30, 'x', 1)")
    chain.drain()
    [database] = {c.database for c in chain.catalog.captures().values()}
    before = chain.catalog.last_drain(database)
    versions = [DeltaTable(s.location).version() for s in chain.catalog.sources()]
    chain.drain()
    assert chain.catalog.last_drain(database) == before
    assert [DeltaTable(s.location).version() for s in chain.catalog.sources()] == versions


@pytest.mark.parametrize("capture", ["triggers", "wal", "auto"])
def test_a_late_transaction_delays_only_itself(
    chain: Chain, shop: psycopg.Connection, url: str, capture: str
) -> None:
    chain.add("keyed", "bag", capture=capture)
    with psycopg.connect(url) as late:
        late.execute("INSERT INTO keyed VALUES (70, 'late', 1)")
        late.execute("UPDATE keyed SET a = 'late' WHERE id = 1")
        for number in range(3):
            shop.execute("INSERT INTO bag VALUES (%s, 'early')", (number,))
            assert chain.drain() == {}
            assert chain.mirror("keyed") == rows_of(shop, "keyed")
            assert chain.mirror("bag") == rows_of(shop, "bag")
        late.execute("INSERT INTO bag VALUES (7, 'late')")
        late.commit()
    chain.drain()
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert chain.mirror("bag") == rows_of(shop, "bag")


def test_ways_may_be_mixed_and_a_transaction_over_both_is_never_split(
    chain: Chain, shop: psycopg.Connection
) -> None:
    chain.add("keyed", capture="wal")
    chain.add("bag", capture="triggers")
    stop, broken = Event(), []

    def write() -> None:
        with psycopg.connect(chain.url) as connection:
            number = 1000
            while not stop.is_set():
                number += 1
                connection.execute("INSERT INTO keyed VALUES (%s, 'both', 0)", (number,))
                connection.execute("INSERT INTO bag VALUES (%s, 'both')", (number,))
                connection.commit()

    writers = [Thread(target=write)]
    writers[0].start()
    try:
        for _ in range(25):
            assert chain.drain() == {}
            found = chain.mirrors(["keyed", "bag"])
            one = {row[0] for row in found["keyed"] if row[1] == "both"}
            other = {row[0] for row in found["bag"] if row[1] == "both"}
            if one != other:
                broken.append(one ^ other)
    finally:
        stop.set()
        writers[0].join()
    assert broken == []
    chain.drain()
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert len(chain.mirror("bag")) > 3


@pytest.mark.parametrize("capture", ["triggers", "wal", "auto"])
def test_random_writers_never_break_a_sum(
    chain: Chain, shop: psycopg.Connection, url: str, capture: str
) -> None:
    """Money only moves between accounts, so every drain shows the same sum, and as many entries."""
    shop.execute("CREATE TABLE account (id int PRIMARY KEY, money int NOT NULL)")
    shop.execute("CREATE TABLE entry (account int, money int)")
    shop.execute("ALTER TABLE entry REPLICA IDENTITY FULL")
    shop.execute("INSERT INTO account SELECT g, 100 FROM generate_series(1, 8) g")
    shop.execute("INSERT INTO entry SELECT id, money FROM account")
    chain.add("account", "entry", capture=capture)
    stop = Event()

    def write(seed: int) -> None:
        chance = random.Random(seed)
        with psycopg.connect(url) as connection:
            while not stop.is_set():
                giver, taker = sorted(chance.sample(range(1, 9), 2))
                sum_ = chance.randint(-5, 5)
                try:
                    for account, money in ((giver, -sum_), (taker, sum_)):
                        connection.execute("INSERT INTO entry VALUES (%s, %s)", (account, money))
                        connection.execute(
                            "UPDATE account SET money = money + %s WHERE id = %s", (money, account)
                        )
                    if chance.random() < 0.2:
                        connection.execute("SAVEPOINT s")
                        connection.execute("UPDATE account SET money = 0")
                        connection.execute("ROLLBACK TO SAVEPOINT s")
                    if chance.random() < 0.3:
                        connection.rollback()
                    else:
                        connection.commit()
                except psycopg.errors.DeadlockDetected:
                    connection.rollback()

    writers = [Thread(target=write, args=(seed,)) for seed in range(3)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(20):
            assert chain.drain() == {}
            found = chain.mirrors(["account", "entry"])
            accounts = {row[0]: row[1] for row in found["account"]}
            assert sum(accounts.values()) == 800
            entries: dict[int, int] = {}
            for (account, money), count in found["entry"].items():
                entries[account] = entries.get(account, 0) + money * count
            assert entries == accounts
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    chain.drain()
    assert chain.mirror("account") == rows_of(shop, "account")
    assert chain.mirror("entry") == rows_of(shop, "entry")


@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_the_lag_is_the_time_from_the_commit_to_the_mirror(
    chain: Chain, shop: psycopg.Connection, capture: str
) -> None:
    chain.add("keyed", capture=capture)
    shop.execute("INSERT INTO keyed VALUES (40, 'x', 1)")
    sleep(1.2)
    chain.drain()
    [status] = capture_status(chain.catalog, datetime.now(UTC))
    assert status.true_lag is not None
    assert 1.2 <= status.true_lag.max < 30
    assert status.true_lag.drains == 1


def test_processes_that_drain_together_take_turns(
    chain: Chain, shop: psycopg.Connection, tmp_path: Path, url: str
) -> None:
    chain.add("keyed", "bag", capture="auto")
    failures: list[object] = []

    def drain_on() -> None:
        with Chain(tmp_path / "w", url) as other:
            for _ in range(8):
                if errors := other.drain():
                    failures.append(errors)

    drainers = [Thread(target=drain_on) for _ in range(3)]
    for drainer in drainers:
        drainer.start()
    number = 1000
    while any(drainer.is_alive() for drainer in drainers):
        number += 1
        shop.execute("INSERT INTO keyed VALUES (%s, 'x', 1)", (number,))
        shop.execute("DELETE FROM bag WHERE ctid = (SELECT min(ctid) FROM bag)")
        sleep(0.01)
    assert failures == []
    chain.drain()
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert chain.mirror("bag") == rows_of(shop, "bag")
    # Nobody found a reason to copy what another one was just moving.
    assert "copied" not in [kind for kind, _ in chain.reasons("keyed")]


def test_auto_moves_to_the_wal_also_on_a_server_that_is_busy_with_other_things(
    tmp_path: Path, shop: psycopg.Connection, url: str
) -> None:
    with Chain(tmp_path / "w", url, settings_with(wal_max_lag_bytes=0)) as chain:
        chain.add("keyed", capture="auto")
        shop.execute("CREATE TABLE noise (t text)")
        for number in range(4):
            shop.execute("INSERT INTO noise SELECT repeat('x', 1000) FROM generate_series(1, 500)")
            shop.execute("INSERT INTO keyed VALUES (%s, 'x', 1)", (100 + number,))
            assert chain.drain() == {}
            assert chain.mirror("keyed") == rows_of(shop, "keyed")
        assert chain.modes() == {"keyed": ("wal", None)}


def test_auto_moves_to_the_wal_and_leaves_no_trigger_behind(
    chain: Chain, shop: psycopg.Connection
) -> None:
    chain.add("keyed", capture="auto")
    for number in range(4):
        shop.execute("INSERT INTO keyed VALUES (%s, 'x', 1)", (100 + number,))
        chain.drain()
        assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert chain.modes() == {"keyed": ("wal", None)}
    assert [kind for kind, _ in chain.reasons("keyed")] == [
        "moved to wal",
        "moving to wal",
        "added",
    ]
    assert shop.execute("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal").fetchone() == (0,)


def test_a_table_without_identity_stays_with_triggers_and_says_why(
    chain: Chain, shop: psycopg.Connection
) -> None:
    shop.execute("ALTER TABLE bag REPLICA IDENTITY DEFAULT")
    chain.add("bag", capture="auto")
    chain.drain()
    assert chain.modes() == {"bag": ("triggers", None)}
    [capture] = chain.catalog.captures().values()
    assert "REPLICA IDENTITY FULL" in capture.note
    with pytest.raises(SourceUnusableError) as refused:
        chain.capture.add("again", chain.url, "public.bag", wish="wal")
    assert "REPLICA IDENTITY FULL" in refused.value.detail


def _slot(chain: Chain) -> str:
    [database] = {capture.database for capture in chain.catalog.captures().values()}
    return publication.object_name(chain.catalog.capture_tag(database))


@pytest.mark.fault(
    "postgres",
    "the slot is lost while tables are captured by it",
    step="drain",
    seen="the capture's step `copied`, with the reason; events `slot-lost` and `resnapshot`",
    recovery="by itself",
)
@pytest.mark.parametrize("capture", ["wal", "auto"])
@pytest.mark.parametrize("recreated", [False, True])
def test_a_lost_slot_is_noticed_and_the_table_is_copied_with_that_reason(
    chain: Chain, shop: psycopg.Connection, capture: str, recreated: bool
) -> None:
    chain.add("keyed", capture=capture)
    for number in range(3):
        shop.execute("INSERT INTO keyed VALUES (%s, 'x', 1)", (100 + number,))
        chain.drain()
    assert chain.modes()["keyed"][0] == "wal"
    shop.execute("SELECT pg_drop_replication_slot(%s)", (_slot(chain),))
    shop.execute("DELETE FROM keyed WHERE id < 10")
    if recreated:
        shop.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", (_slot(chain),))
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert any("slot" in reason for kind, reason in chain.reasons("keyed") if kind == "copied")
    shop.execute("INSERT INTO keyed VALUES (200, 'after', 1)")
    for _ in range(3):
        assert chain.drain() == {}
        assert chain.mirror("keyed") == rows_of(shop, "keyed")


def test_a_slot_that_holds_back_too_much_leads_back_to_triggers_in_an_orderly_way(
    tmp_path: Path, shop: psycopg.Connection, url: str
) -> None:
    small = settings_with(slot_max_retained_bytes=1_048_576)
    with Chain(tmp_path / "w", url, small) as chain:
        chain.add("keyed", capture="wal")
        with psycopg.connect(url) as held:
            # An open transaction keeps the slot from moving on.
            held.execute("INSERT INTO keyed VALUES (90, 'held', 1)")
            shop.execute(
                "CREATE TABLE noise AS SELECT repeat('x', 500) AS t FROM generate_series(1, 5000)"
            )
            for _ in range(3):
                shop.execute("INSERT INTO noise SELECT * FROM noise LIMIT 3000")
                assert chain.drain() == {}
                assert chain.mirror("keyed") == rows_of(shop, "keyed")
            held.commit()
        for _ in range(3):
            assert chain.drain() == {}
            assert chain.mirror("keyed") == rows_of(shop, "keyed")
        kinds = dict(reversed(chain.reasons("keyed")))
        assert "holds back" in kinds["moving to triggers"]
        told = [event for event in chain.catalog.events() if event.kind == "slot-too-large"]
        # Each time that a move began, and not with each drain.
        starts = [kind for kind, _ in chain.reasons("keyed") if kind == "moving to triggers"]
        assert [event.subject for event in told] == ["keyed"] * len(starts)
        assert "holds back" in told[0].text


def test_a_table_taken_out_of_the_publication_is_copied_with_that_reason(
    chain: Chain, shop: psycopg.Connection
) -> None:
    chain.add("keyed", capture="wal")
    shop.execute(f"ALTER PUBLICATION {_slot(chain)} DROP TABLE keyed")
    shop.execute("INSERT INTO keyed VALUES (100, 'unseen', 1)")
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert "publication" in chain.reasons("keyed")[0][1]
    shop.execute("INSERT INTO keyed VALUES (101, 'seen', 1)")
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")


def test_two_databases_of_one_server_have_a_slot_each(
    chain: Chain, shop: psycopg.Connection, own_server: PostgresServer
) -> None:
    shop.execute("CREATE DATABASE beside")
    other = own_server.url_of("beside")
    with psycopg.connect(other, autocommit=True) as there:
        there.execute("CREATE TABLE elsewhere (id int PRIMARY KEY)")
        chain.add("keyed", capture="wal")
        chain.capture.add("elsewhere", other, "elsewhere", wish="wal")
        there.execute("INSERT INTO elsewhere VALUES (1)")
        shop.execute("INSERT INTO keyed VALUES (100, 'x', 1)")
        assert chain.drain() == {}
        assert chain.mirror("elsewhere") == rows_of(there, "elsewhere")
        assert chain.mirror("keyed") == rows_of(shop, "keyed")
        chain.capture.drop(chain.catalog.source("elsewhere"))
    shop.execute("DROP DATABASE beside")


def test_a_table_made_again_while_it_moves_to_the_wal_is_followed(
    chain: Chain, shop: psycopg.Connection
) -> None:
    chain.add("keyed", capture="auto")
    assert chain.modes()["keyed"] == ("triggers", "wal")
    shop.execute("DROP TABLE keyed")
    shop.execute("CREATE TABLE keyed (id int PRIMARY KEY, a text, n numeric(10,2))")
    for number in range(5):
        shop.execute("INSERT INTO keyed VALUES (%s, 'new', 1)", (number,))
        assert chain.drain() == {}
        assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert chain.modes()["keyed"] == ("wal", None)


def test_a_copy_that_failed_is_remembered_whatever_else_moves(
    chain: Chain, shop: psycopg.Connection
) -> None:
    """The others go on to later positions, so the changes in between are in no buffer."""
    shop.execute("CREATE TABLE wide (id int PRIMARY KEY, n numeric)")
    chain.add("wide", "bag", capture="auto")
    shop.execute("INSERT INTO wide VALUES (1, 'NaN')")
    for number in range(4):
        shop.execute("INSERT INTO bag VALUES (%s, 'x')", (number,))
        assert list(chain.drain()) == ["wide"]
        assert chain.mirror("bag") == rows_of(shop, "bag")
    shop.execute("UPDATE wide SET n = 2")
    assert chain.drain() == {}
    assert chain.mirror("wide") == rows_of(shop, "wide")


def test_foreign_wal_does_not_pile_up(chain: Chain, shop: psycopg.Connection) -> None:
    """FOREIGN_WAL_MB=1000 has the server log a gigabyte."""
    chain.add("keyed", capture="wal")
    shop.execute("CREATE TABLE noise (t text)")
    began, unread, kept = _end_of_log(shop), 0, 0
    for _ in range(int(os.environ.get("FOREIGN_WAL_MB", "15")) // 5):
        shop.execute("INSERT INTO noise SELECT repeat('x', 1000) FROM generate_series(1, 5000)")
        chain.drain()
        now = _behind(shop)
        unread, kept = max(unread, now[0]), max(kept, now[1])
    # What is kept moves on when the server next writes down who runs, every 15 seconds or so.
    print(f"{_end_of_log(shop) - began:,} logged; at most {unread:,} unread, {kept:,} kept")
    assert unread < 2_000_000


def _end_of_log(shop: psycopg.Connection) -> int:
    row = shop.execute("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::int8").fetchone()
    assert row is not None
    return int(row[0])


def _behind(shop: psycopg.Connection) -> tuple[int, int]:
    """Return how much of the log the slot has not confirmed, and how much is kept for it."""
    row = shop.execute(
        "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)::int8,"
        " pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::int8"
        " FROM pg_replication_slots WHERE database = current_database()"
    ).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


UNEXPLAINED = {
    "a column is added": "ALTER TABLE keyed ADD COLUMN d date DEFAULT '2026-01-01'",
    "a column is dropped": "ALTER TABLE keyed DROP COLUMN a",
    "a column is renamed": "ALTER TABLE keyed RENAME COLUMN a TO z",
    "a type changes": "ALTER TABLE keyed ALTER COLUMN n TYPE text USING n::text || '!'",
    "values are rewritten in the same type": "ALTER TABLE keyed ALTER COLUMN n TYPE numeric(10,2) USING n + 1",
    "the key goes": "ALTER TABLE keyed DROP CONSTRAINT keyed_pkey, REPLICA IDENTITY FULL",
}


@pytest.mark.parametrize("capture", ["triggers", "wal"])
@pytest.mark.parametrize("what", UNEXPLAINED)
def test_a_table_that_became_another_one_is_copied_with_the_reason(
    chain: Chain, shop: psycopg.Connection, capture: str, what: str
) -> None:
    chain.add("keyed", capture=capture)
    shop.execute("INSERT INTO keyed VALUES (31, 'before', 1)")
    shop.execute(UNEXPLAINED[what])
    shop.execute("DELETE FROM keyed WHERE id = 2")
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert chain.reasons("keyed")[0][0] == "copied"
    shop.execute("DELETE FROM keyed WHERE id = 3")
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert [kind for kind, _ in chain.reasons("keyed")].count("copied") == 1


def test_a_table_that_is_dropped_stops_alone_and_comes_back_when_it_is_made_again(
    chain: Chain, shop: psycopg.Connection
) -> None:
    chain.add("keyed", "bag", capture="triggers")
    shop.execute("DROP TABLE keyed")
    shop.execute("INSERT INTO bag VALUES (5, 'on')")
    errors = chain.drain()
    assert list(errors) == ["keyed"]
    assert chain.mirror("bag") == rows_of(shop, "bag")
    shop.execute("CREATE TABLE keyed (id int PRIMARY KEY, a text, n numeric(10,2))")
    shop.execute("INSERT INTO keyed VALUES (1, 'new', 1)")
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")


@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_a_value_that_does_not_fit_stops_the_source_before_any_commit(
    chain: Chain, shop: psycopg.Connection, capture: str
) -> None:
    shop.execute("CREATE TABLE wide (id int PRIMARY KEY, n numeric)")
    shop.execute("INSERT INTO wide VALUES (1, 1.5)")
    chain.add("wide", "bag", capture=capture)
    shop.execute("INSERT INTO wide VALUES (2, 'NaN')")
    shop.execute("INSERT INTO bag VALUES (8, 'x')")
    errors = chain.drain()
    assert "NaN" in errors["wide"].message
    assert len(chain.stored("wide")) == 1
    assert chain.mirror("bag") == rows_of(shop, "bag")
    shop.execute("DELETE FROM wide WHERE id = 2")
    assert chain.drain() == {}
    assert chain.mirror("wide") == rows_of(shop, "wide")


@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_a_source_in_error_is_in_no_drain_so_that_no_transaction_is_split(
    chain: Chain, shop: psycopg.Connection, capture: str
) -> None:
    shop.execute("CREATE TABLE parents (id int PRIMARY KEY, n numeric)")
    shop.execute("CREATE TABLE children (id int PRIMARY KEY, parent int)")
    chain.add("parents", "children", capture=capture)
    before = chain.mirrors(["parents", "children"])
    with shop.transaction():
        shop.execute("INSERT INTO parents VALUES (1, 'NaN')")
        shop.execute("INSERT INTO children VALUES (10, 1)")
    assert list(chain.drain()) == ["parents"]
    [database] = {c.database for c in chain.catalog.captures().values()}
    parents, children = (chain.catalog.source(name).id for name in ("parents", "children"))
    drained = chain.catalog.last_drain(database)
    assert drained is not None
    assert set(drained.versions) == {children}
    # No moment has the child beside the parents of before.
    stale = Version(DeltaTable(chain.catalog.source("parents").location).version())
    mixed = Frontier({parents: stale, children: drained.versions[children]})
    assert not chain.catalog.has_drain(database, mixed)
    shop.execute("UPDATE parents SET n = 5 WHERE id = 1")
    assert chain.drain() == {}
    after = chain.mirrors(["parents", "children"])
    assert after == {name: rows_of(shop, name) for name in ("parents", "children")} != before


@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_a_change_that_does_not_fit_its_mirror_copies_that_table_and_stops_no_other(
    chain: Chain, shop: psycopg.Connection, capture: str
) -> None:
    shop.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
    shop.execute("CREATE TABLE moods (id int PRIMARY KEY, m mood)")
    shop.execute("ALTER TABLE moods REPLICA IDENTITY FULL")
    shop.execute("INSERT INTO moods VALUES (1, 'sad'), (2, 'glad')")
    chain.add("moods", "keyed", capture=capture)
    # The log has no word of it, and no row was written.
    shop.execute("ALTER TYPE mood RENAME VALUE 'sad' TO 'low'")
    shop.execute("UPDATE moods SET m = 'glad' WHERE id = 1")
    shop.execute("INSERT INTO keyed VALUES (77, 'x', 1)")
    for _ in range(2):
        assert chain.drain() == {}
        for table in ("moods", "keyed"):
            assert chain.mirror(table) == rows_of(shop, table)
    shop.execute("INSERT INTO moods VALUES (3, 'low')")
    assert chain.drain() == {}
    assert chain.mirror("moods") == rows_of(shop, "moods")


def test_a_slot_that_only_broken_tables_use_moves_on(
    chain: Chain, shop: psycopg.Connection
) -> None:
    chain.add("keyed", capture="wal")
    shop.execute("DROP TABLE keyed")
    shop.execute("CREATE TABLE noise AS SELECT repeat('x', 500) AS t FROM generate_series(1, 9000)")
    confirmed = "SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = %s"
    before = shop.execute(confirmed, (_slot(chain),)).fetchone()
    for _ in range(3):
        shop.execute("INSERT INTO noise SELECT * FROM noise LIMIT 3000")
        assert list(chain.drain()) == ["keyed"]
    after = shop.execute(confirmed, (_slot(chain),)).fetchone()
    assert after is not None
    assert before is not None
    assert shop.execute("SELECT %s::pg_lsn > %s::pg_lsn", (after[0], before[0])).fetchone() == (
        True,
    )
    shop.execute("CREATE TABLE keyed (id int PRIMARY KEY, a text, n numeric(10,2))")
    shop.execute("INSERT INTO keyed VALUES (1, 'new', 1)")
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")


def test_a_source_is_dropped_as_a_whole_or_not_at_all(
    chain: Chain, shop: psycopg.Connection, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(jdbc_copy.SESSION, "lock_timeout", "100ms")
    chain.add("keyed", capture="triggers")
    source = chain.catalog.source("keyed")
    with psycopg.connect(url) as reader:
        reader.execute("SELECT count(*) FROM keyed")
        with pytest.raises(TransientError, match="cannot be dropped now") as caught:
            chain.capture.drop(source)
        assert "Nothing was dropped" in caught.value.hint
    shop.execute("INSERT INTO keyed VALUES (78, 'x', 1)")
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert chain.catalog.traces() == []
    chain.capture.drop(source)
    left = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'streamtables%'"
    assert shop.execute(left).fetchone() == (0,)


def test_a_reader_that_stays_does_not_keep_a_table_from_its_move_to_the_wal(
    chain: Chain, shop: psycopg.Connection, url: str
) -> None:
    chain.add("keyed", capture="auto")
    with psycopg.connect(url) as reader:
        reader.execute("SELECT count(*) FROM keyed")
        for number in range(3):
            shop.execute("INSERT INTO keyed VALUES (%s, 'x', 1)", (80 + number,))
            assert chain.drain() == {}
            assert chain.mirror("keyed") == rows_of(shop, "keyed")
        assert chain.modes()["keyed"] == ("wal", None)
    shop.execute("INSERT INTO keyed VALUES (90, 'x', 1)")
    assert chain.drain() == {}
    assert shop.execute("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal").fetchone() == (0,)


@pytest.mark.parametrize("capture", ["auto", "wal"])
def test_a_role_that_may_no_longer_read_the_log_goes_on_by_triggers(
    tmp_path: Path,
    shop: psycopg.Connection,
    own_server: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    capture: str,
) -> None:
    tag = uuid4().hex[:8]
    role = f"role_{tag}"
    make_role(shop, f"owner_{tag}", role, "a word", ("keyed",))
    monkeypatch.setenv("SHOP_URL", own_server.url_of(shop.info.dbname, role, "a word"))
    with Chain(tmp_path / "w", "${env:SHOP_URL}") as chain:
        chain.add("keyed", capture=capture)
        for number in range(3):
            shop.execute("INSERT INTO keyed VALUES (%s, 'x', 1)", (100 + number,))
            assert chain.drain() == {}
        assert chain.modes()["keyed"] == ("wal", None)
        shop.execute(sql.SQL("ALTER ROLE {} NOREPLICATION").format(sql.Identifier(role)))
        for number in range(3):
            shop.execute("INSERT INTO keyed VALUES (%s, 'y', 1)", (200 + number,))
            assert chain.drain() == {}
            assert chain.mirror("keyed") == rows_of(shop, "keyed")
        assert chain.modes()["keyed"] == ("triggers", None)
        assert any("may no longer read the log" in reason for _, reason in chain.reasons("keyed"))


def test_a_drain_leaves_the_slot_to_a_source_that_is_being_added(
    chain: Chain, shop: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain.add("keyed", capture="triggers")
    copy = chain.capture.copy

    def meanwhile(*given: Any, **named: Any) -> Copied:
        shop.execute("INSERT INTO keyed VALUES (79, 'x', 1)")
        with monkeypatch.context() as patched:
            patched.setattr(chain.capture, "copy", copy)
            assert chain.drain() == {}
        return copy(*given, **named)

    monkeypatch.setattr(chain.capture, "copy", meanwhile)
    chain.add("bag", capture="wal")
    monkeypatch.setattr(chain.capture, "copy", copy)
    shop.execute("INSERT INTO bag VALUES (5, 'on')")
    assert chain.drain() == {}
    assert chain.mirror("bag") == rows_of(shop, "bag")
    assert [kind for kind, _ in chain.reasons("bag")] == ["added"]


def test_a_mirror_that_others_write_to_is_copied_with_that_reason(
    chain: Chain, shop: psycopg.Connection
) -> None:
    chain.add("keyed", capture="triggers")
    DeltaTable(chain.catalog.source("keyed").location).delete("id = 1")
    shop.execute("INSERT INTO keyed VALUES (99, 'x', 1)")
    assert chain.drain() == {}
    assert chain.mirror("keyed") == rows_of(shop, "keyed")
    assert "not written by a drain" in chain.reasons("keyed")[0][1]


@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_dropping_a_source_leaves_nothing_on_the_server(
    chain: Chain, shop: psycopg.Connection, capture: str
) -> None:
    chain.add("keyed", "bag", capture=capture)
    chain.capture.drop(chain.catalog.source("keyed"))
    shop.execute("INSERT INTO bag VALUES (8, 'x')")
    assert chain.drain() == {}
    assert chain.mirror("bag") == rows_of(shop, "bag")
    chain.capture.drop(chain.catalog.source("bag"))
    for found in (
        "SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal",
        "SELECT count(*) FROM pg_publication",
        "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()",
        "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'streamtables%'",
    ):
        assert shop.execute(found).fetchone() == (0,), found


def test_partitions_are_captured_wherever_rows_are_written(
    chain: Chain, shop: psycopg.Connection
) -> None:
    shop.execute("CREATE TABLE parts (k int, v text, PRIMARY KEY (k)) PARTITION BY RANGE (k)")
    shop.execute("CREATE TABLE low PARTITION OF parts FOR VALUES FROM (0) TO (10)")
    shop.execute("CREATE TABLE high PARTITION OF parts FOR VALUES FROM (10) TO (20)")
    chain.add("parts", capture="triggers")
    for statement in (
        "INSERT INTO parts VALUES (1, 'a'), (11, 'b')",
        "INSERT INTO low VALUES (2, 'direct')",
        "UPDATE parts SET k = k + 10 WHERE k = 2",
        "TRUNCATE high",
        "CREATE TABLE more PARTITION OF parts FOR VALUES FROM (20) TO (30)",
        "INSERT INTO more VALUES (21, 'new partition')",
        "ALTER TABLE parts DETACH PARTITION low",
        "INSERT INTO low VALUES (3, 'detached')",
        "ALTER TABLE parts ATTACH PARTITION low FOR VALUES FROM (0) TO (10)",
        "DROP TABLE low",
        "TRUNCATE parts",
        "INSERT INTO parts VALUES (12, 'last')",
    ):
        shop.execute(statement)
        assert chain.drain() == {}, statement
        assert chain.mirror("parts") == rows_of(shop, "parts"), statement


@pytest.mark.parametrize("capture", ["triggers", "wal", "auto"])
def test_the_documented_role_is_enough_and_its_password_stays_a_secret(
    tmp_path: Path,
    shop: psycopg.Connection,
    own_server: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    capture: str,
) -> None:
    database, tag = shop.info.dbname, uuid4().hex[:8]
    make_role(shop, f"owner_{tag}", f"role_{tag}", "secret word", ("keyed", "bag"))
    monkeypatch.setenv("SHOP_URL", own_server.url_of(database, f"role_{tag}", "secret word"))
    with Chain(tmp_path / "w", "${env:SHOP_URL}") as chain:
        chain.add("keyed", "bag", capture=capture)
        for number in range(3):
            shop.execute("INSERT INTO keyed VALUES (%s, 'x', 1)", (100 + number,))
            shop.execute("UPDATE bag SET b = %s", (str(number),))
            assert chain.drain() == {}
            assert chain.mirror("keyed") == rows_of(shop, "keyed")
            assert chain.mirror("bag") == rows_of(shop, "bag")
        shop.execute("INSERT INTO keyed VALUES (200, 'x', 1)")
        for name in ("keyed", "bag"):
            chain.capture.drop(chain.catalog.source(name))
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"secret" not in stored


def test_a_password_in_the_address_is_refused(chain: Chain, own_server: PostgresServer) -> None:
    address = own_server.url_of("postgres", password="secret")
    with pytest.raises(ConfigError) as refused:
        chain.capture.add("x", address, "t")
    assert "secret" not in str(refused.value)
    assert "${env:SHOP_URL}" in refused.value.hint


def test_a_url_that_cannot_be_read_does_not_show_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_URL", "postgresql://me:my secret@127.0.0.1/x")
    with pytest.raises(ConfigError) as refused, Server("${env:SHOP_URL}").connected("test"):
        pass
    shown = f"{refused.value.message} {refused.value.detail} {refused.value.hint}"
    assert "my secret" not in shown
    assert refused.value.__cause__ is None


def test_an_error_of_the_server_does_not_repeat_the_password(
    own_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_URL", own_server.url_of("no_secret_here", password="no_secret_here"))
    with (
        pytest.raises(SourceUnusableError) as refused,
        Server("${env:SHOP_URL}").connected("test"),
    ):
        pass
    shown = f"{refused.value.message} {refused.value.detail} {refused.value.hint}"
    assert "no_secret_here" not in shown


def test_a_server_that_does_not_log_enough_is_captured_by_triggers_and_says_why(
    tmp_path: Path,
) -> None:
    with (
        running_server(wal_level="replica") as own,
        psycopg.connect(own.url, autocommit=True) as connection,
        Chain(tmp_path / "w", own.url) as chain,
    ):
        connection.execute("CREATE TABLE t (id int PRIMARY KEY)")
        with pytest.raises(SourceUnusableError) as refused:
            chain.add("t", capture="wal")
        assert "wal_level" in refused.value.detail
        assert chain.catalog.sources() == ()
        chain.add("t", capture="auto")
        connection.execute("INSERT INTO t VALUES (1)")
        assert chain.drain() == {}
        assert chain.mirror("t") == rows_of(connection, "t")
        [capture] = chain.catalog.captures().values()
        assert (capture.mode, "wal_level" in capture.note) == ("triggers", True)


@pytest.mark.fault(
    "postgres",
    "no server answers",
    step="drain",
    seen="ST-3000",
    recovery="by itself, when it answers",
)
def test_a_server_that_is_gone_is_a_passing_error(tmp_path: Path) -> None:
    with running_server() as own, psycopg.connect(own.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id int PRIMARY KEY)")
        with Chain(tmp_path / "w", own.url) as chain:
            chain.add("t", capture="wal")
            connection.execute("INSERT INTO t VALUES (1)")
            own.stop(how="immediate")
            assert isinstance(chain.drain()["t"], TransientError)
            own.start()
            assert chain.drain() == {}
            assert len(chain.mirror("t")) == 1
