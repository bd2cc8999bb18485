"""What people should know, in the order in which it happened."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from sqlalchemy import delete, func, insert, select

from streamtables.catalog.database import Database
from streamtables.catalog.scheduler_models import Event
from streamtables.catalog.scheduler_schema import events

KEPT_EVENTS = 10_000
"""How many events are kept in all."""


class Events:
    """The part of the catalog that keeps events."""

    _database: Database
    heard: Callable[[Sequence[Event]], None] | None = None
    """Called with the events that were recorded."""

    def record_events(self, happened: Sequence[Event]) -> None:
        """Keep some events; none costs nothing."""
        if not happened:
            return
        with self._database.writing() as connection:
            connection.execute(insert(events), [dataclasses.asdict(event) for event in happened])
            last = select(func.max(events.c.id)).scalar_subquery()
            connection.execute(delete(events).where(events.c.id <= last - KEPT_EVENTS))
        if self.heard is not None:
            self.heard(happened)

    def events(self, subject_id: str | None = None, limit: int = 100) -> list[Event]:
        """Return the last events, of all or of one table or source, newest first."""
        statement = select(events).order_by(events.c.id.desc()).limit(limit)
        if subject_id is not None:
            statement = statement.where(events.c.subject_id == subject_id)
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return [Event(row.at, row.kind, row.text, row.subject_id, row.subject) for row in rows]

    def last_events(self, kinds: Sequence[str]) -> dict[str, Event]:
        """Return the last event of some kinds about each table or source."""
        last = (
            select(func.max(events.c.id))
            .where(events.c.kind.in_(kinds))
            .group_by(events.c.subject_id)
        )
        with self._database.reading() as connection:
            rows = connection.execute(select(events).where(events.c.id.in_(last))).all()
        return {
            row.subject_id: Event(row.at, row.kind, row.text, row.subject_id, row.subject)
            for row in rows
        }
