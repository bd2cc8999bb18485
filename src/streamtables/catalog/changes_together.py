"""Several changes of definitions in one transaction: all of them are stored, or none.

They were compiled, each on top of those before it, from the definitions of one generation.  A
change that finds another one is refused, and is made again by its caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from streamtables.catalog.definition_changes import create_within, drop_within
from streamtables.catalog.definition_rules import Definition
from streamtables.catalog.definitions import Definitions
from streamtables.catalog.library_changes import (
    LibraryChange,
    Recompiled,
    put_within,
    restate_within,
)
from streamtables.catalog.load_definitions import load_definitions
from streamtables.catalog.models import Input, StreamTable
from streamtables.errors import CommitConflictError
from streamtables.positions import InputId


@dataclass(frozen=True)
class Created:
    """A new stream table and what it reads."""

    table: StreamTable
    inputs: tuple[Input, ...]
    internal: Sequence[Definition] = ()


Step = Created | Recompiled | LibraryChange


@dataclass(frozen=True)
class ChangesTogether:
    """New, altered and dropped definitions, in an order in which each can be stored."""

    generation: int
    """The generation of the definitions that all of this was compiled from."""
    steps: Sequence[Step]
    dropped: Sequence[InputId] = ()


@dataclass(frozen=True)
class StoredTogether:
    """What became of them: those that are defined now, and those that went, readers first."""

    tables: tuple[StreamTable, ...]
    gone: tuple[StreamTable, ...]


class TogetherChanges:
    """The part of the catalog that changes several definitions at once."""

    def _changing(self) -> AbstractContextManager[tuple[Connection, Definitions]]:
        raise NotImplementedError

    def change_together(self, change: ChangesTogether, *, at: datetime) -> StoredTogether:
        """Store all changes."""
        with self._changing() as (connection, definitions):
            if definitions.generation != change.generation + 1:
                raise CommitConflictError("another definition changed at the same time")
            stored: dict[InputId, StreamTable] = {}
            for step in change.steps:
                known = load_definitions(connection)
                if isinstance(step, LibraryChange):
                    put_within(connection, known, step, at=at)
                else:
                    table = _stored(connection, known, step, at)
                    stored[table.id] = table
            gone: list[StreamTable] = []
            for table_id in change.dropped:
                definitions = load_definitions(connection)
                # A table before it may have taken this one along.
                if table_id in definitions.stream_tables:
                    gone += drop_within(connection, definitions, table_id, cascade=True)
        return StoredTogether(tuple(stored.values()), tuple(gone))


def _stored(
    connection: Connection, definitions: Definitions, step: Created | Recompiled, at: datetime
) -> StreamTable:
    if isinstance(step, Recompiled):
        return restate_within(connection, definitions, step, at=at)
    return create_within(connection, definitions, step.table, step.inputs, step.internal)
