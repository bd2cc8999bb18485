"""Which PostgreSQL type a column of a stream table has in its target."""

from __future__ import annotations

import pyarrow as pa
from psycopg.types.json import Jsonb

from streamtables.errors import TargetRefusedError
from streamtables.publish.messages import plain

_PLAIN = {
    pa.bool_(): "boolean",
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.string(): "text",
    pa.binary(): "bytea",
    pa.date32(): "date",
}


def postgres_type(name: str, kind: pa.DataType) -> str:
    """Return the type of a column, or refuse one that PostgreSQL has no form for."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "timestamp with time zone"
    if is_nested(kind):
        return "jsonb"
    raise TargetRefusedError(
        f'column "{name}" has the type {kind}, which has no form in PostgreSQL',
        hint="Cast it in the query of the stream table.",
    )


def is_nested(kind: pa.DataType) -> bool:
    """Whether values of a type go as JSON."""
    return bool(pa.types.is_nested(kind))


def value_for(value: object, kind: pa.DataType) -> object:
    """Return a value as the driver takes it."""
    return Jsonb(plain(value)) if value is not None and is_nested(kind) else value
