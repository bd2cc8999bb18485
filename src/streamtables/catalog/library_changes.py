"""Changes of views and functions, each with what it means for those that use them.

Whoever replaces a view or function has compiled everything that uses it against the definitions of
one generation.  Invariant: what is stored was compiled from what is stored beside it; so a change
that finds another generation is refused, and is made again by its caller.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Table, delete, insert, update

from streamtables.catalog.definition_changes import QUERY_CHANGED, alter_within
from streamtables.catalog.definition_rules import Definition, refuse_taken_name
from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Alteration, Function, Input, StreamTable, View
from streamtables.catalog.names import check_name, name_key
from streamtables.catalog.schema import functions, views
from streamtables.errors import AlreadyExistsError, CommitConflictError, InUseError
from streamtables.positions import InputId


@dataclass(frozen=True)
class Recompiled:
    """A stream table as it must be after its query, or something that it uses, was replaced."""

    table_id: InputId
    changes: Alteration
    inputs: tuple[Input, ...]
    reason: str = QUERY_CHANGED
    stored_hash: str = ""
    """The hash of the query that the stored rows follow, where it is known."""
    internal: Sequence[Definition] = ()
    """The internal tables that it has from now on."""


@dataclass(frozen=True)
class LibraryChange:
    """A new or replaced view or function, and everything that changes with it."""

    entry: View | Function
    generation: int
    """The generation of the definitions that all of this was compiled from."""
    users: Sequence[View | Function] = ()
    tables: Sequence[Recompiled] = ()


class LibraryChanges:
    """The part of the catalog that changes views and functions."""

    def _changing(self) -> AbstractContextManager[tuple[Connection, Definitions]]:
        raise NotImplementedError

    def put(self, change: LibraryChange, *, at: datetime) -> View | Function:
        """Add a view or function, or replace the one with its id, with all that uses it."""
        with self._changing() as (connection, definitions):
            if definitions.generation != change.generation + 1:
                raise CommitConflictError("another definition changed at the same time")
            put_within(connection, definitions, change, at=at)
        return change.entry

    def drop_view(self, name: str) -> View:
        """Forget a view that nothing uses."""
        with self._changing() as (connection, definitions):
            view = definitions.view(name)
            _refuse_users(f'the view "{view.name}"', definitions, view.id)
            connection.execute(delete(views).where(views.c.id == view.id))
        return view

    def drop_function(self, name: str) -> Function:
        """Forget a function that nothing uses."""
        with self._changing() as (connection, definitions):
            function = definitions.function(name)
            _refuse_users(f'the function "{function.name}"', definitions, function.id)
            connection.execute(delete(functions).where(functions.c.id == function.id))
        return function


def put_within(
    connection: Connection, definitions: Definitions, change: LibraryChange, *, at: datetime
) -> None:
    """Store a view or function, and all that uses it, inside a change of the catalog."""
    entry = change.entry
    _check_name(definitions, entry)
    known = entry.id in definitions.views or entry.id in definitions.functions
    _write(connection, entry, known=known)
    for user in change.users:
        _write(connection, user, known=True)
    for table in change.tables:
        restate_within(connection, definitions, table, at=at)


def restate_within(
    connection: Connection, definitions: Definitions, item: Recompiled, *, at: datetime
) -> StreamTable:
    """Store a table as it must be, inside a change of the catalog."""
    why = (item.reason, item.stored_hash)
    return alter_within(
        connection,
        definitions,
        item.table_id,
        item.changes,
        item.inputs,
        at=at,
        internal=item.internal,
        why=why,
    )


def _check_name(definitions: Definitions, entry: View | Function) -> None:
    check_name(entry.name)
    if isinstance(entry, View):
        refuse_taken_name(definitions, entry.name, but=entry.id)
        return
    taken = definitions.function_named(entry.name)
    if taken is not None and taken.id != entry.id:
        raise AlreadyExistsError(f'there is a function "{taken.name}" already')


def _refuse_users(shown: str, definitions: Definitions, used: InputId) -> None:
    users = definitions.users(used)
    if users:
        listed = ", ".join(f'{_kind(user)} "{user.name}"' for user in users)
        raise InUseError(f"{shown} is used by {listed}", hint="Drop or alter these first.")


def _kind(user: StreamTable | View | Function) -> str:
    if isinstance(user, StreamTable):
        return "stream table"
    return "view" if isinstance(user, View) else "function"


def _write(connection: Connection, entry: View | Function, *, known: bool) -> None:
    table: Table = views if isinstance(entry, View) else functions
    row = {field.name: getattr(entry, field.name) for field in dataclasses.fields(entry)}
    row["name_key"] = name_key(entry.name)
    if known:
        connection.execute(update(table).where(table.c.id == entry.id).values(row))
    else:
        connection.execute(insert(table), [row])
