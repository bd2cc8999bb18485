"""Which transactions a drain takes, which it holds back, and how far the slot may go."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from streamtables.demo.postgres_server import running_server
from streamtables.errors import TransientError
from streamtables.sources.postgres import publication, slot
from streamtables.sources.postgres.facts import describe_table, find_table
from streamtables.sources.postgres.pgoutput import Decoder
from streamtables.sources.postgres.snapshot import Position, lsn_number, lsn_text
from streamtables.sources.postgres.wal import position, read_changes, wait_until_flushed
from tests.integration.postgres.wal_support import NAME, Lab, lab, new_lab, server

pytestmark = pytest.mark.postgres
__all__ = ["lab", "server"]

TABLE = "CREATE TABLE t (id int PRIMARY KEY, v text)"


def commits(lab: Lab) -> list[int]:
    """Return where the commits begin that the slot sends, without any choice of ours."""
    rows = lab.reader.execute(
        "SELECT data FROM pg_logical_slot_peek_binary_changes(%s, NULL, NULL,"
        " 'proto_version', '1', 'publication_names', %s)",
        (NAME, NAME),
    ).fetchall()
    found: list[int] = Decoder().decode([row[0] for row in rows]).transactions.commit_lsns.tolist()
    return found


def test_a_transaction_that_stays_open_delays_only_itself(lab: Lab) -> None:
    lab.table(TABLE)
    with lab.session() as late:
        late.execute("BEGIN; INSERT INTO t VALUES (1, 'late')")
        lab.do("INSERT INTO t VALUES (2, 'early')")
        lab.drain()
        late.execute("UPDATE t SET v = 'later' WHERE id = 1; COMMIT")
    lab.drain()
    [mirror] = lab.mirrors.values()
    assert mirror.rows == {(1, "later"): 1, (2, "early"): 1}


def test_a_commit_that_the_snapshot_does_not_see_is_held_back(lab: Lab) -> None:
    lab.table(TABLE)
    with lab.session() as late:
        late.execute("BEGIN; INSERT INTO t VALUES (1, 'late')")
        lab.do("INSERT INTO t VALUES (2, 'early')")
        drained = lab.drain(meanwhile=lambda: late.execute("COMMIT"))
    assert len(commits(lab)) == 1, "the commit that was held back is still sent"
    assert lsn_number(drained.confirmable) == commits(lab)[0]
    [mirror] = lab.mirrors.values()
    assert mirror.rows == {(2, "early"): 1}
    lab.drain()
    assert mirror.rows == {(1, "late"): 1, (2, "early"): 1}
    assert commits(lab) == []


def test_prepared_transactions_count_when_they_are_committed(lab: Lab) -> None:
    lab.table(TABLE)
    lab.do("BEGIN; INSERT INTO t VALUES (1, 'prepared'); PREPARE TRANSACTION 'p'")
    lab.do("INSERT INTO t VALUES (2, 'other')")
    lab.drain()
    drained = lab.drain(meanwhile=lambda: lab.do("COMMIT PREPARED 'p'"))
    assert lsn_number(drained.confirmable) == commits(lab)[0]
    lab.drain()
    [mirror] = lab.mirrors.values()
    assert mirror.rows == {(1, "prepared"): 1, (2, "other"): 1}


def test_a_truncation_that_the_snapshot_does_not_see_is_held_back(lab: Lab) -> None:
    # The old snapshot reads a truncated table as empty, so there is nothing to compare with.
    lab.table(TABLE)
    lab.do("INSERT INTO t VALUES (2, 'b')")
    seen = position(lab.reader).snapshot
    lab.do("TRUNCATE t")
    [captured] = lab.take(Position(seen, position(lab.reader).lsn)).captured.values()
    assert (captured.cleared, captured.rows.num_rows) == (False, 1)
    lab.drain()
    assert lab.only().cleared


@contextmanager
def committing(lab: Lab, statement: str) -> Iterator[None]:
    """Commit while nobody confirms: in the log, but not visible before this ends."""
    for connection in (lab.writer, lab.reader):
        connection.execute("SET synchronous_commit = local")
    lab.do("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")
    with lab.session() as waiting:
        thread = threading.Thread(target=waiting.execute, args=(statement,))
        until(lambda: shown(waiting, "synchronous_standby_names") == "nobody")
        thread.start()
        try:
            until(lambda: len(commits(lab)) == 1)
            yield
        finally:
            lab.do("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
            thread.join(10)


def shown(connection: psycopg.Connection[Any], setting: str) -> str:
    return str((connection.execute(f"SHOW {setting}").fetchone() or ("",))[0])


def test_a_later_commit_may_be_seen_first_and_is_applied_once(lab: Lab) -> None:
    lab.table("CREATE TABLE t (id int, v text); ALTER TABLE t REPLICA IDENTITY FULL")
    [mirror] = lab.mirrors.values()
    with committing(lab, "INSERT INTO t VALUES (1, 'waits')"):
        lab.do("INSERT INTO t VALUES (2, 'seen')")
        lab.drain()
        assert mirror.rows == {(2, "seen"): 1}
        assert len(commits(lab)) == 2, "both are sent again"
        lab.drain()
        assert mirror.rows == {(2, "seen"): 1}
    lab.drain()
    assert mirror.rows == {(1, "waits"): 1, (2, "seen"): 1}
    assert commits(lab) == []


def test_a_commit_is_sent_again_until_its_start_is_confirmed(lab: Lab) -> None:
    lab.table(TABLE)
    lab.do(*(f"INSERT INTO t VALUES ({number}, 'x')" for number in range(3)))
    first, second, third = commits(lab)
    slot.advance(lab.reader, NAME, lsn_text(second - 1))
    assert commits(lab) == [second, third]
    slot.advance(lab.reader, NAME, lsn_text(second))
    assert commits(lab) == [second, third]
    slot.advance(lab.reader, NAME, lsn_text(second + 1))
    assert commits(lab) == [third]
    slot.advance(lab.reader, NAME, lsn_text(first))
    assert commits(lab) == [third], "a slot does not go back, and asking for it is no error"


def test_mirrors_at_different_positions_each_get_what_they_lack(lab: Lab) -> None:
    lab.table(TABLE)
    lab.do("CREATE TABLE u (id int PRIMARY KEY, v text)")
    second = lab.follow("u")
    lab.do("INSERT INTO t VALUES (1, 'a')", "INSERT INTO u VALUES (1, 'a')")
    behind = lab.mirrors[second.oid].since
    lab.drain(confirm=False)
    # The drain was cut off before the second mirror's commit.
    lab.mirrors[second.oid].since = behind
    lab.mirrors[second.oid].rows = {}
    lab.do("UPDATE t SET v = 'b'", "UPDATE u SET v = 'b'")
    captured = lab.drain().captured
    assert [part.rows.num_rows for part in captured.values()] == [1, 1]


def test_a_huge_transaction_comes_in_bounded_fetches(lab: Lab) -> None:
    lab.table(TABLE)
    lab.do("INSERT INTO t SELECT i, 'v' || i FROM generate_series(1, 200000) i")
    since = {oid: mirror.since for oid, mirror in lab.mirrors.items()}
    upto = position(lab.reader)
    fetches = read_changes(
        lab.reader, slot=NAME, publication=NAME, upto=upto, since=since, fetch=7000
    )
    sizes = [sum(len(part.new.messages) for part in fetched.changes) for fetched in fetches]
    assert max(sizes) <= 7000
    assert sum(sizes) == 200_000
    lab.fetch = 7000
    lab.drain()


def test_a_source_without_changes_of_ours_keeps_no_log(lab: Lab) -> None:
    lab.table(TABLE)
    lab.do("CREATE TABLE other (id int, v text)")
    lab.drain()
    for _ in range(3):
        lab.do("INSERT INTO other SELECT i, repeat('x', 500) FROM generate_series(1, 5000) i")
        before = position(lab.reader)
        drained = lab.drain()
        assert drained.messages == 0
        assert lsn_number(drained.confirmable) >= lsn_number(before.lsn)
        lab.do("CHECKPOINT")
    facts = slot.slot_facts(lab.reader, NAME)
    assert facts.confirmed_flush_lsn == lab.confirmed
    assert facts.retained_bytes < 5_000_000, "the log of the first rounds is free"


def test_rows_of_an_open_transaction_do_not_hold_up_the_position(lab: Lab) -> None:
    lab.do("CREATE TABLE other (id int)")
    with lab.session() as late:
        late.execute("BEGIN; INSERT INTO other VALUES (1)")
        began = time.monotonic()
        position(lab.reader)
        assert time.monotonic() - began < 2
        late.execute("ROLLBACK")


def test_asynchronous_commits_are_in_the_drain(lab: Lab) -> None:
    lab.table(TABLE)
    lab.do("SET synchronous_commit = off", "INSERT INTO t VALUES (1, 'a')")
    lab.drain()


def test_a_log_that_is_not_written_out_is_an_error_that_may_pass(lab: Lab) -> None:
    far = lsn_text(lsn_number(position(lab.reader).lsn) + 10**9)
    with pytest.raises(TransientError, match="has not written out its log"):
        wait_until_flushed(lab.reader, far, patience=0.1)


def test_a_position_at_the_start_of_a_page_is_reached(lab: Lab) -> None:
    """The next record would begin behind the page's header, which nobody has written yet."""

    def filled(size: int) -> int:
        lab.writer.execute("SELECT pg_logical_emit_message(false, '', repeat('x', %s))", (size,))
        [at] = lab.writer.execute("SELECT pg_current_wal_insert_lsn()").fetchone() or ("0/0",)
        return lsn_number(at) % 8192

    # What a record takes beside its text is found by trying.
    tried = (filled(8192 - filled(16) - extra) for _ in range(20) for extra in range(48, 80, 8))
    assert any(at in (24, 40) for at in tried), "no record ended at the end of a page"
    began = time.monotonic()
    assert lsn_number(position(lab.reader).lsn) % 8192 == 0
    assert time.monotonic() - began < 2


def test_a_writer_that_is_open_is_waited_for_before_a_table_is_added(lab: Lab) -> None:
    lab.do(TABLE)
    described = describe_table(lab.reader, find_table(lab.reader, "t"))
    assert described is not None
    lab.reader.execute("SET lock_timeout = '200ms'")
    with lab.session() as late:
        late.execute("BEGIN; INSERT INTO t VALUES (1, 'not seen by the publication')")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            publication.add_table(lab.reader, NAME, described)
        assert publication.tables(lab.reader, NAME) == frozenset()
        late.execute("COMMIT")
    publication.add_table(lab.reader, NAME, described)
    publication.add_table(lab.reader, NAME, described)
    assert publication.tables(lab.reader, NAME) == {described.oid}
    publication.remove_table(lab.reader, NAME, described)
    assert publication.tables(lab.reader, NAME) == frozenset()


def test_after_a_power_cut_what_is_sent_again_is_not_applied_again() -> None:
    with running_server() as own, new_lab(own) as lab:
        lab.table("CREATE TABLE t (id int, v text); ALTER TABLE t REPLICA IDENTITY FULL")
        lab.do("INSERT INTO t VALUES (1, 'a')", "INSERT INTO t VALUES (2, 'b')")
        lab.drain()
        own.stop(how="immediate")
        own.start()
        lab.reconnect()
        assert len(commits(lab)) == 2, "the server forgot what was confirmed"
        lab.do("UPDATE t SET v = 'c' WHERE id = 2")
        lab.drain()


SMALL = "md5(random()::text)"
BIG = "(SELECT string_agg(md5(random()::text || i), '') FROM generate_series(1, 100) i)"
MOVES = (
    f"INSERT INTO t VALUES ({{a}}, 1, {SMALL}) ON CONFLICT DO NOTHING",
    f"INSERT INTO t VALUES ({{a}}, 1, {BIG}) ON CONFLICT (id) DO UPDATE SET n = t.n + 1",
    "UPDATE t SET n = n + 1 WHERE id = {a}",
    f"UPDATE t SET doc = {BIG} WHERE id = {{a}}",
    "UPDATE t SET id = {b} WHERE id = {a} AND NOT EXISTS (SELECT 1 FROM t WHERE id = {b})",
    "DELETE FROM t WHERE id = {a}",
    "INSERT INTO u VALUES ({a}, 'x'), ({b}, NULL)",
    "UPDATE u SET v = 'y' WHERE id = {a}",
    "DELETE FROM u WHERE id = {b}",
    "SAVEPOINT s",
    "ROLLBACK TO s",
)


def write_at_random(lab: Lab, seed: int, stop: threading.Event) -> None:
    chance = random.Random(seed)
    with lab.session() as own:
        own.execute("SET synchronous_commit = " + chance.choice(("on", "off")))
        while not stop.is_set():
            try:
                own.execute("BEGIN; SAVEPOINT s")
                for _ in range(chance.randint(1, 6)):
                    a, b = chance.sample(range(12), 2)
                    own.execute(chance.choice(MOVES).format(a=a, b=b))
                    if chance.random() < 0.1:
                        time.sleep(chance.random() / 20)
                own.execute(chance.choice(("COMMIT", "COMMIT", "COMMIT", "ROLLBACK")))
            except (psycopg.errors.UniqueViolation, psycopg.errors.DeadlockDetected):
                own.execute("ROLLBACK")


def test_drains_between_random_writers_are_the_table_at_their_snapshot(lab: Lab) -> None:
    lab.table("CREATE TABLE t (id int PRIMARY KEY, n int, doc text)")
    lab.do("CREATE TABLE u (id int, v text); ALTER TABLE u REPLICA IDENTITY FULL")
    lab.follow("u")
    stop = threading.Event()
    writers = [threading.Thread(target=write_at_random, args=(lab, n, stop)) for n in range(5)]
    for writer in writers:
        writer.start()
    drains: list[int] = []

    def drained_enough() -> bool:
        lab.fetch = random.choice((3, 50, 1000))
        drains.append(lab.drain().messages)
        return len(drains) > 20 and sum(drains) > 500

    try:
        until(drained_enough, seconds=60)
    finally:
        stop.set()
        for writer in writers:
            writer.join(20)
    lab.drain()


def until(true: Callable[[], bool], seconds: float = 10) -> None:
    """Wait for something that another session does."""
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.02)
