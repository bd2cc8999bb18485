"""Processes that die while they drain, and servers that die while they are drained.

`python -m tests.integration.postgres.test_drain_crashes 200` runs as many kills as it is told to.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from streamtables.demo.postgres_server import PostgresServer, running_server
from tests.support.postgres_chain import Chain, rows_of

pytestmark = [pytest.mark.postgres, pytest.mark.crash]

POINTS = (
    "changes-read",
    "mirror-committed",
    "mirrors-committed",
    "drain-recorded",
    "buffers-trimmed",
)
TABLES = ("account", "entry")
KILLED = -signal.SIGKILL


@pytest.fixture(scope="module")
def crash_server() -> Iterator[PostgresServer]:
    with running_server() as started:
        yield started


def _database(server: PostgresServer) -> str:
    name = f"db_{uuid4().hex[:8]}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.url_of(name)


def _make(connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE account (id int PRIMARY KEY, money int NOT NULL)")
    connection.execute("CREATE TABLE entry (account int, money int)")
    connection.execute("ALTER TABLE entry REPLICA IDENTITY FULL")
    connection.execute("INSERT INTO account SELECT g, 100 FROM generate_series(1, 8) g")
    connection.execute("INSERT INTO entry SELECT id, money FROM account")


def _move_money(connection: psycopg.Connection, chance: random.Random) -> None:
    """Move money between two accounts in one transaction, with an entry for each."""
    giver, taker = chance.sample(range(1, 9), 2)
    money = chance.randint(1, 5)
    with connection.transaction():
        for account, sum_ in ((giver, -money), (taker, money)):
            connection.execute("INSERT INTO entry VALUES (%s, %s)", (account, sum_))
            connection.execute(
                "UPDATE account SET money = money + %s WHERE id = %s", (sum_, account)
            )
        if chance.random() < 0.2:
            connection.execute(
                "DELETE FROM entry WHERE ctid = (SELECT min(ctid) FROM entry WHERE money = 0)"
            )


def _process(warehouse: Path, url: str, point: str = "") -> subprocess.Popen[bytes]:
    environment = {**os.environ, "STREAMTABLES_FAIL_POINT": point}
    if not point:
        del environment["STREAMTABLES_FAIL_POINT"]
    command = [sys.executable, "-m", "tests.support.drain_process", str(warehouse), url]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _check(chain: Chain, connection: psycopg.Connection) -> None:
    """What is pinned is one moment; after a drain it is the present."""
    found = chain.mirrors(TABLES)
    accounts = {row[0]: row[1] for row in found["account"]}
    assert sum(accounts.values()) == 800
    entries: dict[int, int] = {}
    for (account, money), count in found["entry"].items():
        entries[account] = entries.get(account, 0) + money * count
    assert entries == accounts
    assert chain.drain() == {}
    for table in TABLES:
        assert chain.mirror(table) == rows_of(connection, table)


@pytest.mark.fault(
    "process",
    "killed while it drains PostgreSQL",
    step="changes read, a mirror committed, all committed, drain recorded, buffers trimmed; triggers and WAL",
    seen="nothing: the last recorded drain is read until the next one",
    recovery="by itself",
)
@pytest.mark.parametrize("capture", ["triggers", "wal"])
@pytest.mark.parametrize("point", POINTS)
def test_a_process_that_is_killed_loses_nothing_and_repeats_nothing(
    crash_server: PostgresServer, tmp_path: Path, point: str, capture: str
) -> None:
    url = _database(crash_server)
    chance = random.Random(point)
    with psycopg.connect(url, autocommit=True) as connection:
        _make(connection)
        with Chain(tmp_path / "w", url) as chain:
            chain.add(*TABLES, capture=capture)
            _move_money(connection, chance)
            assert _process(tmp_path / "w", url, point).wait(60) == KILLED
            _move_money(connection, chance)
            _check(chain, connection)


@pytest.mark.fault(
    "process",
    "killed while a capture moves from triggers to the WAL",
    step="each step of the drain, ten times",
    seen="the move goes on: `streamtables wal status`",
    recovery="by itself",
)
def test_a_process_that_is_killed_in_the_middle_of_a_move_goes_on_with_it(
    crash_server: PostgresServer, tmp_path: Path
) -> None:
    url = _database(crash_server)
    chance = random.Random(7)
    with psycopg.connect(url, autocommit=True) as connection:
        _make(connection)
        with Chain(tmp_path / "w", url) as chain:
            chain.add(*TABLES, capture="auto")
            for point in (*POINTS, *POINTS):
                _move_money(connection, chance)
                assert _process(tmp_path / "w", url, point).wait(60) == KILLED
            _check(chain, connection)
            assert chain.modes() == {"account": ("wal", None), "entry": ("wal", None)}


@pytest.mark.fault(
    "postgres",
    "the server dies as by a power cut and is started again",
    step="any moment of a drain; triggers and WAL",
    seen="ST-3000 while it is away",
    recovery="by itself",
)
@pytest.mark.parametrize("capture", ["triggers", "wal"])
def test_a_server_that_dies_in_the_middle_of_writes_and_drains_loses_nothing(
    tmp_path: Path, capture: str
) -> None:
    chance = random.Random(11)
    with running_server() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            _make(connection)
        with Chain(tmp_path / "w", server.url) as chain:
            chain.add(*TABLES, capture=capture)
            for _ in range(2):
                with psycopg.connect(server.url, autocommit=True) as connection:
                    _move_money(connection, chance)
                    process = _process(tmp_path / "w", server.url)
                    time.sleep(chance.random())
                    server.stop(how="immediate")
                    process.wait(60)
                server.start()
                with psycopg.connect(server.url, autocommit=True) as connection:
                    _move_money(connection, chance)
                    _check(chain, connection)


def main(kills: int) -> int:
    """Kill processes at random moments, as often as asked; every tenth time the server itself."""
    chance = random.Random(kills)
    done = {"point": 0, "moment": 0, "server": 0}
    with running_server() as server:
        for capture in ("triggers", "wal", "auto"):
            url = _database(server)
            with tempfile.TemporaryDirectory() as folder:
                warehouse = Path(folder) / "w"
                with psycopg.connect(url, autocommit=True) as connection:
                    _make(connection)
                with Chain(warehouse, url) as chain:
                    chain.add(*TABLES, capture=capture)
                    for number in range(kills // 3 + 1):
                        how = _one_kill(server, warehouse, url, chance, number)
                        done[how] += 1
                        with psycopg.connect(url, autocommit=True) as connection:
                            _check(chain, connection)
                    print(capture, chain.modes(), done, flush=True)
    print(f"{sum(done.values())} kills, nothing lost and nothing twice: {done}")
    return 0


def _one_kill(
    server: PostgresServer, warehouse: Path, url: str, chance: random.Random, number: int
) -> str:
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(3):
            _move_money(connection, chance)
        if number % 10 == 9:
            process = _process(warehouse, url)
            time.sleep(0.5 + chance.random())
            server.stop(how="immediate")
            process.wait(60)
            server.start()
            return "server"
        if number % 2:
            process = _process(warehouse, url)
            time.sleep(0.3 + chance.random() * 1.5)
            process.send_signal(signal.SIGKILL)
            process.wait(60)
            return "moment"
        _process(warehouse, url, chance.choice(POINTS)).wait(60)
        return "point"


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
