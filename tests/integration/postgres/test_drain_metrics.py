"""What drains report: polls, what waited, lags, ways of capture, lost slots."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import sleep
from typing import Any

import psycopg
import pytest
from psycopg import sql

from streamtables.demo.postgres_server import running_server
from streamtables.errors import TransientError
from streamtables.observe.exposition import exposition
from streamtables.observe.observer import Observer
from streamtables.sources.postgres import publication
from streamtables.sources.postgres.drain import DatabaseDrain
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.status import capture_status
from tests.support.postgres_chain import Chain
from tests.unit.observe.scraped import scraped

pytestmark = pytest.mark.postgres


@pytest.fixture
def shop(database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("CREATE TABLE keyed (id int PRIMARY KEY, a text)")
        connection.execute("INSERT INTO keyed VALUES (1, 'x'), (2, 'y')")
        yield connection
        connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
            " WHERE database = current_database()"
        )


@pytest.fixture
def chain(tmp_path: Path, database: str) -> Iterator[Chain]:
    with Chain(tmp_path / "w", database) as opened:
        yield opened


def observed(chain: Chain) -> Observer:
    return chain.capture.shop.observer


def told(chain: Chain, name: str, **labels: str) -> float | None:
    labels = labels or {"server": Server(chain.url).shown}
    text = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    return scraped(exposition(observed(chain).counts)).get(f"{name}{{{text}}}")


def test_a_drain_by_the_log_tells_what_waited_and_how_much_it_brought(
    chain: Chain, shop: psycopg.Connection[Any]
) -> None:
    chain.add("keyed", capture="wal")
    polls, rows = told(chain, "wal_poll_seconds_count"), told(chain, "wal_poll_rows_total")
    assert polls is not None
    assert rows == 0
    shop.execute("INSERT INTO keyed SELECT g, 'n' FROM generate_series(10, 16) g")
    shop.execute("UPDATE keyed SET a = 'z' WHERE id < 3")
    shop.execute("DELETE FROM keyed WHERE id = 16")
    [status] = capture_status(chain.catalog, datetime.now(UTC))
    assert status.wal_decoder_pending_records == 10
    chain.drain()
    assert told(chain, "wal_decoder_pending_records") == 10
    assert told(chain, "wal_poll_seconds_count") == polls + 1
    assert (told(chain, "wal_poll_rows_total") or 0) > 0
    assert (told(chain, "wal_lag_bytes") or 0) > 0
    chain.drain()
    assert told(chain, "wal_decoder_pending_records") == 0
    assert told(chain, "wal_fallback", source="keyed", reason="moving") is None


def test_the_percentiles_are_those_of_the_status(
    chain: Chain, shop: psycopg.Connection[Any]
) -> None:
    chain.add("keyed", capture="triggers")
    for number in range(3):
        shop.execute("INSERT INTO keyed VALUES (%s, 'x')", (100 + number,))
        sleep(0.3 * number)
        chain.drain()
    now = datetime.now(UTC)
    [status] = capture_status(chain.catalog, now)
    found = observed(chain).lags.recent(now)["keyed"]
    assert found == status.true_lag
    assert found.drains == 3
    assert 0.6 <= found.p99 < 30


@pytest.mark.parametrize("way", ["triggers", "wal"])
def test_a_quiet_source_is_not_behind_however_long_ago_it_was_drained(
    chain: Chain, shop: psycopg.Connection[Any], way: Any
) -> None:
    chain.add("keyed", capture=way)
    shop.execute("INSERT INTO keyed VALUES (50, 'x')")
    chain.drain()
    later = datetime.now(UTC) + timedelta(hours=3)
    [status] = capture_status(chain.catalog, later)
    assert status.lag_seconds == 0.0
    assert status.drained_at is not None
    shop.execute("CREATE TABLE unrelated AS SELECT 1 AS a")
    [status] = capture_status(chain.catalog, later)
    assert status.lag_seconds == 0.0


@pytest.mark.parametrize("way", ["triggers", "wal"])
def test_a_source_is_as_far_behind_as_its_oldest_change_that_waits(
    chain: Chain, shop: psycopg.Connection[Any], way: Any
) -> None:
    chain.add("keyed", capture=way)
    began = datetime.now(UTC)
    for number in range(3):
        shop.execute("INSERT INTO keyed VALUES (%s, 'x')", (80 + number,))
    [status] = capture_status(chain.catalog, began + timedelta(hours=1))
    assert status.lag_seconds is not None
    assert 3500 < status.lag_seconds <= 3600
    chain.drain()
    [status] = capture_status(chain.catalog, began + timedelta(hours=1))
    assert status.lag_seconds == 0.0


def test_how_far_behind_is_not_known_where_changes_are_not_seen(
    chain: Chain, shop: psycopg.Connection[Any]
) -> None:
    chain.add("keyed", capture="triggers")
    [(name,)] = shop.execute(
        "SELECT tgname FROM pg_trigger WHERE tgname LIKE '%%insert' AND NOT tgisinternal"
    ).fetchall()
    shop.execute(sql.SQL("ALTER TABLE keyed DISABLE TRIGGER {}").format(sql.Identifier(name)))
    shop.execute("INSERT INTO keyed VALUES (90, 'x')")
    [status] = capture_status(chain.catalog, datetime.now(UTC))
    assert (status.pending_changes, status.lag_seconds) == (0, None)


def test_a_lag_is_counted_from_the_commit_where_the_server_keeps_its_time(tmp_path: Path) -> None:
    with (
        running_server(track_commit_timestamp="on", fsync="off") as server,
        psycopg.connect(server.url) as writer,
        Chain(tmp_path / "w", server.url) as chain,
    ):
        writer.execute("CREATE TABLE keyed (id int PRIMARY KEY)")
        writer.commit()
        chain.add("keyed", capture="triggers")
        began, xid = writer.execute("SELECT now(), pg_current_xact_id()::xid").fetchone() or ()
        writer.execute("INSERT INTO keyed VALUES (1)")
        writer.execute("SELECT pg_sleep(0.5)")
        writer.commit()
        [(committed,)] = writer.execute("SELECT pg_xact_commit_timestamp(%s::xid)", (str(xid),))
        now = datetime.now(UTC)
        [status] = capture_status(chain.catalog, now)
        assert status.lag_seconds == (now - committed).total_seconds()
        assert status.lag_seconds <= (now - began).total_seconds() - 0.5
        chain.drain()
        last = chain.catalog.last_drain(
            chain.catalog.captures()[chain.catalog.source("keyed").id].database
        )
        assert last is not None
        assert list(last.lags.values()) == [(last.at - committed).total_seconds()]


def test_a_server_that_reads_no_log_has_no_pending_records(
    chain: Chain, shop: psycopg.Connection[Any]
) -> None:
    chain.add("keyed", capture="triggers")
    shop.execute("INSERT INTO keyed VALUES (50, 'x')")
    chain.drain()
    assert told(chain, "wal_decoder_pending_records") is None
    assert told(chain, "wal_poll_rows_total") == 1
    assert told(chain, "capture_waiting_rows", source="keyed") == 1
    chain.drain()
    assert told(chain, "capture_waiting_rows", source="keyed") == 0


def test_a_source_that_moves_to_the_log_says_so_until_it_is_there(
    chain: Chain, shop: psycopg.Connection[Any]
) -> None:
    chain.add("keyed", capture="auto")
    assert told(chain, "wal_fallback", source="keyed", reason="moving") == 1
    for number in range(3):
        shop.execute("INSERT INTO keyed VALUES (%s, 'x')", (60 + number,))
        chain.drain()
    assert chain.modes()["keyed"][0] == "wal"
    assert told(chain, "wal_fallback", source="keyed", reason="moving") is None


def test_a_lost_slot_and_the_copy_after_it_are_events(
    chain: Chain, shop: psycopg.Connection[Any]
) -> None:
    chain.catalog.heard = observed(chain).happened
    chain.add("keyed", capture="wal")
    shop.execute("INSERT INTO keyed VALUES (70, 'x')")
    chain.drain()
    [database] = {capture.database for capture in chain.catalog.captures().values()}
    slot = publication.object_name(chain.catalog.capture_tag(database))
    shop.execute("SELECT pg_drop_replication_slot(%s)", (slot,))
    shop.execute("INSERT INTO keyed VALUES (71, 'x')")
    assert chain.drain() == {}
    events = [(event.kind, event.subject) for event in reversed(chain.catalog.events())]
    assert events == [("slot-lost", "keyed"), ("resnapshot", "keyed")]
    assert told(chain, "events_total", kind="slot-lost") == 1
    assert told(chain, "events_total", kind="resnapshot") == 1


def test_a_server_that_does_not_answer_counts_as_a_poll(chain: Chain) -> None:
    away = Server("postgresql://nobody@127.0.0.1:1/shop")
    drain = DatabaseDrain(
        "d", away, chain.capture.shop, tuple, lambda captive, _: captive, lambda _: False
    )
    with pytest.raises(TransientError):
        drain.run()
    assert told(chain, "wal_poll_seconds_count", server="127.0.0.1:1/shop") == 1
