"""What people should know, in the order in which it happened."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Select, delete, func, insert, select

from streamtables.catalog.database import Database
from streamtables.catalog.scheduler_models import Event
from streamtables.catalog.scheduler_schema import events

KEPT_EVENTS = 10_000
"""How many events are kept, and as many changes by people beside them."""
AUDIT = "audit"
"""The kind of an event that says who changed what."""


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
            # Changes by people stay longer: what happens by itself does not push them out.
            old = (events.c.id <= last - KEPT_EVENTS) & (events.c.kind != AUDIT)
            connection.execute(delete(events).where(old))
            if any(event.kind == AUDIT for event in happened):
                connection.execute(delete(events).where(events.c.id.in_(_old_changes())))
        if self.heard is not None:
            self.heard(happened)

    def events(self, subject_id: str | None = None, limit: int = 100) -> list[Event]:
        """Return the last events, of all or of one table or source, newest first."""
        statement = _last(limit).where(events.c.kind != AUDIT)
        if subject_id is not None:
            statement = statement.where(events.c.subject_id == subject_id)
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return [Event(row.at, row.kind, row.text, row.subject_id, row.subject) for row in rows]

    def audit_events(self, subject: str | None = None, limit: int = 100) -> list[Event]:
        """Return the last changes by people, of all or of one object, newest first."""
        statement = _last(limit).where(events.c.kind == AUDIT)
        if subject is not None:
            statement = statement.where(func.lower(events.c.subject) == subject.lower())
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


def _last(limit: int) -> Select[Any]:
    return select(events).order_by(events.c.id.desc()).limit(limit)


def _old_changes() -> Select[Any]:
    found = select(events.c.id).where(events.c.kind == AUDIT).order_by(events.c.id.desc())
    # SQLite wants a limit with an offset.
    return found.offset(KEPT_EVENTS).limit(1_000)
