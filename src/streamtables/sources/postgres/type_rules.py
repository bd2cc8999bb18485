"""Which type a column of PostgreSQL has in its mirror.

A type is carried as itself where Spark has the same values, and as the server prints it where the
print is exact and always the same.  Everything else is refused: a value that is nearly right is
wrong.
"""

from __future__ import annotations

import re
from typing import LiteralString

import pyarrow as pa

from streamtables.sources.postgres.facts import PgType

_SAME = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "oid": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "bytea": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
}
_PRINTED = frozenset(
    {
        *("text", "varchar", "bpchar", "name", "char", "citext", "xml", "json", "jsonb", "uuid"),
        *("time", "timetz", "interval", "inet", "cidr", "macaddr", "macaddr8", "bit", "varbit"),
        *("tsvector", "point", "line", "lseg", "box", "path", "polygon", "circle"),
    }
)
# Enums, ranges, multiranges.
_PRINTED_KINDS = frozenset("erm")
# Printed without braces, unlike all other arrays.
_VECTORS = frozenset(("int2vector", "oidvector"))
# Types with values that the mirror's own type lacks: numbers too wide, infinite days.
_STRING_INSTEAD = frozenset(("numeric", "date", "timestamp", "timestamptz"))

_MODIFIER_OFFSET = 4
_DIGITS_MAX = 38
# What a numeric without precision becomes.
_UNBOUNDED = pa.decimal128(_DIGITS_MAX, 18)

_DECIMALS = f"decimal(p,s) with s ≤ p ≤ {_DIGITS_MAX}"
_DECIMAL = re.compile(r"decimal\(\s*(\d{1,2})\s*(?:,\s*(\d{1,2})\s*)?\)", re.IGNORECASE)


class Refused(Exception):  # noqa: N818 - it never leaves this package; the caller names the column
    """A type that no mirror has a place for."""

    def __init__(self, reason: str, to: LiteralString = "", override: str = "") -> None:
        super().__init__(reason)
        self.to = to
        """The type to change the column to, if that is the cure."""
        self.override = override
        """An override that the column can have, if there is one."""


def arrow_type(pg: PgType, override: str | None = None) -> pa.DataType:
    """Return the type of a column's mirror; an override of an array is one of its elements.

    Raises:
        Refused: there is none.
    """
    if pg.element is None:
        return _scalar(pg, override)
    if override is not None and override.lower() == "string":
        return pa.string()
    if pg.name in _VECTORS:
        raise Refused("It is not printed as an array is.", to="text")
    try:
        element = _scalar(pg.element, override)
    except Refused as refused:
        raise Refused(str(refused), to=f"{refused.to}[]" if refused.to else "") from None
    return pa.list_(pa.field("element", element))


def _scalar(pg: PgType, override: str | None) -> pa.DataType:
    if pg.kind in _PRINTED_KINDS and override is None:
        return pa.string()
    if pg.kind != "b":
        raise _refused(pg, override)
    if override is not None:
        return _overridden(pg, override)
    if pg.name == "numeric":
        return _decimal(pg)
    if pg.name in _PRINTED:
        return pa.string()
    if pg.name not in _SAME:
        raise _refused(pg, None)
    return _SAME[pg.name]


def _overridden(pg: PgType, override: str) -> pa.DataType:
    if override.lower() == "string" and pg.name in _STRING_INSTEAD:
        return pa.string()
    if pg.name != "numeric":
        raise _refused(pg, override)
    if override.lower() == "double":
        return pa.float64()
    found = _DECIMAL.fullmatch(override.strip())
    if found is None:
        raise _refused(pg, override)
    precision, scale = int(found[1]), int(found[2] or 0)
    if not (1 <= precision <= _DIGITS_MAX and scale <= precision):
        said = f'The override "{override}" is more than Spark has: {_DECIMALS}.'
        raise Refused(said, override="string")
    return pa.decimal128(precision, scale)


def _decimal(pg: PgType) -> pa.DataType:
    if pg.modifier < 0:
        return _UNBOUNDED
    # Above the bits of the scale, of which the eleventh is its sign, stands the precision.
    modifier = pg.modifier - _MODIFIER_OFFSET
    precision, scale = modifier >> 16, ((modifier & 0x7FF) ^ 0x400) - 0x400
    if precision > _DIGITS_MAX or not 0 <= scale <= precision:
        said = f"Give it an override, which can be {_DECIMALS}, double or string."
        raise Refused(said, override="string")
    return pa.decimal128(precision, scale)


def _refused(pg: PgType, override: str | None) -> Refused:
    if override is not None:
        return Refused(
            f'The override "{override}" is not for it: a numeric can be {_DECIMALS}, double or '
            "string; a date, a timestamp or an array can be string."
        )
    if pg.name == "money":
        return Refused("Its text depends on the server's lc_monetary.", to="numeric")
    return Refused("A mirror has no type for it.", to="text")


def spark_name(kind: pa.DataType) -> str:
    """Return how Spark SQL writes the type."""
    if pa.types.is_list(kind):
        return f"ARRAY<{spark_name(kind.value_type)}>"
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    return _SPARK_NAMES[kind]


_SPARK_NAMES = {
    pa.bool_(): "BOOLEAN",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP_NTZ",
    pa.timestamp("us", "UTC"): "TIMESTAMP",
}
