"""The internal tables of a stream table: groups below other operators, stored apart.

Who sets the option `store_groups` of a table has them kept.  An internal table is a stream table
with an owner: it is defined, refreshed and dropped with it, and nobody else reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Column, Input, InputKind, Source, StreamTable, new_id
from streamtables.compiler import Plan, compile_query
from streamtables.compiler.maintenance.groups_apart import GroupsApart, groups_apart
from streamtables.compiler.schema import Schema
from streamtables.refresh.plans import query_hash, schema_of

STORE_GROUPS = "store_groups"
"""The option of a table that has groups below other operators stored apart."""
FOLLOWED = ("auto", "differential")
"""The modes in which changes are followed, so that stored groups are of use."""
_NAME_CHARACTERS = 40

Internal = tuple[StreamTable, tuple[Input, ...]]


@dataclass(frozen=True)
class Parts:
    """What a stream table reads, and the internal tables among it."""

    inputs: tuple[Input, ...]
    internal: tuple[Internal, ...] = ()


def parts_of(table: StreamTable, plan: Plan, definitions: Definitions) -> Parts:
    """Return the inputs and the internal tables of a definition; those that stay keep their id."""
    inputs = inputs_of(plan, definitions)
    kept = {item.query: item for item in definitions.internal_tables(table.id)}
    internal = tuple(
        _internal(place, apart, table, definitions, kept)
        for place, apart in enumerate(stored_apart(table, plan, definitions), start=1)
    )
    read = (
        Input(item.id, "stream-table", tuple(column.name for column in item.columns))
        for item, _ in internal
    )
    return Parts((*inputs, *read), internal)


def stored_apart(
    table: StreamTable, plan: Plan, definitions: Definitions
) -> tuple[GroupsApart, ...]:
    """Return the groups of a query that are stored apart; nothing where nobody asks for it."""
    asked = table.options.get(STORE_GROUPS) and table.mode in FOLLOWED
    if not asked or not plan.incremental or plan.python_functions:
        return ()
    schema = schema_of(definitions)
    found = {a.sql: a for a in groups_apart(plan.definition) if _is_kept_alone(a, schema)}
    over = replace(plan, apart={sql: f"__st_{place}" for place, sql in enumerate(found)})
    # What a full refresh stores has to be what changes lead on from.
    return tuple(found.values()) if over.maintenance.layout == plan.maintenance.layout else ()


def inputs_of(plan: Plan, definitions: Definitions) -> tuple[Input, ...]:
    """Return what a plan reads, as edges of the graph."""
    found = []
    for name in plan.tables:
        entry = definitions.named(name)
        assert isinstance(entry, Source | StreamTable)
        kind: InputKind = "stream-table" if isinstance(entry, StreamTable) else "source"
        every = tuple(c.name for c in entry.columns if not c.name.startswith("__st_"))
        columns = plan.columns_read.get(name, every if plan.root is None else ())
        found.append(Input(entry.id, kind, columns))
    return tuple(found)


def _is_kept_alone(apart: GroupsApart, schema: Schema) -> bool:
    """Whether the query of some groups, read anew, gives the same columns by stored state."""
    plan = compile_query(apart.sql, schema)
    names = zip(apart.names, apart.node.columns, strict=True)
    same = plan.output == tuple((name, column.type) for name, column in names)
    return plan.incremental and same and plan.maintenance.form == "stored-state"


def _internal(
    place: int,
    apart: GroupsApart,
    owner: StreamTable,
    definitions: Definitions,
    kept: Mapping[str, StreamTable],
) -> Internal:
    last = kept.get(apart.sql)
    if last is not None:
        return _like(last, owner), last.inputs
    plan = compile_query(apart.sql, schema_of(definitions))
    table_id = new_id()
    namespace, dot, name = owner.name.rpartition(".")
    made = StreamTable(
        id=table_id,
        name=f"{namespace}{dot}__st_{name[:_NAME_CHARACTERS]}_{owner.id[:8]}_{place}",
        query=apart.sql,
        defining_query_hash=query_hash(apart.sql),
        location=f"{owner.location}-groups-{table_id[:8]}",
        columns=tuple(Column(shown, type_) for shown, type_ in plan.output),
        created_at=owner.altered_at,
        altered_at=owner.altered_at,
        key_columns=tuple(plan.key) if plan.key is not None else None,
        owner_id=owner.id,
    )
    return _like(made, owner), inputs_of(plan, definitions)


def _like(table: StreamTable, owner: StreamTable) -> StreamTable:
    """Return an internal table with what is chosen for its owner."""
    return replace(table, mode=owner.mode, full_policy=owner.full_policy, tier=owner.tier)
