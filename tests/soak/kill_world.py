"""What is written and kept fresh while processes are killed, and how it is judged."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from threading import Event, Thread

import psycopg

from streamtables.api import StreamTables
from streamtables.catalog.scheduler_models import EpochMove
from streamtables.demo.postgres_server import PostgresServer
from streamtables.settings import Settings
from tests.soak.tables import FIRST, Sources
from tests.support.bags import Bag, bag_of
from tests.support.moment_judge import EVERY_ROW, MomentJudge
from tests.support.postgres_chain import Chain, rows_of

CAPTURED = {"wallet": "triggers", "entry": "auto"}
WALLETS, MONEY = 8, 100
TABLES = {
    **FIRST,
    "booked": "SELECT wallet, sum(money) AS money, count(*) AS n FROM entry GROUP BY wallet",
    "checked": "SELECT w.id, w.money, b.money AS booked FROM wallet w JOIN booked b ON w.id = b.wallet",
    "joined": "SELECT w.id, w.money + a.money AS v FROM wallet w JOIN account a ON w.id = a.id",
}
ANSWER = "SELECT wallet, sum(money)::bigint, count(*) FROM entry GROUP BY wallet"
PUBLISHED = "booked"
PAUSE_SECONDS = (0.2, 1.0)


class Wallets:
    """A PostgreSQL database in which a thread moves money, in transactions of several statements."""

    def __init__(self, url: str, seed: int) -> None:
        self.url, self.ended, self.written = url, Event(), 0
        self._chance = random.Random(seed)
        self._thread = Thread(target=self._write, daemon=True)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE wallet (id int PRIMARY KEY, money int NOT NULL)")
            connection.execute("CREATE TABLE entry (wallet int, money int)")
            connection.execute("ALTER TABLE entry REPLICA IDENTITY FULL")
            connection.execute(
                f"INSERT INTO wallet SELECT g, {MONEY} FROM generate_series(0, {WALLETS - 1}) g"
            )
            connection.execute("INSERT INTO entry SELECT id, money FROM wallet")

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def end(self) -> None:
        """Write no more."""
        self.ended.set()
        self._thread.join()

    def _write(self) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            while not self.ended.wait(self._chance.uniform(*PAUSE_SECONDS)):
                giver, taker = self._chance.sample(range(WALLETS), 2)
                money = self._chance.randint(1, 5)
                with connection.transaction():
                    for wallet, moved in ((giver, -money), (taker, money)):
                        connection.execute("INSERT INTO entry VALUES (%s, %s)", (wallet, moved))
                        connection.execute(
                            "UPDATE wallet SET money = money + %s WHERE id = %s", (moved, wallet)
                        )
                self.written += 1


class World:
    """One warehouse over Delta and PostgreSQL, with a copy in PostgreSQL of one of its tables."""

    def __init__(self, folder: Path, server: PostgresServer, seed: int) -> None:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE target")
        self.target = server.url_of("target")
        self.wallets = Wallets(server.url, seed)
        # Its Spark starts when all is over, to verify.
        self.db = StreamTables(folder / "w", settings=Settings(spark_master="local[2]"))
        self.chain = Chain(folder / "w", server.url)
        sources = Sources.make(folder)
        self.db.add_source("account", path=sources.account.path, key=["id"])
        self.db.add_source("member", path=sources.member.path, key=["id"])
        for name, capture in CAPTURED.items():
            self.chain.add(name, capture=capture)
        for name, query in TABLES.items():
            self.db.create(name, query, schedule="on change")
        self.db.publish(PUBLISHED)
        to = {"kind": "postgres", "address": self.target, "table": "public.booked"}
        self.db.subscribe(PUBLISHED, "copy", to=to)
        self.judge = MomentJudge(self.db)

    def judge_now(self) -> None:
        """Compare what every table holds with its query at what it stands for, by DuckDB."""
        now = self.db._catalog.standings()
        self.judge.require_equal(
            EpochMove(key, at.version, at.base_frontier) for key, at in now.items()
        )

    def is_current(self) -> bool:
        """Whether everything that was written is in the mirrors, the tables and the copy."""
        with psycopg.connect(self.wallets.url) as connection:
            behind = [n for n in CAPTURED if self.chain.mirror(n) != rows_of(connection, n)]
        pending = any(status.changes_pending for status in self.db.status())
        return not behind and not pending and self._copy() == self._stored()

    def differences(self) -> list[str]:
        """Say what is wrong once nobody writes or refreshes any more."""
        found = []
        with psycopg.connect(self.wallets.url) as connection:
            truth = bag_of(connection.execute(ANSWER).fetchall())
        if self._stored() != truth:
            found.append("booked is not what PostgreSQL answers: a change was lost or came twice")
        if self._copy() != truth:
            found.append("the published copy is not what PostgreSQL answers")
        wrong = [row for row in self._rows("checked") if row["money"] != row["booked"]]
        found += [f"a transaction is in half: {row}" for row in wrong]
        for table in self.db.stream_tables():
            self.judge.require_own_log(table)
            if table.state != "active":
                found.append(f"{table.name} is {table.state}: {table.state_reason}")
            if not self.db.verify(table.name).equal:
                found.append(f"{table.name} is not equal to its query")
        left = self.db._catalog.running_refreshes()
        return [*found, *(f"still marked as running: {record.id}" for record in left)]

    def counts(self) -> Counter[str]:
        """Return what became of the refreshes."""
        records = [r for name in TABLES for r in self.db.history(name, 100_000)]
        return Counter(record.state for record in records)

    def close(self) -> None:
        """Leave nothing open."""
        self.wallets.ended.set()
        self.chain.catalog.close()
        self.db.close()

    def _rows(self, name: str) -> list[dict[str, int]]:
        found: list[dict[str, int]] = self.db.read_rows(name, EVERY_ROW).to_pylist()
        return found

    def _stored(self) -> Bag:
        return bag_of(tuple(row.values()) for row in self._rows(PUBLISHED))

    def _copy(self) -> Bag:
        with psycopg.connect(self.target) as connection:
            if connection.execute("SELECT to_regclass('public.booked')").fetchone() == (None,):
                return {}
            found = connection.execute("SELECT wallet, money, n, __st_count FROM public.booked")
            return bag_of(row[:3] for row in found.fetchall() for _ in range(row[3]))
