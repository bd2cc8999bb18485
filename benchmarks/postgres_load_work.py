"""The work that a load is made of: transactions over one table, the same ones in every run.

A transaction inserts two rows in five, updates two, deletes one, by a statement each.  Inserts take
new keys, deletes the oldest ones, updates any between them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection as Pipe
from multiprocessing.synchronize import Event
from time import perf_counter, sleep, time
from typing import Any

import psycopg
from psycopg import Connection

TABLE = """
CREATE TABLE orders (
    id bigint PRIMARY KEY, customer int NOT NULL, status text NOT NULL, amount numeric(12,2),
    weight double precision, paid boolean, placed timestamptz, due date, code varchar(20), note text
)
"""
_INSERT = """
INSERT INTO orders
SELECT i, i %% 977, 'new', (i %% 10000000) * 0.37, i / 7.0, i %% 3 = 0,
       timestamptz '2026-01-01 00:00:00+00' + i * interval '1 second',
       date '2026-01-01' + (i %% 365)::int, 'C' || i %% 1000, 'note number ' || i
FROM generate_series(%s::bigint, %s::bigint) i
"""
_UPDATE = """
UPDATE orders SET status = %s, amount = amount + 1, paid = NOT paid WHERE id = ANY(%s::bigint[])
"""
_DELETE = "DELETE FROM orders WHERE id BETWEEN %s AND %s"
_STATUSES = ("paid", "sent", "done")


@dataclass
class Work:
    """Transactions one after the other; the seed decides which rows they update."""

    rows: int
    """Rows of the table before the first transaction."""
    changes: int
    """Changed rows of one transaction."""
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    oldest: int = 1
    newest: int = 0

    def fill(self, connection: Connection[Any]) -> None:
        """Make the table and its first rows."""
        connection.execute(TABLE)
        connection.execute(_INSERT, (1, self.rows))
        connection.execute("VACUUM (FREEZE, ANALYZE) orders")
        self.newest = self.rows

    def run(self, connection: Connection[Any]) -> int:
        """Run one transaction; return how many rows it changed."""
        inserted, deleted = self.changes * 2 // 5, self.changes // 5
        count = self.changes - inserted - deleted
        keys = self.chance.sample(range(self.oldest + deleted, self.newest + 1), count)
        with connection.transaction():
            connection.execute(_INSERT, (self.newest + 1, self.newest + inserted))
            connection.execute(_UPDATE, (self.chance.choice(_STATUSES), keys))
            connection.execute(_DELETE, (self.oldest, self.oldest + deleted - 1))
        self.newest += inserted
        self.oldest += deleted
        return self.changes


@dataclass(frozen=True)
class Written:
    """What a paced writer did."""

    changes: int
    seconds: float
    late_seconds: float
    """How far behind its schedule it was at worst."""


def paced(
    run: Callable[[], int], rate: float, seconds: float, stopped: Callable[[], bool]
) -> Written:
    """Call `run`, which returns how many changes it made, so that they keep a rate."""
    began = perf_counter()
    changes, late = 0, 0.0
    while (now := perf_counter() - began) < seconds and not stopped():
        due = changes / rate
        if due > now:
            sleep(min(due - now, seconds - now))
            continue
        late = max(late, now - due)
        changes += run()
    return Written(changes, perf_counter() - began, late)


def write(url: str, work: Work, rate: float, seconds: float, pipe: Pipe, stop: Event) -> None:
    """Write to a server from a process of its own.

    Through the pipe goes the time when it begins, and what it did when it is done.
    """
    with psycopg.connect(url, autocommit=True, application_name="load") as connection:
        pipe.send(time())
        pipe.send(paced(lambda: work.run(connection), rate, seconds, stop.is_set))
    pipe.close()
