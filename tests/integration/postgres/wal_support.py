"""A database on a real server with mirrors in memory that are kept by its log.

Every drain compares every mirror with its table as the drain's own snapshot sees it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from psycopg import Connection, sql

from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.engine.names import WEIGHT
from streamtables.sources.postgres import publication, slot
from streamtables.sources.postgres.captured import Captured, complete
from streamtables.sources.postgres.facts import PgTable, describe_table, find_table
from streamtables.sources.postgres.row_events import MirrorShape
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.snapshot import Position
from streamtables.sources.postgres.spool import Spool
from streamtables.sources.postgres.types import map_columns
from streamtables.sources.postgres.wal import current_position, wait_until_flushed
from streamtables.sources.postgres.wal_drain import Drained, Followed, drain

NAME = publication.object_name("0badcafe")
_NUMBERS = count()
Row = tuple[Any, ...]
Bag = dict[Row, int]


@dataclass
class MirrorInMemory:
    """The rows of one captured table as a bag, and the position that they stand for."""

    table: PgTable
    shape: MirrorShape
    since: str
    rows: Bag

    def apply(self, captured: Captured) -> None:
        assert captured.reshaped == ""
        signed = complete(captured, self._stored(captured), self.shape.key)
        assert signed.column_names == [*self.shape.schema.names, WEIGHT]
        for *row, weight in _rows(signed):
            self.rows[tuple(row)] = self.rows.get(tuple(row), 0) + weight
        assert all(weight >= 0 for weight in self.rows.values()), "a row went that was not there"
        self.rows = {row: weight for row, weight in self.rows.items() if weight}

    def _stored(self, captured: Captured) -> pa.Table:
        """Return what a caller has to read: all rows, or those under the keys that were touched."""
        chosen: list[Row] = []
        if captured.cleared:
            chosen = [row for row, weight in self.rows.items() for _ in range(weight)]
        elif captured.replaced is not None:
            names = self.shape.schema.names
            key = [names.index(name) for name in captured.replaced.column_names]
            touched = set(_rows(captured.replaced))
            assert len(touched) == captured.replaced.num_rows, "a key is listed twice"
            chosen = [row for row in self.rows if tuple(row[place] for place in key) in touched]
        columns = zip(*chosen, strict=True) if chosen else ([] for _ in self.shape.columns)
        arrays = [
            pa.array(values, t) for values, t in zip(columns, self.shape.schema.types, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.shape.schema)


@dataclass
class Lab:
    """One database, its slot, and the mirrors of its tables."""

    server: PostgresServer
    database: str
    writer: Connection[Any]
    reader: Connection[Any]
    fetch: int = 1000
    spool: Spool = field(default_factory=Spool)
    mirrors: dict[int, MirrorInMemory] = field(default_factory=dict)
    confirmed: str = ""
    last: Drained | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    def do(self, *statements: str) -> None:
        """Run statements, each a transaction of its own."""
        for statement in statements:
            self.writer.execute(statement)

    @contextmanager
    def session(self) -> Iterator[Connection[Any]]:
        """Give another writer."""
        with psycopg.connect(self.server.url_of(self.database), autocommit=True) as other:
            yield other

    def follow(self, name: str) -> PgTable:
        """Capture a table, with the rows that it has."""
        described = describe_table(self.reader, find_table(self.reader, name))
        assert described is not None
        publication.add_table(self.reader, NAME, described)
        with self._snapshot() as (connection, here):
            rows = _bag(connection, described)
        shape = MirrorShape(map_columns(described), described.identity_columns)
        self.mirrors[described.oid] = MirrorInMemory(described, shape, here.snapshot, rows)
        return described

    def table(self, statement: str, *filled: str) -> PgTable:
        """Make a table `t`, fill it, and capture it."""
        self.do(statement, *filled)
        return self.follow("public.t")

    def drain(self, *, meanwhile: Callable[[], object] = bool, confirm: bool = True) -> Drained:
        """Bring all mirrors to one position, and compare them with the tables there.

        What happens `meanwhile` is in the log before the drain's end, but its snapshot is older.
        """
        assert slot.what_broke(slot.slot_facts(self.reader, NAME), self.confirmed) == ""
        with self._snapshot(meanwhile) as (connection, upto):
            expected = {oid: _bag(connection, m.table) for oid, m in self.mirrors.items()}
        drained = self.take(upto)
        for oid, mirror in self.mirrors.items():
            mirror.apply(drained.captured[oid])
            mirror.since = upto.snapshot
            assert mirror.rows == expected[oid], mirror.table.shown
        if confirm:
            self.confirmed = drained.confirmable
            slot.advance(self.reader, NAME, self.confirmed)
        self.last = drained
        return drained

    def take(self, upto: Position) -> Drained:
        """Read up to a position, without applying anything."""
        wait_until_flushed(self.reader, upto.lsn)
        tables = {oid: Followed(m.shape, m.since) for oid, m in self.mirrors.items()}
        return drain(
            self.reader,
            slot=NAME,
            publication=NAME,
            upto=upto,
            tables=tables,
            fetch=self.fetch,
            spool=self.spool,
        )

    def reconnect(self) -> None:
        """Connect again, after the server went away."""
        url = self.server.url_of(self.database)
        self.writer.close()
        self.reader.close()
        self.writer = psycopg.connect(url, autocommit=True)
        self.reader = self._stack.enter_context(Server(url).connected("test"))

    def only(self) -> Captured:
        """Return what the last drain said about the one table."""
        assert self.last is not None
        [captured] = self.last.captured.values()
        return captured

    @contextmanager
    def _snapshot(
        self, meanwhile: Callable[[], object] = bool
    ) -> Iterator[tuple[Connection[Any], Position]]:
        with self.session() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            connection.execute("SELECT 1")
            meanwhile()
            yield connection, current_position(connection)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    # What a power cut would lose is of no interest here.
    with running_server(fsync="off", full_page_writes="off") as started:
        yield started


@pytest.fixture
def lab(server: PostgresServer) -> Iterator[Lab]:
    with new_lab(server) as made:
        yield made


@contextmanager
def new_lab(server: PostgresServer) -> Iterator[Lab]:
    database = f"wal_{next(_NUMBERS)}"
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
    url = server.url_of(database)
    with ExitStack() as stack:
        writer = psycopg.connect(url, autocommit=True)
        reader = stack.enter_context(Server(url).connected("test"))
        publication.create(reader, NAME)
        slot.create(reader, NAME)
        made = Lab(server, database, writer, reader, _stack=stack)
        made.confirmed = slot.slot_facts(reader, NAME).confirmed_flush_lsn
        try:
            yield made
        finally:
            made.writer.close()
            slot.drop(made.reader, NAME)


def _bag(connection: Connection[Any], table: PgTable) -> Bag:
    rows = connection.execute(sql.SQL("SELECT * FROM {}").format(table.identifier))
    return dict(Counter(tuple(row) for row in rows))


def _rows(table: pa.Table) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
