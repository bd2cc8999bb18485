"""Arrow types that Spark's reader, and a Delta table's schema, can take."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from streamtables.engine.outcomes import NotSmall

_UNSIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.int64(),
}


def for_spark(table: pa.Table) -> pa.Table:
    """Return the rows with types that `createDataFrame` reads: no views, no dictionaries."""
    schema = pa.schema([pa.field(f.name, spark_type(f.type)) for f in table.schema])
    return _cast(table, schema)


def for_delta(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the columns of `schema`, in its order and types; a value that does not fit fails."""
    return _cast(table.select(schema.names), schema)


def spark_type(kind: pa.DataType) -> pa.DataType:
    """Return the Arrow type that carries the same values into Spark."""
    if pa.types.is_dictionary(kind):
        return spark_type(kind.value_type)
    if pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_binary_view(kind) or pa.types.is_large_binary(kind):
        return pa.binary()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if kind in _UNSIGNED:
        return _UNSIGNED[kind]
    return _nested(kind)


def _nested(kind: pa.DataType) -> pa.DataType:
    def inner(field: pa.Field) -> pa.Field:
        return field.with_type(spark_type(field.type))

    builders: list[tuple[Callable[[pa.DataType], bool], Callable[[], pa.DataType]]] = [
        (pa.types.is_struct, lambda: pa.struct([inner(kind.field(i)) for i in range(len(kind))])),
        (pa.types.is_map, lambda: pa.map_(spark_type(kind.key_type), inner(kind.item_field))),
        (_is_any_list, lambda: pa.list_(inner(kind.value_field))),
    ]
    return next((build() for test, build in builders if test(kind)), kind)


def _is_any_list(kind: pa.DataType) -> bool:
    tests = (
        pa.types.is_list,
        pa.types.is_large_list,
        pa.types.is_fixed_size_list,
        pa.types.is_list_view,
        pa.types.is_large_list_view,
    )
    return any(test(kind) for test in tests)


def _cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    if table.schema.equals(schema):
        return table
    try:
        return table.cast(schema)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, ValueError) as error:
        raise NotSmall(f"Arrow cannot carry these rows: {error}") from error
