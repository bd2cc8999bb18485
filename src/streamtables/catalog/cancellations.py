"""Refreshes that somebody asked to stop: who, and when.

The process that runs a refresh looks here while it does; whoever asks may be in another one.  What
was asked goes with the record of its refresh.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Column, ForeignKey, Table, Text, insert, select
from sqlalchemy.exc import IntegrityError

from streamtables.catalog.column_types import UtcText
from streamtables.catalog.database import Database
from streamtables.catalog.schema import metadata, refreshes
from streamtables.positions import InputId, RefreshId

cancellations = Table(
    "cancellations",
    metadata,
    Column("refresh_id", Text, ForeignKey("refreshes.id", ondelete="CASCADE"), primary_key=True),
    Column("asked_by", Text, nullable=False),
    Column("asked_at", UtcText, nullable=False),
)


@dataclass(frozen=True)
class Cancellation:
    """Somebody asked that a refresh stop."""

    asked_by: str
    asked_at: datetime


class Cancellations:
    """The part of the catalog that knows which refreshes are to stop."""

    _database: Database

    def ask_to_cancel(
        self, tables: Collection[InputId] | None, asked: Cancellation
    ) -> tuple[RefreshId, ...]:
        """Ask that what runs of some tables, or of all, stop; return what was running.

        Who asked first is kept.
        """
        statement = select(refreshes.c.id).where(refreshes.c.state == "running")
        if tables is not None:
            statement = statement.where(refreshes.c.stream_table_id.in_(list(tables)))
        with self._database.writing() as connection:
            running = [RefreshId(key) for key in connection.execute(statement).scalars()]
            for key in running:
                row = {
                    "refresh_id": key,
                    "asked_by": asked.asked_by,
                    "asked_at": asked.asked_at,
                }
                # It was asked for before, or its record went meanwhile.
                with suppress(IntegrityError), connection.begin_nested():
                    connection.execute(insert(cancellations), [row])
        return tuple(running)

    def cancellations(self, running: Collection[RefreshId]) -> Mapping[RefreshId, Cancellation]:
        """Return which of these refreshes are to stop."""
        statement = select(cancellations).where(cancellations.c.refresh_id.in_(list(running)))
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return {RefreshId(row.refresh_id): Cancellation(row.asked_by, row.asked_at) for row in rows}

    def refresh_states(self, ids: Collection[RefreshId]) -> Mapping[RefreshId, str]:
        """Return the state of each of these refreshes, where its record is still there."""
        statement = select(refreshes.c.id, refreshes.c.state).where(refreshes.c.id.in_(list(ids)))
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return {RefreshId(row.id): row.state for row in rows}
