"""The copy of a whole table into its mirror: the first one, and every one made anew.

Capture is on before the copy begins.  The copy shows one exported snapshot, and its commit says
which: changes of transactions that this snapshot sees are in the copy, all others are still to
come.  So nothing is lost and nothing comes twice, while writers keep writing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg import Connection

from streamtables.catalog.models import Source
from streamtables.engine import spark_hand
from streamtables.engine.jdbc_copy import (
    NO_TRANSACTION_TIMEOUT,
    CopyColumn,
    TableCopy,
    read_snapshot,
)
from streamtables.engine.outcomes import Superseded
from streamtables.engine.spark_errors import spark_border
from streamtables.errors import CommitConflictError, InternalError, StreamTablesError
from streamtables.positions import COPY, PgPosition, Sequence, Version
from streamtables.sources.postgres import wal
from streamtables.sources.postgres.facts import PgTable
from streamtables.sources.postgres.jdbc_address import spelled_out
from streamtables.sources.postgres.mirror import next_stamp
from streamtables.sources.postgres.parts import ctid_parts
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.types import (
    MirrorColumn,
    copy_expressions,
    misfit_of_copy,
)

if TYPE_CHECKING:
    from streamtables.engine.session import SparkSessions

_PAGES = """
SELECT coalesce(max(pg_catalog.pg_relation_size(oid) / current_setting('block_size')::int8), 0)
FROM pg_catalog.pg_class WHERE oid = ANY(%s)
"""
_FILES = "SELECT oid::int8, relfilenode::int8 FROM pg_catalog.pg_class WHERE oid = ANY(%s)"


@dataclass(frozen=True)
class Copied:
    """A copy that is committed, and the position that it shows."""

    version: Version
    position: PgPosition
    files: Mapping[int, int]
    """The files of the table and its partitions at that position, by their oids."""
    rows: int | None = None


def copy_table(
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
    """Put the rows of a table as they are now into its mirror, by one commit.

    `sequence` is that of the mirror's last commit, 0 for a mirror that is to be made.
    """
    with server.connected("copy", autocommit=False) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        exported, position = _exported(connection)
        if not wal.is_flushed(connection, position.lsn):
            # What a crash of the server could still undo must not be in a mirror.
            with server.connected("flush") as beside:
                wal.wait_until_flushed(beside, position.lsn)
        files = files_of(connection, table)
        copy = _copy(server, table, columns, exported, _parts(connection, table, parts))
        stamp = next_stamp(mirror, sequence, position, mode=COPY)
        # The snapshot lives as long as this transaction, so Spark reads inside it.
        with sessions.lease("bulk", tag=f"copy {table.shown}") as spark, _misfits(columns):
            with spark_border():
                rows = read_snapshot(spark, copy)
            done = spark_hand.overwrite(
                spark,
                rows,
                mirror.location,
                stamp,
                key_columns=mirror.key_columns or None,
                known=head,
            )
    if isinstance(done, Superseded):
        raise CommitConflictError(f'another process copied "{mirror.name}" first')
    if done.version is None:
        raise InternalError("the copy of a table made no commit")
    return Copied(done.version, position, files, done.rows_inserted)


def files_of(connection: Connection[Any], table: PgTable) -> dict[int, int]:
    """Return the files of a table and of its partitions, as the connection's transaction sees them.

    One that was truncated since it was described has another file, and is copied all the same.
    """
    return dict(connection.execute(_FILES, (table.relations,)).fetchall())


@contextmanager
def _misfits(columns: tuple[MirrorColumn, ...]) -> Iterator[None]:
    """Name the column and the value where Spark says that a value does not fit."""
    try:
        yield
    except StreamTablesError as error:
        found = misfit_of_copy(f"{error.message} {error.detail}", columns)
        if found is None:
            raise
        raise found from error


def _exported(connection: Connection[Any]) -> tuple[str, PgPosition]:
    connection.execute(NO_TRANSACTION_TIMEOUT)
    row = connection.execute(
        "SELECT pg_catalog.pg_export_snapshot(), pg_catalog.pg_current_snapshot()::text, "
        "pg_catalog.pg_current_wal_insert_lsn()::text"
    ).fetchone()
    assert row is not None
    return row[0], PgPosition(row[1], row[2])


def _parts(connection: Connection[Any], table: PgTable, wanted: int) -> tuple[str, ...]:
    row = connection.execute(_PAGES, (table.relations,)).fetchone()
    return ctid_parts(int(row[0]) if row else 0, wanted)


def _copy(
    server: Server,
    table: PgTable,
    columns: tuple[MirrorColumn, ...],
    exported: str,
    parts: tuple[str, ...],
) -> TableCopy:
    address, properties = server.jdbc()
    expressions = [(column.name, *copy_expressions(column)) for column in columns]
    return TableCopy(
        jdbc_url=spelled_out(address, properties),
        properties=properties,
        table=table.identifier.as_string(None),
        snapshot=exported,
        columns=tuple(CopyColumn(name, select, spark) for name, select, spark in expressions),
        parts=parts,
    )
