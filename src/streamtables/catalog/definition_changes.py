"""Changes of definitions: each is one transaction, and moves the catalog's generation.

The generation is moved first.  That takes the lock on its row, so changes happen one at a time and
each is checked against everything before it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Unpack

from sqlalchemy import Connection, delete, insert, update

from streamtables.catalog.database import Database
from streamtables.catalog.definition_rules import (
    Definition,
    refuse_cycle,
    refuse_readers,
    refuse_taken_name,
    refuse_unknown_inputs,
    tables_to_drop,
)
from streamtables.catalog.definitions import Definitions
from streamtables.catalog.load_definitions import load_definitions
from streamtables.catalog.models import (
    Alteration,
    Column,
    Input,
    Source,
    StreamTable,
    TableState,
    View,
)
from streamtables.catalog.names import check_name, name_key
from streamtables.catalog.schema import catalog_meta, dependencies, sources, stream_tables
from streamtables.catalog.source_heads import forget_head
from streamtables.catalog.standings import stand_for_gone_table, stand_for_no_query
from streamtables.errors import InUseError
from streamtables.positions import InputId

QUERY_CHANGED = "the query changed"
"""Why a table is rebuilt whose query is another one."""

_NEXT_GENERATION = update(catalog_meta).values(generation=catalog_meta.c.generation + 1)


class DefinitionChanges:
    """The part of the catalog that changes what is defined."""

    _database: Database

    def add_source(self, source: Source) -> Source:
        """Add a source under a free name."""
        return self._add_source(source, lambda _: None)

    def _add_source(self, source: Source, along: Callable[[Connection], None]) -> Source:
        """Add a source, and whatever belongs to it in the same transaction."""
        check_name(source.name)
        with self._changing() as (connection, definitions):
            refuse_taken_name(definitions, source.name)
            connection.execute(insert(sources), [_row(source)])
            along(connection)
        return source

    def update_source(
        self, source: Source, *, rebuild: str, at: datetime, made_anew: bool = False
    ) -> Source:
        """Take over what a source has become, and have its readers rebuilt.

        One that is paused is rebuilt once it goes on.  The versions of a table that was made anew
        count from 0 again: whoever stands on it no longer stands for one that can be read.
        """
        with self._changing() as (connection, definitions):
            definitions.source(source.id)
            connection.execute(
                update(sources).where(sources.c.id == source.id).values(_row(source))
            )
            for reader in definitions.direct_readers(source.id):
                if reader.state == "paused":
                    stand_for_no_query(connection, reader.id)
                else:
                    marked = dataclasses.replace(
                        reader, state="needs-rebuild", state_reason=rebuild, altered_at=at
                    )
                    _update(connection, marked)
            forget_head(connection, source.id)
            if made_anew:
                for table in definitions.dependants(source.id):
                    stand_for_gone_table(connection, table.id, source.id)
        return source

    def extend_source(self, source: Source) -> Source:
        """Keep columns that a source has beside those that are known; no reader reads them yet."""
        with self._changing() as (connection, definitions):
            definitions.source(source.id)
            connection.execute(
                update(sources).where(sources.c.id == source.id).values(_row(source))
            )
        return source

    def drop_source(self, name_or_id: str) -> Source:
        """Forget a source that no stream table reads; its table stays as it is."""
        with self._changing() as (connection, definitions):
            source = definitions.source(name_or_id)
            readers: list[StreamTable | View] = [*definitions.direct_readers(source.id)]
            readers += _views_on(definitions, source)
            refuse_readers(f'the source "{source.name}"', readers, "Drop these first.")
            connection.execute(delete(sources).where(sources.c.id == source.id))
        return source

    def create_stream_table(
        self,
        definition: StreamTable,
        inputs: Sequence[Input],
        *,
        replace: bool = False,
        internal: Sequence[Definition] = (),
    ) -> StreamTable:
        """Add a stream table with its internal tables, and return it as it is stored.

        With `replace`, a stream table of the same name takes the new definition and keeps its id,
        its location and where it stands, so that its readers and its sequence go on.
        """
        check_name(definition.name)
        with self._changing() as (connection, definitions):
            last = definitions.named(definition.name)
            if replace and isinstance(last, StreamTable) and not last.is_internal:
                definition = _successor(last, definition)
            else:
                refuse_taken_name(definitions, definition.name)
                last = None
            return _store(connection, definitions, definition, (inputs, internal), last=last)

    def alter_stream_table(
        self,
        table_id: InputId,
        *,
        at: datetime,
        inputs: Sequence[Input] | None = None,
        internal: Sequence[Definition] | None = None,
        **changes: Unpack[Alteration],
    ) -> StreamTable:
        """Change parts of a definition, and return it as it is stored.

        `inputs` and `internal` belong to the query: what is not given stays.
        """
        with self._changing() as (connection, definitions):
            return alter_within(
                connection, definitions, table_id, changes, inputs, at=at, internal=internal
            )

    def set_state(
        self, table_id: InputId, state: TableState, reason: str, *, at: datetime
    ) -> StreamTable:
        """Set the state of a stream table and the reason for it."""
        with self._changing() as (connection, definitions):
            table = dataclasses.replace(
                definitions.stream_table(table_id),
                state=state,
                state_reason=reason,
                altered_at=at,
                generation=definitions.generation,
            )
            _update(connection, table)
        return table

    def learn_columns(
        self, table_id: InputId, columns: tuple[Column, ...], *, query_hash: str
    ) -> StreamTable:
        """Keep the columns of a table as a fill by the query of this hash made them."""
        with self._changing() as (connection, definitions):
            table = definitions.stream_table(table_id)
            # Altered while it was filled: these are columns of a query that is no longer its own.
            if table.defining_query_hash == query_hash:
                table = dataclasses.replace(table, columns=columns)
                _update(connection, table)
        return table

    def drop_stream_table(
        self, table_id: InputId, *, cascade: bool = False
    ) -> tuple[StreamTable, ...]:
        """Forget a stream table with its internal tables; return what went, readers first.

        Without `cascade`, a table that others read stays and is an error.
        """
        with self._changing() as (connection, definitions):
            return drop_within(connection, definitions, table_id, cascade=cascade)

    @contextmanager
    def _changing(self) -> Iterator[tuple[Connection, Definitions]]:
        with self._database.writing() as connection:
            connection.execute(_NEXT_GENERATION)
            yield connection, load_definitions(connection)


def alter_within(
    connection: Connection,
    definitions: Definitions,
    table_id: InputId,
    changes: Alteration,
    inputs: Sequence[Input] | None,
    *,
    at: datetime,
    internal: Sequence[Definition] | None = None,
    why: tuple[str, str] = (QUERY_CHANGED, ""),
) -> StreamTable:
    """Change parts of a definition inside a change of the catalog.

    `why` are the reason of a rebuild, and the hash of the query that the stored rows follow.
    """
    last = definitions.stream_table(table_id)
    table = dataclasses.replace(last, **changes, altered_at=at)
    table = _with_rebuild(last, table, *why)
    check_name(table.name, internal=table.is_internal)
    refuse_taken_name(definitions, table.name, but=table.id)
    if inputs is None:
        inputs = last.inputs
    if internal is None:
        kept = definitions.internal_tables(table.id)
        internal = [(item, item.inputs) for item in kept]
    return _store(connection, definitions, table, (inputs, internal), last=last)


def drop_within(
    connection: Connection, definitions: Definitions, table_id: InputId, *, cascade: bool
) -> tuple[StreamTable, ...]:
    """Forget a stream table inside a change of the catalog; return what went, readers first."""
    table = definitions.stream_table(table_id)
    if table.owner_id:
        owner = definitions.stream_tables[table.owner_id].name
        raise InUseError(f'the internal table "{table.name}" belongs to "{owner}"')
    going = tables_to_drop(definitions, table)
    if not cascade:
        others = [t for t in going if table.id not in (t.id, t.owner_id)]
        refuse_readers(f'the stream table "{table.name}"', others, "Drop with cascade.")
    on_views = _views_on(definitions, *going)
    refuse_readers(f'the stream table "{table.name}"', on_views, "Drop the views first.")
    _delete(connection, going)
    return going


def create_within(
    connection: Connection,
    definitions: Definitions,
    table: StreamTable,
    inputs: Sequence[Input],
    internal: Sequence[Definition] = (),
) -> StreamTable:
    """Add a stream table under a free name inside a change of the catalog."""
    check_name(table.name)
    refuse_taken_name(definitions, table.name)
    return _store(connection, definitions, table, (inputs, internal), last=None)


def _views_on(definitions: Definitions, *entries: Source | StreamTable) -> tuple[View, ...]:
    """Return the views that read one of these, directly or through other views."""
    ids = {entry.id for entry in entries}
    return tuple(view for view in definitions.views.values() if ids & set(view.uses))


def _successor(last: StreamTable, definition: StreamTable) -> StreamTable:
    kept = dataclasses.replace(
        definition,
        id=last.id,
        location=last.location,
        created_at=last.created_at,
        state=last.state,
        state_reason=last.state_reason,
    )
    return _with_rebuild(last, kept)


def _with_rebuild(
    last: StreamTable, table: StreamTable, reason: str = QUERY_CHANGED, stored_hash: str = ""
) -> StreamTable:
    # A pause is somebody's wish and stays; the hash in the standing still forces the rebuild.
    # Of damaged rows a new query makes no sound ones: only a repair does.
    if table.defining_query_hash == last.defining_query_hash or last.state in ("paused", "damaged"):
        return table
    if last.state == "needs-rebuild":
        back = table.defining_query_hash == stored_hash and last.state_reason == QUERY_CHANGED
        # Other reasons hold for the new query too.
        return dataclasses.replace(table, state="active", state_reason="") if back else table
    return dataclasses.replace(table, state="needs-rebuild", state_reason=reason)


def _store(
    connection: Connection,
    definitions: Definitions,
    table: StreamTable,
    parts: tuple[Sequence[Input], Sequence[Definition]],
    *,
    last: StreamTable | None,
) -> StreamTable:
    """Write a definition and its internal tables over what was there, after all checks."""
    inputs, internal = parts
    stored = dataclasses.replace(
        table, generation=definitions.generation, inputs=tuple(sorted(inputs, key=_id))
    )
    family: list[Definition] = [(stored, inputs)]
    family += [(_owned(item, stored), edges) for item, edges in internal]
    replaced = {item.id: item for item in definitions.internal_tables(table.id)}
    _check_internal_names(definitions, family[1:], replaced)
    refuse_unknown_inputs(definitions, family)
    refuse_cycle(definitions, family)
    staying = {item.id for item, _ in family}
    _delete(connection, [item for item in replaced.values() if item.id not in staying])
    known = {*replaced, *([last.id] if last else [])}
    for item, edges in family:
        _write(connection, item, edges, known=item.id in known)
    return stored


def _write(
    connection: Connection, table: StreamTable, inputs: Sequence[Input], *, known: bool
) -> None:
    if known:
        _update(connection, table)
    else:
        connection.execute(insert(stream_tables), [_row(table)])
    _write_edges(connection, table.id, inputs)


def _owned(table: StreamTable, owner: StreamTable) -> StreamTable:
    return dataclasses.replace(table, owner_id=owner.id, generation=owner.generation)


def _check_internal_names(
    definitions: Definitions, internal: Sequence[Definition], replaced: Container[InputId]
) -> None:
    for table, _ in internal:
        check_name(table.name, internal=True)
        taken = definitions.named(table.name)
        if taken is None or taken.id not in replaced:
            refuse_taken_name(definitions, table.name)


def _update(connection: Connection, table: StreamTable) -> None:
    connection.execute(
        update(stream_tables).where(stream_tables.c.id == table.id).values(_row(table))
    )


def _delete(connection: Connection, tables: Sequence[StreamTable]) -> None:
    # Edges, standings and refresh records go with their table.
    ids = [table.id for table in tables]
    connection.execute(delete(stream_tables).where(stream_tables.c.id.in_(ids)))


def _write_edges(connection: Connection, table_id: InputId, inputs: Sequence[Input]) -> None:
    connection.execute(delete(dependencies).where(dependencies.c.stream_table_id == table_id))
    rows = [
        {
            "stream_table_id": table_id,
            "input_id": item.id,
            "input_kind": item.kind,
            "columns_read": item.columns,
        }
        for item in inputs
    ]
    if rows:
        connection.execute(insert(dependencies), rows)


def _row(entry: Source | StreamTable) -> dict[str, Any]:
    names = (field.name for field in dataclasses.fields(entry) if field.name != "inputs")
    return {**{name: getattr(entry, name) for name in names}, "name_key": name_key(entry.name)}


def _id(item: Input) -> InputId:
    return item.id
