"""What happened lately in all tables, asked so that the cost does not grow with the history.

Each question takes one step in the index of refreshes per table, and no look at all records.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ScalarSelect, Text, func, select, type_coerce

from streamtables.catalog.database import Database
from streamtables.catalog.models import RefreshRecord, RefreshState
from streamtables.catalog.refresh_records import record_of
from streamtables.catalog.scheduler_schema import events
from streamtables.catalog.schema import catalog_meta, refreshes, stream_tables
from streamtables.positions import InputId

_MINUTE = len("2030-01-01T00:00")


class RecentActivity:
    """The part of the catalog that answers those who look again and again."""

    _database: Database

    def activity_mark(self) -> str:
        """Return a text that is another one after each definition, event, and start or end."""
        ends = refreshes.c.finished_at
        newest = select(
            func.max(refreshes.c.started_at), func.max(ends), func.count(ends)
        ).select_from(stream_tables.join(refreshes, refreshes.c.id == _newest()))
        defined = select(catalog_meta.c.generation, select(func.max(events.c.id)).scalar_subquery())
        with self._database.reading() as connection:
            generation, event = connection.execute(defined).one()
            started, finished, ended = connection.execute(newest).one()
        return f"{generation}.{event or 0}.{started or ''}.{finished or ''}.{ended}"

    def last_refreshes(self) -> dict[InputId, RefreshRecord]:
        """Return the last refresh of every stream table that has had one, with one statement."""
        statement = select(refreshes).select_from(
            stream_tables.join(refreshes, refreshes.c.id == _newest())
        )
        with self._database.reading() as connection:
            rows = connection.execute(statement)
            return {InputId(row.stream_table_id): record_of(row) for row in rows}

    def refreshes_per_minute(self, since: datetime) -> list[tuple[datetime, RefreshState, int]]:
        """Return how many refreshes began in each minute and how they ended, oldest first."""
        # Moments are stored as text of one form, whose first part is the minute.
        minute = func.substr(type_coerce(refreshes.c.started_at, Text), 1, _MINUTE).label("minute")
        statement = (
            select(minute, refreshes.c.state, func.count())
            .where(refreshes.c.stream_table_id.in_(select(stream_tables.c.id)))
            .where(refreshes.c.started_at >= since)
            .group_by(minute, refreshes.c.state)
            .order_by(minute, refreshes.c.state)
        )
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return [
            (datetime.fromisoformat(text).replace(tzinfo=UTC), state, count)
            for text, state, count in rows
        ]


def _newest() -> ScalarSelect[Any]:
    """Return the id of the last refresh of a table of the outer statement."""
    inner = refreshes.alias()
    return (
        select(inner.c.id)
        .where(inner.c.stream_table_id == stream_tables.c.id)
        .order_by(inner.c.started_at.desc(), inner.c.id.desc())
        .limit(1)
        .correlate(stream_tables)
        .scalar_subquery()
    )
