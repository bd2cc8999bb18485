"""A load: `python -m tests.soak.load --minutes 60 --rate 2000 --tables 1000 --active 100`.

Two PostgreSQL tables, captured by triggers and from the WAL, change at a steady rate: a third of the
changes each come, change and go, so that the tables stay as large as they are.  Of the stream tables so many
follow the changes, and the others wait for somebody to ask.  A process keeps them fresh, as
`streamtables run` does; each sample says how much memory it has, with its Java, and what is on disk
and in the catalog.  At the end the writer rests, all tables catch up, and everything is verified.

What goes by age would all stay for an hour, so it is old after a twelfth of the run (`--keep`): see
`tests.soak.short_policy`.  From the second third on as much has to go as comes.

Answers 1 when a table differs, or when memory, a lag, files, logs, history or events have no bound.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from threading import Event, Thread

import psycopg

from streamtables.api import StreamTables
from streamtables.demo.postgres_server import running_server
from streamtables.settings import Settings
from tests.soak.short_policy import EVENTS, shorten
from tests.support.leaders import Leaders, wait_for
from tests.support.processes import descendants

CAPTURED = {"paid": "triggers", "seen": "wal"}
ROWS = 20_000
GROUPS = 200
PAUSE_SECONDS = 0.25
SCHEDULE = "on change at most every 10 seconds"
BARS = {
    "megabytes": 1.25,
    "lag": 1.5,
    "files": 1.25,
    "log_files": 1.25,
    "records": 1.25,
    "events": 1.25,
}
"""By how much the last third may hold more of each than the second; what grows steadily from nothing
has 1.67 times as much."""
HISTORY_KEEP = 50
SAMPLES = 60
KEEP_SHARE = 1 / 12
CATCH_UP_SECONDS = 900.0
SHAPES = (
    "SELECT g, sum(n) AS total, count(*) AS c FROM {x} WHERE g % 10 = {i} GROUP BY g",
    "SELECT id, g, n FROM {x} WHERE g = {i}",
    "SELECT g, max(n) AS most, min(n) AS least FROM {x} WHERE g % 20 = {i} GROUP BY g",
    "SELECT p.g, count(*) AS c FROM paid p JOIN seen s ON s.id = p.id WHERE p.g % 50 = {i} GROUP BY p.g",
    "SELECT DISTINCT g FROM {x} WHERE n % 100 = {i}",
)
SETTINGS = {
    "STREAMTABLES_SPARK_DRIVER_MEMORY": "3g",
    "STREAMTABLES_POLL_SECONDS": "1",
    "STREAMTABLES_LEASE_SECONDS": "60",
    "STREAMTABLES_HISTORY_KEEP": str(HISTORY_KEEP),
    "STREAMTABLES_COMPACT_AFTER": "16",
    "STREAMTABLES_CHECKPOINT_AFTER": "20",
}


@dataclass
class Writer:
    """Changes both tables at a rate, in transactions of their own, until it is told to end."""

    url: str
    rate: int
    written: int = 0
    ended: Event = field(default_factory=Event)
    fault: Exception | None = None
    """What ended the writing before its time."""

    def make(self) -> None:
        """Make both tables with their first rows."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            for name in CAPTURED:
                connection.execute(
                    f"CREATE TABLE {name} (id bigint PRIMARY KEY, g int NOT NULL, n int NOT NULL)"
                )
                connection.execute(
                    f"INSERT INTO {name} SELECT i, i % {GROUPS}, i % 1000"
                    f" FROM generate_series(1, {ROWS}) i"
                )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write beside what a block does."""
        thread = Thread(target=self._write_or_tell)
        thread.start()
        try:
            yield
        finally:
            self.ended.set()
            thread.join()

    def _write_or_tell(self) -> None:
        try:
            self._write()
        except psycopg.Error as error:
            self.fault = error

    def _write(self) -> None:
        each = max(1, round(self.rate * PAUSE_SECONDS / len(CAPTURED) / 3))
        first, began, rounds = 1, time.monotonic(), 0
        with psycopg.connect(self.url) as connection:
            while not self.ended.wait(max(0.0, began + rounds * PAUSE_SECONDS - time.monotonic())):
                for name in CAPTURED:
                    self._change(connection, name, first, each)
                    connection.commit()
                self.written += 3 * each * len(CAPTURED)
                first, rounds = first + each, rounds + 1

    def _change(self, connection: psycopg.Connection, name: str, first: int, each: int) -> None:
        last = first + ROWS
        connection.execute(
            f"INSERT INTO {name} SELECT i, mod(i * 7, {GROUPS}), mod(i, 1000)"
            f" FROM generate_series(%s::bigint, %s::bigint) i",
            (last, last + each - 1),
        )
        middle = first + ROWS // 2
        connection.execute(
            f"UPDATE {name} SET n = n + 1 WHERE id BETWEEN %s AND %s", (middle, middle + each - 1)
        )
        connection.execute(
            f"DELETE FROM {name} WHERE id BETWEEN %s AND %s", (first, first + each - 1)
        )


@dataclass(frozen=True)
class Size:
    """How much is asked of a run."""

    rate: int
    tables: int
    active: int
    keep: float
    """After how many seconds something is old."""


@dataclass(frozen=True)
class Sample:
    """What one minute showed."""

    megabytes: float
    lag: float
    files: int
    """Of all tables, changes and what was replaced among them; without logs."""
    log_files: int
    records: int
    events: int


class Load:
    """One run in a folder."""

    def __init__(self, folder: Path, url: str, size: Size) -> None:
        self.folder, self.active = folder, size.active
        self.writer = Writer(url, size.rate)
        self.writer.make()
        shorten(size.keep)
        program = ("tests.soak.short_policy", str(size.keep))
        self.leaders = Leaders(folder / "w", SETTINGS, program=program)
        with StreamTables(folder / "w", settings=Settings(spark_master="local[2]")) as db:
            for name, capture in CAPTURED.items():
                db.add_source(name, postgres=url, table=name, capture=capture)
            for number in range(size.tables):
                db.create(
                    f"team_{number % 10}.table_{number:04}",
                    self._query(number),
                    schedule=SCHEDULE if number < size.active else "manual",
                )
        # Looks on without a Spark of its own, until it verifies.
        self.db = StreamTables(folder / "w", settings=Settings(spark_master="local[2]"))
        self.names = [table.name for table in self.db.stream_tables()]
        self.names = [name for name in self.names if int(name[-4:]) < size.active]

    def _query(self, number: int) -> str:
        shape = SHAPES[number % len(SHAPES)]
        return shape.format(x=list(CAPTURED)[number % 2], i=number // len(SHAPES) % 10)

    def run(self, minutes: float) -> int:
        """Keep up for some minutes, then compare everything."""
        process = self.leaders.start()
        wait_for(lambda: len(self.db._catalog.standings()) >= self.active, "filled", 1_800)
        samples: list[Sample] = []
        until = time.monotonic() + 60 * minutes
        with self.writer.writing():
            while time.monotonic() < until and process.poll() is None and not self.writer.fault:
                time.sleep(60 * minutes / SAMPLES)
                samples.append(self._sample(process.pid))
                print(
                    f"{len(samples)} of {SAMPLES}: {samples[-1]}, {self.writer.written:,} changes",
                    flush=True,
                )
        wrong = [] if process.poll() is None else ["the process ended by itself"]
        wrong += [f"the writer failed: {self.writer.fault}"] if self.writer.fault else []
        began = time.monotonic()
        wait_for(self._is_current, "current", CATCH_UP_SECONDS)
        print(f"caught up after {time.monotonic() - began:.0f} s", flush=True)
        if any(self.leaders.end()):
            wrong.append("the process did not end well")
        wrong += self._differences() + bounds(samples, permitted(self.active))
        print(f"{self.writer.written:,} changes, {len(self.names)} tables verified", flush=True)
        for text in wrong:
            print(f"  {text}", flush=True)
        return 1 if wrong else 0

    def _sample(self, pid: int) -> Sample:
        pids = [pid, *(one.pid for one in descendants(pid))]
        lags = [lag.lag_seconds or 0.0 for lag in self.db.lags() if lag.name in self.names]
        files = list((self.folder / "w").rglob("*.*"))
        logs = [file for file in files if file.parent.name == "_delta_log"]
        return Sample(
            round(sum(map(_resident, pids)) / 1e6),
            round(max(lags, default=0.0), 1),
            len(files) - len(logs),
            len(logs),
            sum(len(self.db.history(name, 1_000)) for name in self.names),
            len(self.db.events(limit=100_000)),
        )

    def _is_current(self) -> bool:
        lags = {lag.name: lag.lag_seconds for lag in self.db.lags()}
        return all(lags[name] == 0 for name in self.names)

    def _differences(self) -> list[str]:
        found = []
        for name in self.names:
            if not self.db.verify(name).equal:
                found.append(f"{name} is not equal to its query")
        states = {table.name: table.state for table in self.db.stream_tables()}
        return found + [f"{n} is {state}" for n, state in states.items() if state != "active"]

    def close(self) -> None:
        """Leave nothing behind."""
        self.writer.ended.set()
        self.leaders.kill()
        self.db.close()


def permitted(active: int) -> dict[str, float]:
    """Return up to where something may grow: what is kept for good, and the lag of a schedule."""
    return {"lag": 10.0, "records": HISTORY_KEEP * active, "events": EVENTS}


def bounds(samples: list[Sample], free: Mapping[str, float]) -> list[str]:
    """Say what grew without an end: the last third is held against the one before.

    Up to what is free, everything may grow.
    """
    third = len(samples) // 3
    if third < 2:
        return [f"{len(samples)} samples are too few to tell what grows"]
    middle, last = samples[third : 2 * third], samples[-third:]
    found = []
    for what, bar in BARS.items():
        before, after = (median(getattr(s, what) for s in part) for part in (middle, last))
        if after > bar * max(before, free.get(what, 1.0)):
            found.append(f"{what} grow: {before:g}, then {after:g}")
    return found


def _resident(pid: int) -> int:
    """Return the memory that a process holds, in bytes; nothing where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return 1024 * int(
        next((line for line in lines if line.startswith("VmRSS")), "VmRSS: 0").split()[1]
    )


def main() -> int:
    """Read the options, and run."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--minutes", type=float, default=60)
    reader.add_argument("--rate", type=int, default=2_000, help="changes a second")
    reader.add_argument("--tables", type=int, default=1_000)
    reader.add_argument("--active", type=int, default=100)
    reader.add_argument(
        "--keep", type=float, help="after how many seconds something is old; else a twelfth"
    )
    given = reader.parse_args()
    keep = given.keep or 60 * given.minutes * KEEP_SHARE
    size = Size(given.rate, given.tables, given.active, keep)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(wal_level="logical", track_commit_timestamp="on") as server,
    ):
        load = Load(Path(folder), server.url, size)
        try:
            return load.run(given.minutes)
        finally:
            load.close()


if __name__ == "__main__":
    sys.exit(main())
