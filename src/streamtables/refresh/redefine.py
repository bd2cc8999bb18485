"""What becomes of everything that uses a view or function when that is added or replaced.

Nothing is stored before all of it compiles.  Tables whose rows mean the same stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from streamtables.catalog.definitions import CatalogSnapshot, Definitions
from streamtables.catalog.library_changes import LibraryChange, Recompiled
from streamtables.catalog.models import Function, StreamTable, View
from streamtables.compiler.frontend.calls import check_function
from streamtables.compiler.library import SqlFunction
from streamtables.errors import InUseError, UserError
from streamtables.positions import InputId
from streamtables.refresh.altering.effect import effect_of
from streamtables.refresh.altering.readers import CarryOver, plan_before, with_table
from streamtables.refresh.define import altered_query, analysed, compiled, was_read
from streamtables.refresh.internal_tables import inputs_of, parts_of
from streamtables.refresh.library import entry_of, library_of, uses_of


def redefined(
    entry: View | Function, definitions: Definitions, spared: Collection[InputId] = ()
) -> LibraryChange:
    """Compile a new or replaced entry, and all that uses the one that it replaces.

    What is spared is altered or dropped later in the same step, and answers for all that uses it.
    """
    after = _with(entry, definitions)
    entry = _with_uses(entry, after)
    users: list[View | Function] = []
    tables: list[Recompiled] = []
    for user in definitions.users(entry.id):
        if any(item in spared for item in (user.id, *user.uses)):
            continue
        try:
            if isinstance(user, StreamTable):
                tables.append(_recompiled(user, definitions, after))
            else:
                users.append(_with_uses(user, after))
        except UserError as error:
            raise _refused(entry, user, error) from error
    tables += _carried_over(entry, tables, (definitions, after), spared)
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


def _recompiled(table: StreamTable, before: Definitions, after: Definitions) -> Recompiled:
    plan = compiled(table.query, after, mode=table.mode, name=table.name, spark_reads=was_read)
    changes = altered_query(table.query, plan, after)
    old = plan_before(table, CatalogSnapshot(before, {}))
    if effect_of(old, plan, filled=True).kind == "nothing":
        changes["defining_query_hash"] = table.defining_query_hash
        changes["columns"] = table.columns
    parts = parts_of(replace(table, **changes), plan, after)
    return Recompiled(table.id, changes, parts.inputs, internal=parts.internal)


def _carried_over(
    entry: View | Function,
    tables: list[Recompiled],
    moved: tuple[Definitions, Definitions],
    spared: Collection[InputId],
) -> list[Recompiled]:
    """Take along what reads the recompiled tables, over the columns that they will have."""
    before, after = moved
    for item in tables:
        table = replace(after.stream_tables[item.table_id], **item.changes, inputs=item.inputs)
        after = with_table(after, table)
    done = {item.table_id for item in tables}
    over = CarryOver(CatalogSnapshot(before, {}), after, done.union(spared))
    for item in tables:
        over.run(item.table_id)
    for reader, error in over.broken:
        raise _refused(entry, reader, error) from error
    return [item.restated for item in over.carried]


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
