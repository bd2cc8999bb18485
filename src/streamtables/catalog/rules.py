"""What people say holds tables back: gates, watermark groups and pauses.

Each change moves the generation, so that whoever leads notices it.  A watermark is not a rule but
a fact that moves all the time: it is read when a group asks for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Table, delete, insert, select, union_all

from streamtables.catalog.definition_changes import DefinitionChanges
from streamtables.catalog.scheduler_models import Pause, Rules, SourceGate, SourceGroup
from streamtables.catalog.scheduler_schema import gates, pauses, watermark_groups, watermarks
from streamtables.catalog.schema import stream_tables
from streamtables.positions import InputId


class SchedulingRules(DefinitionChanges):
    """The part of the catalog that knows what holds tables back."""

    def rules(self) -> Rules:
        """Return all gates, groups and pauses."""
        with self._database.reading() as connection:
            closed = connection.execute(select(gates)).all()
            grouped = connection.execute(select(watermark_groups)).all()
            paused = connection.execute(select(pauses)).all()
        return Rules(
            gates={InputId(row.source_id): SourceGate(**row._mapping) for row in closed},
            groups=tuple(SourceGroup(**row._mapping) for row in grouped),
            pauses={row.scope: Pause(**row._mapping) for row in paused},
        )

    def close_gate(self, gate: SourceGate) -> None:
        """Have what reads a source wait."""
        self._put(gates, "source_id", dataclasses.asdict(gate))

    def open_gate(self, source_id: InputId) -> None:
        """Let what reads a source go on."""
        self._remove(gates, "source_id", source_id)

    def put_group(self, group: SourceGroup) -> None:
        """Add or replace a group of sources."""
        self._put(watermark_groups, "name", dataclasses.asdict(group))

    def drop_group(self, name: str) -> bool:
        """Forget a group of sources; False when there is none of this name."""
        return self._remove(watermark_groups, "name", name)

    def put_pause(self, pause: Pause) -> None:
        """Have everything, or one namespace, stand still."""
        self._put(pauses, "scope", dataclasses.asdict(pause))

    def drop_pause(self, scope: str) -> bool:
        """End a pause; False when there was none."""
        return self._remove(pauses, "scope", scope)

    def pause_of(self, table_id: InputId, scopes: Sequence[str]) -> str | None:
        """Return why a table is paused, by itself or by one of the scopes; None where it is not.

        One small statement, as it is asked before each start.
        """
        of_itself = select(stream_tables.c.state_reason.label("reason")).where(
            stream_tables.c.id == table_id, stream_tables.c.state == "paused"
        )
        of_scopes = select(pauses.c.reason).where(pauses.c.scope.in_(list(scopes)))
        with self._database.reading() as connection:
            reasons = connection.execute(union_all(of_itself, of_scopes)).scalars().all()
        return reasons[0] if reasons else None

    def watermarks(self, sources: Sequence[InputId]) -> Mapping[InputId, datetime]:
        """Return up to which moment sources are known to be complete, where they are."""
        statement = select(watermarks).where(watermarks.c.source_id.in_(sources))
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return {InputId(row.source_id): row.moment for row in rows}

    def set_watermark(self, source_id: InputId, moment: datetime) -> None:
        """Note up to which moment a source is complete."""
        this = watermarks.c.source_id == source_id
        with self._database.writing() as connection:
            connection.execute(delete(watermarks).where(this))
            connection.execute(insert(watermarks), [{"source_id": source_id, "moment": moment}])

    def _put(self, table: Table, key: str, row: dict[str, Any]) -> None:
        with self._changing() as (connection, _):
            connection.execute(delete(table).where(table.c[key] == row[key]))
            connection.execute(insert(table), [row])

    def _remove(self, table: Table, key: str, value: str) -> bool:
        with self._changing() as (connection, _):
            return connection.execute(delete(table).where(table.c[key] == value)).rowcount > 0
