"""Writers that change PostgreSQL tables side by side, and can be held where they stand.

A writer that is held may be in the middle of a transaction: what it wrote so far is nobody's yet,
and what others commit meanwhile overtakes it.  What each writer does comes from its seed alone; how
they meet is up to the machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Thread
from uuid import uuid4

import psycopg
from psycopg import errors

from tests.support.random_transactions import Transaction, transactions

WAYS = {
    "triggers": ("triggers", "triggers"),
    "wal": ("wal", "wal"),
    "both": ("triggers", "wal"),
    "auto": ("auto", "auto"),
}
"""How accounts and entries are captured."""

SECONDS = 60
"""How long a writer may take to a place where it can be held."""

_WRITERS = 3
# Writers at full speed would leave little of two cores to Spark.
_PACE_SECONDS = 0.02
# A writer must not wait for one that is held in the middle of its transaction.
_PATIENCE = "SET lock_timeout = '50ms'"
_LOST = (
    errors.LockNotAvailable,
    errors.DeadlockDetected,
    errors.UniqueViolation,
    errors.SerializationFailure,
)


class Gate:
    """Lets writers pass, or holds all of them."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._held = False
        self._writing = 0
        self._waiting = 0
        self._passed = 0
        self.over = False

    @contextmanager
    def writer(self) -> Iterator[None]:
        """Count a thread among those that have to be held."""
        with self._changed:
            self._writing += 1
        try:
            yield
        finally:
            with self._changed:
                self._writing -= 1
                self._changed.notify_all()

    def step(self) -> None:
        """Rest a little, and wait here while writers are held."""
        with self._changed:
            self._waiting += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.over, _PACE_SECONDS)
            self._changed.wait_for(lambda: not self._held)
            self._waiting -= 1
            self._passed += 1

    def let_pass(self, steps: int) -> None:
        """Wait until writers have made some more steps."""
        with self._changed:
            upto = self._passed + steps
            assert self._changed.wait_for(lambda: self._passed >= upto, SECONDS)

    @contextmanager
    def all_held(self) -> Iterator[None]:
        """Hold every writer at its next step, for as long as the block runs."""
        with self._changed:
            self._held = True
            here = self._changed.wait_for(lambda: self._waiting == self._writing, SECONDS)
        try:
            assert here, "a writer did not come to a step"
            yield
        finally:
            with self._changed:
                self._held = False
                self._changed.notify_all()


def writers_of(seed: int) -> range:
    """Return the seeds of the writers that a test with a seed has."""
    return range(seed * _WRITERS, (seed + 1) * _WRITERS)


@contextmanager
def writing(url: str, seeds: range, gate: Gate) -> Iterator[Counter[str]]:
    """Have one writer for each seed at work, and count how their transactions end.

    An error of one of them is raised when they have ended.
    """
    ends: Counter[str] = Counter()
    writers = [Writer(url, seed, gate, ends) for seed in seeds]
    for writer in writers:
        writer.start()
    try:
        yield ends
    finally:
        gate.over = True
        for writer in writers:
            writer.join(SECONDS)
    for writer in writers:
        assert not writer.is_alive(), "a writer did not end"
        if writer.error is not None:
            raise writer.error


class Writer(Thread):
    """One writer, with the transactions of its seed."""

    def __init__(self, url: str, seed: int, gate: Gate, ends: Counter[str]) -> None:
        super().__init__(daemon=True)
        self._url = url
        self._transactions = transactions(seed)
        self._gate = gate
        self._ends = ends
        self.error: BaseException | None = None

    def run(self) -> None:
        """Write until the gate says that it is over."""
        try:
            with (
                self._gate.writer(),
                psycopg.connect(self._url, autocommit=True) as connection,
            ):
                connection.execute(_PATIENCE)
                while not self._gate.over:
                    self._gate.step()
                    self._ends[self._ended(connection, next(self._transactions))] += 1
        except BaseException as error:
            self.error = error

    def _ended(self, connection: psycopg.Connection, transaction: Transaction) -> str:
        """Run a transaction; return how it ended, which is `lost` where it met another one."""
        connection.execute("BEGIN")
        try:
            for statement in transaction.statements:
                connection.execute(statement)
                if transaction.lasts:
                    self._gate.step()
            self._end(connection, transaction)
        except _LOST:
            connection.execute("ROLLBACK")
            return "lost"
        return transaction.end if transaction.lasts else f"{transaction.end} a truncate"

    def _end(self, connection: psycopg.Connection, transaction: Transaction) -> None:
        if transaction.end != "prepare":
            connection.execute(transaction.end)
            return
        # Its name is seen by all databases of the server.
        name = uuid4().hex
        connection.execute(f"PREPARE TRANSACTION '{name}'")
        if transaction.lasts:
            self._gate.step()
        connection.execute(f"COMMIT PREPARED '{name}'")
