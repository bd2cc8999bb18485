"""Read all definitions with one statement.

One statement sees one state of the database and costs one round trip.  Sources, stream tables,
views, functions and edges come as one union: each part has the columns of all, NULL where it has
none.
"""

from __future__ import annotations

from dataclasses import fields
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Row, Select, Table, cast, literal, null, select, union_all

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Function, Input, Source, StreamTable, View
from streamtables.catalog.schema import (
    catalog_meta,
    dependencies,
    functions,
    sources,
    stream_tables,
    views,
)
from streamtables.positions import InputId

_PARTS = (sources, stream_tables, views, functions, dependencies)
_TYPES = {column.name: column.type for table in _PARTS for column in table.columns}
_SOURCE_FIELDS = tuple(field.name for field in fields(Source))
_VIEW_FIELDS = tuple(field.name for field in fields(View))
_FUNCTION_FIELDS = tuple(field.name for field in fields(Function))
_TABLE_FIELDS = tuple(field.name for field in fields(StreamTable) if field.name != "inputs")


def _part(table: Table) -> Select[Any]:
    columns = (
        table.c[name] if name in table.c else cast(null(), kind).label(name)
        for name, kind in _TYPES.items()
    )
    return select(literal(table.name).label("part"), *columns)


def _meta() -> Select[Any]:
    columns = (
        catalog_meta.c.generation if name == "generation" else cast(null(), kind).label(name)
        for name, kind in _TYPES.items()
    )
    return select(literal(catalog_meta.name).label("part"), *columns)


_ALL = union_all(_meta(), *(_part(table) for table in _PARTS))


def load_definitions(connection: Connection) -> Definitions:
    """Return all definitions and the generation they belong to."""
    parts: dict[str, list[Row[Any]]] = {table.name: [] for table in (catalog_meta, *_PARTS)}
    for row in connection.execute(_ALL):
        parts[row.part].append(row)
    inputs: dict[str, list[Input]] = {}
    for row in sorted(parts[dependencies.name], key=_input_id):
        edge = Input(InputId(row.input_id), row.input_kind, row.columns_read)
        inputs.setdefault(row.stream_table_id, []).append(edge)
    tables = [
        StreamTable(**_picked(row, _TABLE_FIELDS), inputs=tuple(inputs.get(row.id, ())))
        for row in parts[stream_tables.name]
    ]
    found = [Source(**_picked(row, _SOURCE_FIELDS)) for row in parts[sources.name]]
    read = [View(**_picked(row, _VIEW_FIELDS)) for row in parts[views.name]]
    called = [Function(**_picked(row, _FUNCTION_FIELDS)) for row in parts[functions.name]]
    return Definitions(
        generation=parts[catalog_meta.name][0].generation,
        sources=MappingProxyType({source.id: source for source in sorted(found, key=_name)}),
        stream_tables=MappingProxyType({table.id: table for table in sorted(tables, key=_name)}),
        views=MappingProxyType({view.id: view for view in sorted(read, key=_name)}),
        functions=MappingProxyType({item.id: item for item in sorted(called, key=_name)}),
    )


def _picked(row: Row[Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row._mapping[name] for name in names}


def _name(entry: Source | StreamTable | View | Function) -> str:
    return entry.name


def _input_id(row: Row[Any]) -> str:
    return str(row.input_id)
