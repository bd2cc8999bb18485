"""A captured table under load: drains back to back, and how far its mirror is behind meanwhile.

The mirror is as new as the newest transaction that its last drain saw, by the commit time that the
server recorded.  Between two drains it gets older by the second.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from threading import Event, Thread
from time import time
from typing import Any, NamedTuple

import pyarrow as pa
from deltalake import DeltaTable
from psycopg import Connection, sql

from benchmarks.pages import Results
from benchmarks.postgres_load_work import Work, Written, write
from streamtables.catalog import Catalog, default_location
from streamtables.catalog.models import Capture, CaptureWish, Source
from streamtables.engine.arrow_rows import with_weight
from streamtables.engine.session import SparkSessions
from streamtables.engine.warehouses import Warehouse
from streamtables.settings import Settings
from streamtables.sources.postgres import buffer, slot
from streamtables.sources.postgres.buffer_columns import buffer_name
from streamtables.sources.postgres.capture import PostgresCapture
from streamtables.sources.postgres.copy_text import copied
from streamtables.sources.postgres.drain import Workshop
from streamtables.sources.postgres.facts import describe_table
from streamtables.sources.postgres.publication import object_name
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.types import from_text, map_columns

STEP = 0.1
# Transactions near the end of a snapshot may be open, aborted or without a time.
_NEWEST = """
SELECT extract(epoch FROM max(pg_xact_commit_timestamp(x::text::xid)))::float8
FROM generate_series(pg_snapshot_xmax(%(at)s::pg_snapshot)::text::int8 - 100,
                     pg_snapshot_xmax(%(at)s::pg_snapshot)::text::int8 - 1) x
WHERE x > 3 AND pg_visible_in_snapshot(x::text::xid8, %(at)s::pg_snapshot)
"""
_STATISTICS = """
SELECT n_tup_ins, n_tup_del, n_dead_tup, vacuum_count + autovacuum_count,
       pg_relation_size(relid), pg_indexes_size(relid)
FROM pg_stat_user_tables WHERE relid = %s::regclass
"""
_STATISTIC_NAMES = ("inserted", "deleted", "dead", "vacuums", "heap_bytes", "index_bytes")


class Drained(NamedTuple):
    """When a drain was done, and the commit time of the newest change that it brought."""

    at: float
    newest: float


def lags(drains: Sequence[Drained], start: float, end: float) -> list[float]:
    """Return how old the mirror was at regular moments of a time.

    >>> lags([Drained(0.0, 0.0), Drained(0.25, 0.2)], 0.0, 0.3)
    [0.0, 0.1, 0.2, 0.1]
    """
    times = [drained.at for drained in drains]
    found = []
    for number in range(round((end - start) / STEP) + 1):
        moment = start + number * STEP
        place = max(0, bisect_right(times, moment) - 1)
        found.append(round(max(0.0, moment - drains[place].newest), 6))
    return found


@dataclass
class Loaded:
    """A source under load: its warehouse, its capture, and its drains so far."""

    url: str
    warehouse: Path
    sessions: SparkSessions
    drains: list[Drained] = field(default_factory=list)
    ticks: list[Results] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.catalog = Catalog.open(default_location(self.warehouse))
        shop = Workshop(self.catalog, self.sessions, Settings(), lambda: datetime.now(UTC))
        self.postgres = PostgresCapture(shop, Warehouse.at(self.warehouse))

    def add(self, wish: CaptureWish) -> None:
        """Capture the table and copy it by Spark."""
        self.postgres.add("orders", self.url, "public.orders", wish=wish)

    @property
    def source(self) -> Source:
        """The mirror."""
        return self.catalog.source("orders")

    @property
    def capture(self) -> Capture:
        """How the table is captured."""
        return self.catalog.captures()[self.source.id]

    def drain(self, connection: Connection[Any]) -> None:
        """Drain once, and note how new the mirror is then; the connection asks for times alone."""
        for error in self.postgres.drain([self.source]).values():
            raise error
        done = time()
        last = self.catalog.last_drain(self.capture.database)
        assert last is not None
        row = connection.execute(_NEWEST, {"at": last.position.snapshot}).fetchone()
        if row is not None and row[0] is not None:
            self.drains.append(Drained(done, float(row[0])))

    def load(self, work: Work, rate: float, seconds: float, every: float) -> tuple[float, Written]:
        """Let a writer write while drains run; return when it began, and what it wrote."""
        # A process of its own: a thread would share one interpreter with the drains.
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        stop = context.Event()
        writer = context.Process(
            target=write, args=(self.url, work, rate, seconds, theirs, stop), name="writer"
        )
        with Server(self.url).connected("benchmark") as connection:
            writer.start()
            try:
                began: float = _received(ours)
                # Until then nothing was written that the mirror does not have.
                self.drains[:] = [Drained(began, began)]
                with self._watched(every):
                    while writer.is_alive() and not ours.poll():
                        self.drain(connection)
                written: Written = _received(ours)
                return began, written
            finally:
                stop.set()
                writer.join()

    @contextmanager
    def _watched(self, every: float) -> Iterator[None]:
        """Print and keep how far behind the mirror is, until the block ends."""
        ended = Event()
        watcher = Thread(target=self._watch, args=(ended, every))
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()

    def _watch(self, ended: Event, every: float) -> None:
        began = time()
        with (
            Server(self.url).connected("benchmark") as connection,
            Catalog.open(default_location(self.warehouse)) as catalog,
        ):
            source = catalog.source("orders")
            capture = catalog.captures()[source.id]
            name = object_name(catalog.capture_tag(capture.database))
            while not ended.wait(every):
                now = time()
                behind = behind_of(connection, capture, name)
                drains = list(self.drains)
                lag = now - drains[-1].newest if drains else None
                worst = max(lags(drains, max(began, now - every), now)) if drains else None
                tick = {"second": round(now - began, 1), "lag_seconds": lag, "max_lag": worst}
                self.ticks.append({**tick, **behind, "drains": len(drains)})
                print(_tick_line(self.ticks[-1]), flush=True)

    def behind(self, connection: Connection[Any]) -> Results:
        """Return what waits on the server now."""
        return behind_of(
            connection, self.capture, object_name(self.catalog.capture_tag(self.capture.database))
        )

    def statistics(self, connection: Connection[Any]) -> Results:
        """Return what the server counted for the buffer; nothing without triggers."""
        if self.capture.mode != "triggers":
            return {}
        # What other sessions counted arrives a moment later.
        connection.execute("SELECT pg_stat_force_next_flush(), pg_stat_clear_snapshot()")
        name = buffer_name(self.capture.tag).as_string(None)
        row = connection.execute(_STATISTICS, (name,)).fetchone()
        return dict(zip(_STATISTIC_NAMES, row, strict=True)) if row else {}

    def differences(self, connection: Connection[Any]) -> int:
        """Return how many rows are in the table or in the mirror alone, both ways, as bags."""
        table = describe_table(connection, self.capture.relation)
        assert table is not None
        columns = map_columns(table)
        names = [column.name for column in columns]
        select = sql.SQL("SELECT {} FROM {}").format(
            sql.SQL(", ").join(map(sql.Identifier, names)), table.identifier
        )
        theirs = [
            pa.table({c.name: from_text(v, c) for c, v in zip(columns, part.columns, strict=True)})
            for part in copied(connection, select, len(names), 100_000)
        ]
        version = self.postgres.pinned(self.source)
        mirror = DeltaTable(self.source.location, version=version).to_pyarrow_table()
        ours = with_weight(mirror.select(names).cast(theirs[0].schema), 1)
        minus = with_weight(pa.concat_tables(theirs), -1)
        return int(buffer.net(pa.concat_tables([ours, minus])).num_rows)

    def close(self) -> None:
        """Close the catalog."""
        self.catalog.close()


def behind_of(connection: Connection[Any], capture: Capture, name: str) -> Results:
    """Return the rows that wait in a buffer, or the bytes that a slot has not confirmed."""
    if capture.mode == "triggers":
        held = buffer_name(capture.tag)
        row = connection.execute(
            sql.SQL("SELECT (SELECT count(*) FROM {}), pg_table_size({}::regclass)").format(
                held, sql.Literal(held.as_string(None))
            )
        ).fetchone()
        assert row is not None
        return {"pending_rows": row[0], "buffer_bytes": row[1]}
    facts = slot.slot_facts(connection, name)
    return {"slot_lag_bytes": facts.lag_bytes, "slot_retained_bytes": facts.retained_bytes}


def _received(pipe: Pipe) -> Any:
    if not pipe.poll(timeout=60):
        raise RuntimeError("the writer gave no sign of itself")
    return pipe.recv()


def _tick_line(tick: Results) -> str:
    lag = "–" if tick["lag_seconds"] is None else f"{tick['lag_seconds']:.2f}"
    worst = "–" if tick["max_lag"] is None else f"{tick['max_lag']:.2f}"
    rest = ", ".join(
        f"{name.replace('_', ' ')} {tick[name]:,}"
        for name in ("pending_rows", "buffer_bytes", "slot_lag_bytes", "slot_retained_bytes")
        if name in tick
    )
    return (
        f"  {tick['second']:6.0f} s   lag {lag} s (max {worst})   {rest}   {tick['drains']} drains"
    )
