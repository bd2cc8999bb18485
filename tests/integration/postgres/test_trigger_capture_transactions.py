"""Transactions that overlap drains: late alone, never lost, never twice."""

from __future__ import annotations

import random
import threading
import time
from contextlib import ExitStack

import psycopg
import pytest
from psycopg import sql

from streamtables.sources.postgres import buffer
from streamtables.sources.postgres.buffer_waiting import waiting
from streamtables.sources.postgres.server import Server
from tests.integration.postgres.trigger_mirror import TAG, Mirror, run

pytestmark = pytest.mark.postgres

WRITERS, SECONDS = 4, 5.0


@pytest.fixture(params=["keyed", "keyless"])
def mirror(database: str, request: pytest.FixtureRequest) -> Mirror:
    key = "PRIMARY KEY" if request.param == "keyed" else ""
    run(
        database,
        f"CREATE TABLE items (id int {key}, writer int, n int)",
        "INSERT INTO items SELECT n, n % 4, 0 FROM generate_series(1, 40) n",
    )
    return Mirror(database, "public.items")


def test_a_transaction_that_commits_late_comes_late_alone_and_once(mirror: Mirror):
    with psycopg.connect(mirror.url) as late:
        late.execute("UPDATE items SET n = 1 WHERE id = 1")
        run(mirror.url, "UPDATE items SET n = 2 WHERE id = 2")
        assert [batch.count for batch in mirror.drain()] == [2]
        run(mirror.url, "UPDATE items SET n = 3 WHERE id = 3")
        assert [batch.count for batch in mirror.drain()] == [2]
        late.execute("UPDATE items SET n = 4 WHERE id = 4")
        late.commit()
    assert [batch.count for batch in mirror.drain()] == [4]
    assert mirror.drain() == []


def test_overlapping_transactions_each_come_once_in_any_order_of_commit(mirror: Mirror):
    with ExitStack() as stack:
        open_ones = [stack.enter_context(psycopg.connect(mirror.url)) for _ in range(5)]
        for number, connection in enumerate(open_ones, 1):
            connection.execute("DELETE FROM items WHERE id = %s", (number,))
        counts = []
        for number in (3, 0, 4, 1, 2):
            open_ones[number].execute("INSERT INTO items VALUES (%s, 9, 9)", (100 + number,))
            open_ones[number].commit()
            counts += [batch.count for batch in mirror.drain()]
    assert counts == [2, 2, 2, 2, 2]


def test_trimming_leaves_what_a_late_transaction_wrote_before_the_drain(mirror: Mirror):
    with psycopg.connect(mirror.url) as late:
        late.execute("DELETE FROM items WHERE id = 1")
        run(mirror.url, "DELETE FROM items WHERE id = 2")
        mirror.drain()
        late.commit()
    assert mirror.trim() == 1
    assert [batch.count for batch in mirror.drain()] == [1]
    assert mirror.trim() == 1
    assert mirror.trim() == 0


def test_buffers_say_together_what_they_hold_and_whether_something_is_new(mirror: Mirror):
    other = Mirror(mirror.url, "public.items", tag="ffffffff")
    run(mirror.url, "DELETE FROM items WHERE id < 4")
    other.drain()
    with Server(mirror.url).connected("test") as connection:
        held = waiting(connection, [TAG, "ffffffff"], None)
        new = waiting(connection, ["ffffffff"], other.position)
        bounded = waiting(connection, [TAG], None, most=2)
        assert waiting(connection, [], None) == {}
        assert mirror.position is not None
        assert other.position is not None
        questions = [
            buffer.any_written([TAG, "ffffffff"], mirror.position),
            buffer.any_written(["ffffffff"], other.position),
        ]
        written = [
            connection.execute(sql.SQL("SELECT {}").format(question)).fetchone()
            for question in questions
        ]
    assert {tag: (w.rows, w.estimated) for tag, w in held.items()} == {
        TAG: (3, False),
        "ffffffff": (3, False),
    }
    assert (new["ffffffff"].rows, new["ffffffff"].oldest_at) == (0, None)
    assert (bounded[TAG].rows, bounded[TAG].estimated) == (3, True)
    assert held[TAG].oldest_at is not None
    assert written == [(True,), (False,)]


def test_a_position_alone_brings_nothing_twice_after_a_restart(mirror: Mirror):
    run(mirror.url, "DELETE FROM items WHERE id < 4")
    position, bag = mirror.position, mirror.bag.copy()
    mirror.drain()
    mirror.position, mirror.bag = position, bag
    assert [batch.count for batch in mirror.drain()] == [3]


def test_a_drain_at_any_moment_of_random_transactions_shows_the_table(mirror: Mirror):
    until = time.monotonic() + SECONDS
    failures: list[BaseException] = []
    written = [0] * WRITERS

    def write(writer: int) -> None:
        try:
            _random_transactions(mirror.url, writer, until, written)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    drains = 0
    while any(thread.is_alive() for thread in threads):
        mirror.drain(batch_rows=50)
        mirror.trim()
        drains += 1
    for thread in threads:
        thread.join()
    assert not failures
    mirror.drain()
    mirror.trim()
    assert drains > 5
    assert all(written), written
    with Server(mirror.url).connected("test") as connection:
        assert waiting(connection, [TAG], None)[TAG].rows == 0


def _random_transactions(url: str, writer: int, until: float, written: list[int]) -> None:
    chance = random.Random(writer)
    with psycopg.connect(url, autocommit=True) as connection:
        while time.monotonic() < until:
            connection.execute("BEGIN")
            for _ in range(chance.randint(1, 5)):
                if chance.random() < 0.3:
                    connection.execute("SAVEPOINT s")
                    _random_statement(connection, writer, chance)
                    connection.execute(chance.choice(["ROLLBACK TO s", "RELEASE s"]))
                else:
                    _random_statement(connection, writer, chance)
                if chance.random() < 0.2:
                    time.sleep(chance.random() / 50)
            end = chance.choice(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"])
            connection.execute(end)
            written[writer] += end == "COMMIT"


def _random_statement(connection: psycopg.Connection, writer: int, chance: random.Random) -> None:
    # Each writer has rows of its own, so that none waits for another in a circle.
    own = 1 + writer + WRITERS * chance.randrange(12)
    statement = chance.choice(
        [
            "UPDATE items SET n = n + 1 WHERE id = %(own)s",
            "UPDATE items SET n = n + 1 WHERE writer = %(writer)s",
            "DELETE FROM items WHERE id = %(own)s",
            "INSERT INTO items SELECT %(own)s, %(writer)s, 0 "
            "WHERE NOT EXISTS (SELECT FROM items WHERE id = %(own)s)",
        ]
    )
    connection.execute(statement, {"own": own, "writer": own % WRITERS})
