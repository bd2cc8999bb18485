"""Copies of a whole catalog: as a file, taken while others write, and put back.

A copy is always an SQLite file.  From SQLite it is made by SQLite itself; from PostgreSQL the rows
are read in one snapshot.  So a copy of either can be put into either.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Integer, Table, delete, func, insert, select, text

from streamtables.catalog.database import Database
from streamtables.catalog.scheduler_schema import leases
from streamtables.catalog.schema import metadata, stream_tables
from streamtables.catalog.sqlite_copy import copy_sqlite
from streamtables.catalog.upgrade import open_database

_ROWS = 1_000


def copy_to_file(database: Database, file: Path) -> None:
    """Write the catalog, as it is at one moment, to a file that is not there yet."""
    if database.file is not None:
        copy_sqlite(database.file, file)
        return
    made = open_database(file)
    try:
        copy_rows(database, made)
    finally:
        made.close()


def copy_rows(source: Database, target: Database) -> None:
    """Put all rows of one catalog in the place of those of another, in one transaction each."""
    with source.writing() as read, target.writing() as written:
        if not source.is_sqlite:
            read.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
        for table in reversed(metadata.sorted_tables):
            written.execute(delete(table))
        for table in metadata.sorted_tables:
            _copy_table(read, written, table)
            if not target.is_sqlite:
                _move_numbers(written, table)


def forget_leader(database: Database) -> None:
    """Forget who led: no process that works on this copy ever held its lease."""
    with database.writing() as connection:
        connection.execute(delete(leases))


def _copy_table(read: Connection, written: Connection, table: Table) -> None:
    statement = select(table)
    if table is stream_tables:
        # Owners before the tables that they own.
        statement = statement.order_by(table.c.owner_id.is_not(None))
    rows: list[dict[str, Any]] = []
    for row in read.execute(statement):
        rows.append(dict(row._mapping))
        if len(rows) == _ROWS:
            written.execute(insert(table), rows)
            rows = []
    if rows:
        written.execute(insert(table), rows)


def _move_numbers(connection: Connection, table: Table) -> None:
    """Have a server number new rows after those that came with their numbers."""
    column = table.autoincrement_column
    if column is None or not isinstance(column.type, Integer):
        return
    last = connection.execute(select(func.max(column))).scalar()
    if last is not None:
        place = func.pg_get_serial_sequence(table.name, column.name)
        connection.execute(select(func.setval(place, last)))
