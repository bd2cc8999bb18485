"""PostgreSQL tables and their mirrors, without Spark: the first copy is made by deltalake here."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from psycopg import sql

from streamtables.catalog import Catalog, default_location
from streamtables.catalog.models import Source
from streamtables.engine.names import POSITION, SEQUENCE, without_ordinals
from streamtables.engine.session import SparkSessions
from streamtables.engine.spark_start import SparkSettings
from streamtables.engine.warehouses import Warehouse
from streamtables.errors import StreamTablesError
from streamtables.positions import COPY, PgPosition, Sequence, Version
from streamtables.settings import Settings
from streamtables.sources.postgres.capture import PostgresCapture
from streamtables.sources.postgres.copying import Copied, files_of
from streamtables.sources.postgres.drain import Workshop
from streamtables.sources.postgres.facts import PgTable
from streamtables.sources.postgres.mirror import next_stamp
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.types import MirrorColumn, from_text
from tests.support.bags import Bag, bag_of
from tests.support.settings import settings_with


def copied_by_deltalake(
    server: Server,
    table: PgTable,
    columns: tuple[MirrorColumn, ...],
    mirror: Source,
    sequence: Sequence,
    *,
    head: Version | None,
    parts: int,
    sessions: SparkSessions,
) -> Copied:
    """What `copy_table` does, for tables that are small."""
    with server.connected("copy", autocommit=False) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        row = connection.execute(
            "SELECT pg_current_snapshot()::text, pg_current_wal_insert_lsn()::text"
        ).fetchone()
        assert row is not None
        position = PgPosition(*row)
        files = files_of(connection, table)
        names = sql.SQL(", ").join(
            sql.SQL("{}::text").format(sql.Identifier(column.name)) for column in columns
        )
        found = connection.execute(
            sql.SQL("SELECT {} FROM {}").format(names, table.identifier)
        ).fetchall()
    texts = [pa.array([r[i] for r in found], pa.string()) for i in range(len(columns))]
    rows = pa.table({c.name: from_text(t, c) for c, t in zip(columns, texts, strict=True)})
    stamp = next_stamp(mirror, sequence, position, mode=COPY)
    if not mirror.key_columns:
        rows = rows.append_column(SEQUENCE, pa.array(np.full(len(found), int(stamp.sequence))))
        rows = rows.append_column(POSITION, pa.array(np.arange(len(found))))
    write_deltalake(
        mirror.location,
        rows,
        mode="overwrite",
        schema_mode="overwrite" if head is not None else None,
        configuration={"delta.enableChangeDataFeed": "true"} if head is None else None,
        commit_properties=CommitProperties(
            custom_metadata={"userMetadata": stamp.to_json()},
            app_transactions=[Transaction(stamp.table_id, stamp.sequence)],
        ),
    )
    version = Version(DeltaTable(mirror.location).version())
    return Copied(version, position, files, len(found))


class Chain:
    """A warehouse with captured tables; nothing in it starts Spark."""

    def __init__(self, warehouse: Path, url: str, settings: Settings | None = None) -> None:
        self.url = url
        self.catalog = Catalog.open(default_location(warehouse))
        sessions = SparkSessions(SparkSettings(jars_dir=warehouse))
        shop = Workshop(
            self.catalog, sessions, settings or settings_with(), lambda: datetime.now(UTC)
        )
        self.capture = PostgresCapture(shop, Warehouse.at(warehouse), copied_by_deltalake)

    def __enter__(self) -> Chain:
        return self

    def __exit__(self, *_: object) -> None:
        self.catalog.close()

    def add(self, *tables: str, capture: Any = "triggers") -> None:
        """Capture some tables under their own names."""
        for table in tables:
            self.capture.add(table, self.url, table, wish=capture)

    def drain(self) -> dict[str, StreamTablesError]:
        """Bring all mirrors to the present; return what went wrong, by source."""
        errors = self.capture.drain(self.catalog.sources())
        return {self.catalog.source(key).name: error for key, error in errors.items()}

    def mirror(self, name: str) -> Bag:
        """Return the rows of a mirror at the version that the last drain names."""
        source = self.catalog.source(name)
        version = self.capture.pinned(source)
        return bag_of(self._rows(source, version))

    def stored(self, name: str) -> Bag:
        """Return the rows of a mirror as they are, whether or not a drain has it."""
        source = self.catalog.source(name)
        return bag_of(self._rows(source, Version(DeltaTable(source.location).version())))

    def mirrors(self, names: Iterable[str]) -> dict[str, Bag]:
        """Return the rows of some mirrors at one drain."""
        first = self.catalog.source(next(iter(names)))
        database = self.catalog.captures()[first.id].database
        drain = self.catalog.last_drain(database)
        assert drain is not None
        sources = [self.catalog.source(name) for name in names]
        return {s.name: bag_of(self._rows(s, drain.versions[s.id])) for s in sources}

    def _rows(self, source: Source, version: Version) -> list[tuple[Any, ...]]:
        table = pa.table(DeltaTable(source.location, version=version).to_pyarrow_table())
        table = table.select(list(without_ordinals(table.column_names)))
        return [tuple(row.values()) for row in table.to_pylist()]

    def modes(self) -> dict[str, tuple[str, str | None]]:
        """Return how each source is captured, and where it moves to."""
        return {
            self.catalog.source(key).name: (capture.mode, capture.moving_to)
            for key, capture in self.catalog.captures().items()
        }

    def reasons(self, name: str) -> list[tuple[str, str]]:
        """Return the steps of a capture, newest first."""
        events = self.catalog.capture_events(self.catalog.source(name).id)
        return [(event.kind, event.reason) for event in events]


def rows_of(connection: psycopg.Connection[Any], table: str) -> Bag:
    """Return the rows of a PostgreSQL table now."""
    return bag_of(connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table))))
