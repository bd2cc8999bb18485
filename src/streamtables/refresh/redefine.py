"""What becomes of everything that uses a view or function when that is added or replaced.

Nothing is stored before all of it compiles.
"""

from __future__ import annotations

from dataclasses import replace

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.library_changes import LibraryChange, Recompiled
from streamtables.catalog.models import Column, Function, StreamTable, View
from streamtables.compiler.frontend.calls import check_function
from streamtables.compiler.library import SqlFunction
from streamtables.errors import InUseError, UserError
from streamtables.positions import InputId
from streamtables.refresh.define import altered_query, analysed, compiled, inputs_of
from streamtables.refresh.library import entry_of, library_of, uses_of


def redefined(entry: View | Function, definitions: Definitions) -> LibraryChange:
    """Compile a new or replaced entry, and all that uses the one that it replaces."""
    after = _with(entry, definitions)
    entry = _with_uses(entry, after)
    users: list[View | Function] = []
    tables: list[Recompiled] = []
    for user in definitions.users(entry.id):
        try:
            if isinstance(user, StreamTable):
                tables.append(_recompiled(user, after))
            else:
                users.append(_with_uses(user, after))
        except UserError as error:
            raise _refused(entry, user, error) from error
    _check_dependants(entry, tables, after)
    return LibraryChange(entry, definitions.generation, users, tables)


def _with(entry: View | Function, definitions: Definitions) -> Definitions:
    if isinstance(entry, View):
        return replace(definitions, views={**definitions.views, entry.id: entry})
    return replace(definitions, functions={**definitions.functions, entry.id: entry})


def _with_uses(entry: View | Function, definitions: Definitions) -> View | Function:
    """Compile an entry alone, and return it with all that it reaches."""
    if isinstance(entry, View):
        plan = analysed(entry.query, definitions, name=entry.name)
        tables = [item.id for item in inputs_of(plan, definitions)]
        uses = [*uses_of(plan.used, definitions), *tables]
        return replace(entry, uses=tuple(sorted(uses)))
    function = entry_of(entry)
    if not isinstance(function, SqlFunction):
        return entry
    called = check_function(function, library_of(definitions))
    return replace(entry, uses=uses_of(called, definitions))


def _recompiled(table: StreamTable, definitions: Definitions) -> Recompiled:
    plan = compiled(table.query, definitions, mode=table.mode, name=table.name)
    changes = altered_query(table.query, plan, definitions)
    return Recompiled(table.id, changes, inputs_of(plan, definitions))


def _check_dependants(
    entry: View | Function, tables: list[Recompiled], definitions: Definitions
) -> None:
    """Compile what reads the recompiled tables, over the columns that they will have."""
    known = dict(definitions.stream_tables)
    for item in tables:
        known[item.table_id] = replace(known[item.table_id], **item.changes)
    after = replace(definitions, stream_tables=known)
    done: set[InputId] = {item.table_id for item in tables}
    for item in tables:
        if _columns(known[item.table_id]) == _columns(definitions.stream_tables[item.table_id]):
            continue
        for reader in after.dependants(item.table_id):
            if reader.id in done:
                continue
            done.add(reader.id)
            try:
                compiled(reader.query, after, mode=reader.mode, name=reader.name)
            except UserError as error:
                raise _refused(entry, reader, error) from error


def _columns(table: StreamTable) -> list[tuple[str, str]]:
    return [_column(column) for column in table.columns]


def _column(column: Column) -> tuple[str, str]:
    return column.name.lower(), column.type


def _refused(
    entry: View | Function, user: StreamTable | View | Function, error: UserError
) -> InUseError:
    kinds = {StreamTable: "stream table", View: "view", Function: "function"}
    kind = "view" if isinstance(entry, View) else "function"
    return InUseError(
        f'the {kind} "{entry.name}" cannot become this: '
        f'the {kinds[type(user)]} "{user.name}" would no longer compile',
        detail=f"{error.code}: {error.message}.",
        hint=error.hint or f'Change "{user.name}" first.',
    )
