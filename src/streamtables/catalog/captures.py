"""Captured PostgreSQL tables, and the drains that tie their mirrors together.

A drain is recorded in one statement that succeeds only for the next number, so of two processes
that drained from the same position one is told that it was overtaken.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4
from zlib import crc32

from sqlalchemy import Connection, Row, delete, func, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from streamtables.catalog.database import Database
from streamtables.catalog.definition_changes import DefinitionChanges
from streamtables.catalog.models import Capture, CaptureEvent, Source
from streamtables.catalog.schema import capture_events, captures, drains, settings
from streamtables.positions import Drain, Frontier, InputId, PgPosition

_CAPTURE_ID = "capture_id"
_KNOWN_ID = select(settings.c.value).where(settings.c.name == _CAPTURE_ID)
_LINE = "line of "
_TRACE = "trace of "
_KEPT = select(settings.c.name, settings.c.value)
KEPT_DRAINS = 1_000
"""Older records of drains are forgotten; only the last one can be pinned."""


@dataclasses.dataclass(frozen=True)
class CapturedDatabase:
    """All that is recorded of a database some tables of which are captured."""

    name: str
    tag: str
    """What is in the name of our slot for it."""
    captures: tuple[Capture, ...]
    last: Drain | None
    line: str = ""
    """Which line of history its server was on at the last drain; empty where that is not known."""

    @property
    def reads_log(self) -> bool:
        """Whether the slot is used, or about to be."""
        return any("wal" in (capture.mode, capture.moving_to) for capture in self.captures)


@dataclasses.dataclass(frozen=True)
class Trace:
    """A capture that is being put on a server or taken off it: if that breaks off, where to look.

    It is kept before the server is touched, and cleared when nothing is left to do there.
    """

    tag: str
    server: str
    database: str
    table_name: str
    at: datetime


class Captures(DefinitionChanges):
    """The part of the catalog that knows how PostgreSQL tables are captured."""

    _database: Database

    def captures(self) -> Mapping[InputId, Capture]:
        """Return how every captured source is captured."""
        with self._database.reading() as connection:
            rows = connection.execute(select(captures)).all()
        return {InputId(row.source_id): _capture(row) for row in rows}

    def captured_databases(self) -> Mapping[str, CapturedDatabase]:
        """Return every captured database, with its last recorded drain, in one reading."""
        with self._database.reading() as connection:
            found = [_capture(row) for row in connection.execute(select(captures))]
            last = _last_drains(connection)
            kept = {row.name: row.value for row in connection.execute(_KEPT)}
        return {
            name: CapturedDatabase(
                name,
                _tag(str(kept.get(_CAPTURE_ID)), name),
                tuple(capture for capture in found if capture.database == name),
                last.get(name),
                kept.get(f"{_LINE}{name}", ""),
            )
            for name in dict.fromkeys(capture.database for capture in found)
        }

    def add_captured_source(self, source: Source, capture: Capture, event: CaptureEvent) -> Source:
        """Add a source with its capture, in one transaction."""

        def along(connection: Connection) -> None:
            connection.execute(insert(captures), [dataclasses.asdict(capture)])
            connection.execute(insert(capture_events), [dataclasses.asdict(event)])
            _clear_trace(connection, capture.tag)

        return self._add_source(source, along)

    def move_capture(self, capture: Capture, event: CaptureEvent | None = None) -> None:
        """Store what has become of a capture, and why."""
        this = captures.c.source_id == capture.source_id
        with self._database.writing() as connection:
            connection.execute(update(captures).where(this).values(dataclasses.asdict(capture)))
            if event is not None:
                connection.execute(insert(capture_events), [dataclasses.asdict(event)])

    def add_capture_event(self, event: CaptureEvent) -> None:
        """Store something that happened to a capture and left it as it is."""
        with self._database.writing() as connection:
            connection.execute(insert(capture_events), [dataclasses.asdict(event)])

    def capture_events(self, source_id: InputId, limit: int = 100) -> Sequence[CaptureEvent]:
        """Return the last steps of a capture, newest first."""
        statement = (
            select(capture_events)
            .where(capture_events.c.source_id == source_id)
            .order_by(capture_events.c.id.desc())
            .limit(limit)
        )
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return [CaptureEvent(InputId(row.source_id), row.at, row.kind, row.reason) for row in rows]

    def capture_tag(self, database: str) -> str:
        """Return what is in the name of our slot for a database; slots of a server share names."""
        return _tag(self._capture_id(), database)

    def _capture_id(self) -> str:
        """Return what tells this catalog from others on a captured server; made on first use."""
        with self._database.writing() as connection:
            found = connection.execute(_KNOWN_ID).scalar()
            if found is None:
                found = uuid4().hex[:8]
                connection.execute(insert(settings), [{"name": _CAPTURE_ID, "value": found}])
        return str(found)

    def keep_line(self, database: str, line: str) -> None:
        """Keep which line of history the server of a database is on."""
        name = f"{_LINE}{database}"
        with self._database.writing() as connection:
            connection.execute(delete(settings).where(settings.c.name == name))
            connection.execute(insert(settings), [{"name": name, "value": line}])

    def keep_trace(self, trace: Trace) -> None:
        """Keep on which server something is about to be made or removed."""
        value = json.dumps({**dataclasses.asdict(trace), "at": trace.at.isoformat()})
        with self._database.writing() as connection:
            _clear_trace(connection, trace.tag)
            connection.execute(insert(settings), [{"name": f"{_TRACE}{trace.tag}", "value": value}])

    def clear_trace(self, tag: str) -> None:
        """Forget a trace: what it was about is complete."""
        with self._database.writing() as connection:
            _clear_trace(connection, tag)

    def traces(self) -> Sequence[Trace]:
        """Return the traces of what was begun and is not known to be complete, oldest first.

        What is captured now is complete, whatever a drop that was refused has left.
        """
        known = select(captures.c.tag)
        kept = _KEPT.where(settings.c.name.startswith(_TRACE))
        with self._database.reading() as connection:
            complete = set(connection.execute(known).scalars())
            values = [json.loads(row.value) for row in connection.execute(kept)]
        found = [Trace(**{**v, "at": datetime.fromisoformat(v["at"])}) for v in values]
        return sorted((t for t in found if t.tag not in complete), key=lambda t: t.at)

    def last_drain(self, database: str) -> Drain | None:
        """Return the last recorded drain of a database."""
        statement = (
            select(drains)
            .where(drains.c.database == database)
            .order_by(drains.c.number.desc())
            .limit(1)
        )
        with self._database.reading() as connection:
            row = connection.execute(statement).first()
        return _drain(row) if row else None

    def last_drains(self) -> Mapping[str, Drain]:
        """Return the last recorded drain of each database, with one statement."""
        with self._database.reading() as connection:
            return _last_drains(connection)

    def has_drain(self, database: str, versions: Frontier) -> bool:
        """Whether a recorded drain of a database names exactly these versions of its mirrors."""
        statement = select(drains.c.versions).where(drains.c.database == database)
        with self._database.reading() as connection:
            known = connection.execute(statement).scalars().all()
        return any(
            all(drained.get(key) == version for key, version in versions.items())
            for drained in known
        )

    def recent_drains(self, database: str, since: datetime) -> Sequence[Drain]:
        """Return the drains that were recorded since a time, oldest first."""
        statement = (
            select(drains)
            .where(drains.c.database == database, drains.c.at >= since)
            .order_by(drains.c.number)
        )
        with self._database.reading() as connection:
            return [_drain(row) for row in connection.execute(statement)]

    def record_drain(self, drain: Drain) -> bool:
        """Record a drain; False when another process recorded this number or a later one."""
        this = drains.c.database == drain.database
        row = {
            "database": drain.database,
            "number": drain.number,
            "snapshot": drain.position.snapshot,
            "lsn": drain.position.lsn,
            "versions": drain.versions,
            "lags": drain.lags,
            "at": drain.at,
        }
        with self._database.writing() as connection:
            last = connection.execute(select(func.max(drains.c.number)).where(this)).scalar()
            if (last or 0) + 1 != drain.number:
                return False
            try:
                connection.execute(insert(drains), [row])
            except IntegrityError:
                return False
            old = drains.c.number <= drain.number - KEPT_DRAINS
            connection.execute(delete(drains).where(this, old))
        return True


def _tag(capture_id: str, database: str) -> str:
    return f"{crc32(f'{capture_id}/{database}'.encode()):08x}"


def _clear_trace(connection: Connection, tag: str) -> None:
    connection.execute(delete(settings).where(settings.c.name == f"{_TRACE}{tag}"))


def _capture(row: Row[Any]) -> Capture:
    return Capture(**row._mapping)


def _last_drains(connection: Connection) -> dict[str, Drain]:
    latest = select(drains.c.database, func.max(drains.c.number)).group_by(drains.c.database)
    statement = select(drains).where(tuple_(drains.c.database, drains.c.number).in_(latest))
    return {row.database: _drain(row) for row in connection.execute(statement)}


def _drain(row: Row[Any]) -> Drain:
    return Drain(
        row.database,
        row.number,
        PgPosition(row.snapshot, row.lsn),
        row.versions,
        row.at,
        row.lags,
    )
