"""The record of each refresh, written when it begins and when it ends.

The end of a refresh and the move of the table's standing are one transaction.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from streamtables.catalog.database import Database
from streamtables.catalog.models import RefreshRecord, Standing
from streamtables.catalog.schema import refreshes
from streamtables.catalog.standings import move_standing
from streamtables.positions import InputId

_FIELDS = tuple(field.name for field in fields(RefreshRecord))


class RefreshRecords:
    """The part of the catalog that keeps the history of refreshes."""

    _database: Database

    def begin_refresh(self, record: RefreshRecord) -> None:
        """Record a refresh that starts to run."""
        with self._database.writing() as connection:
            connection.execute(insert(refreshes), [_row(record)])

    def finish_refresh(self, record: RefreshRecord, standing: Standing | None) -> bool:
        """Record how a refresh ended and where the table stands after it.

        Returns False when the catalog already knows a later standing; the record is kept, and the
        later standing too.
        """
        with self._database.writing() as connection:
            moved = _moved(connection, record, standing)
            this = refreshes.c.id == record.id
            done = connection.execute(update(refreshes).where(this).values(_row(record)))
            if done.rowcount == 0:
                connection.execute(insert(refreshes), [_row(record)])
        return moved

    def record_no_change(self, record: RefreshRecord, standing: Standing | None = None) -> bool:
        """Record a refresh that changed nothing, begun and ended at once.

        `standing` is given where its frontier moves over changes that cancelled out.
        """
        with self._database.writing() as connection:
            moved = _moved(connection, record, standing)
            connection.execute(insert(refreshes), [_row(record)])
        return moved

    def history(self, table_id: InputId, limit: int = 100) -> tuple[RefreshRecord, ...]:
        """Return the last refreshes of a stream table, newest first."""
        statement = (
            select(refreshes)
            .where(refreshes.c.stream_table_id == table_id)
            .order_by(refreshes.c.started_at.desc(), refreshes.c.id.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            return tuple(record_of(row) for row in connection.execute(statement))

    def running_refreshes(self, process_prefix: str = "") -> tuple[RefreshRecord, ...]:
        """Return the refreshes that nobody has ended, oldest first.

        `process_prefix` picks those of one host (`"host:"`) or of one process (`"host:pid"`).
        """
        statement = (
            select(refreshes)
            .where(refreshes.c.state == "running")
            .where(refreshes.c.process.startswith(process_prefix, autoescape=True))
            .order_by(refreshes.c.started_at, refreshes.c.id)
        )
        with self._database.reading() as connection:
            return tuple(record_of(row) for row in connection.execute(statement))

    def prune_history(self, keep: int) -> int:
        """Delete all but the last `keep` ended refreshes of each table; return how many went."""
        newest_first = (refreshes.c.started_at.desc(), refreshes.c.id.desc())
        rank = func.row_number().over(
            partition_by=refreshes.c.stream_table_id, order_by=newest_first
        )
        ranked = (
            select(refreshes.c.id, rank.label("rank"))
            .where(refreshes.c.state != "running")
            .subquery()
        )
        old = select(ranked.c.id).where(ranked.c.rank > keep)
        with self._database.writing() as connection:
            return connection.execute(delete(refreshes).where(refreshes.c.id.in_(old))).rowcount


def _moved(connection: Connection, record: RefreshRecord, standing: Standing | None) -> bool:
    # Before the record is written: its reference to the table is a lock, and two refreshes that
    # held it while each waited to move the standing would wait for ever.
    return standing is None or move_standing(connection, record.stream_table_id, standing)


def _row(record: RefreshRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _FIELDS}


def record_of(row: Row[Any]) -> RefreshRecord:
    """Return a row of the table of refreshes as a value."""
    return RefreshRecord(**row._mapping)
