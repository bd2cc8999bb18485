"""What a PostgreSQL server says about a table: its columns, its identity, its partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql

from streamtables.errors import SourceUnusableError


@dataclass(frozen=True)
class PgType:
    """A type, with domains resolved to what they stand on.

    `name` is the name in `pg_type` of the base type (`int4`, `numeric`, `my_enum`), `shown` what a
    person would write (`numeric(10,2)`), `modifier` the raw `atttypmod` (−1 without one).
    """

    oid: int
    name: str
    shown: str
    kind: str
    modifier: int = -1
    element: PgType | None = None
    """Of an array: the type of its elements."""


@dataclass(frozen=True)
class PgColumn:
    """A column of a table; `generated` ones are computed by the server."""

    name: str
    type: PgType
    number: int
    not_null: bool = False
    generated: bool = False


@dataclass(frozen=True)
class PgPartition:
    """A partition, or a child by inheritance, at any depth."""

    oid: int
    schema: str
    name: str
    filenode: int


@dataclass(frozen=True)
class PgTable:
    """A table as the server describes it at one moment."""

    oid: int
    schema: str
    name: str
    kind: str
    """`r` a table, `p` a partitioned one; see `pg_class.relkind`."""
    persistence: str
    filenode: int
    identity: str
    """`d` the primary key, `i` an index, `f` the whole row, `n` nothing."""
    identity_columns: tuple[str, ...]
    """The columns that the WAL names an old row by; empty for `f`, `n` and a missing key."""
    primary_key: tuple[str, ...]
    columns: tuple[PgColumn, ...]
    partitions: tuple[PgPartition, ...] = ()

    @property
    def shown(self) -> str:
        """The name as a person writes it."""
        return f"{self.schema}.{self.name}"

    @property
    def identifier(self) -> sql.Identifier:
        """The quoted name, for statements."""
        return sql.Identifier(self.schema, self.name)

    def column(self, name: str) -> PgColumn:
        """Return a column by its exact name."""
        return next(column for column in self.columns if column.name == name)


_TABLE = """
SELECT c.oid::int8, n.nspname, c.relname, c.relkind::text, c.relpersistence::text,
       c.relfilenode::int8, c.relreplident::text
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = %s
"""

# Domains are followed to their base type; their modifier counts when the column has none.
_COLUMNS = """
WITH RECURSIVE resolved AS (
    SELECT a.attnum, a.atttypid AS type, a.atttypmod AS modifier
    FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = %(oid)s AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    SELECT r.attnum, t.typbasetype,
           CASE WHEN r.modifier = -1 THEN t.typtypmod ELSE r.modifier END
    FROM resolved r JOIN pg_catalog.pg_type t ON t.oid = r.type WHERE t.typtype = 'd'
)
SELECT a.attname, a.attnum::int4, a.attnotnull, a.attgenerated <> '' AS generated,
       t.oid::int8 AS type_oid, t.typname, t.typtype::text AS kind, r.modifier::int4 AS modifier,
       pg_catalog.format_type(t.oid, r.modifier) AS shown,
       e.oid::int8 AS element_oid, e.typname AS element_name, e.typtype::text AS element_kind,
       pg_catalog.format_type(e.oid, r.modifier) AS element_shown
FROM pg_catalog.pg_attribute a
JOIN resolved r ON r.attnum = a.attnum
JOIN pg_catalog.pg_type t ON t.oid = r.type AND t.typtype <> 'd'
LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
WHERE a.attrelid = %(oid)s AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""

_INDEX_COLUMNS = """
SELECT i.indisprimary, i.indisreplident, i.indimmediate,
       ARRAY(SELECT a.attname::text
             FROM unnest(i.indkey[0 : i.indnkeyatts - 1]) WITH ORDINALITY AS k(number, place)
             JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
             ORDER BY k.place)
FROM pg_catalog.pg_index i
WHERE i.indrelid = %s AND (i.indisprimary OR i.indisreplident)
"""

_PARTITIONS = """
WITH RECURSIVE below AS (
    SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = %s
    UNION
    SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN below b ON i.inhparent = b.inhrelid
)
SELECT c.oid::int8, n.nspname, c.relname, c.relfilenode::int8
FROM below JOIN pg_catalog.pg_class c ON c.oid = below.inhrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
ORDER BY c.oid
"""


def find_table(connection: Connection[Any], name: str) -> int:
    """Return the oid of a table by its name, with or without its schema.

    Raises:
        SourceUnusableError: there is none.
    """
    found = connection.execute(
        "SELECT pg_catalog.to_regclass(%s)::oid::int8", (_quoted(name),)
    ).fetchone()
    if found is None or found[0] is None:
        raise SourceUnusableError(
            f'there is no table "{name}" in the PostgreSQL database',
            hint="Name it as schema.table; names with capitals keep them.",
        )
    return int(found[0])


def describe_table(connection: Connection[Any], oid: int) -> PgTable | None:
    """Return what the server says about a table; None when it is gone."""
    row = connection.execute(_TABLE, (oid,)).fetchone()
    if row is None:
        return None
    primary: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    immediate = True
    for is_primary, is_identity, is_immediate, columns in connection.execute(
        _INDEX_COLUMNS, (oid,)
    ).fetchall():
        if is_primary:
            primary, immediate = tuple(columns), bool(is_immediate)
        if is_identity:
            named = tuple(columns)
    identity = str(row[6])
    # A deferrable key may be doubled for a while, so the WAL does not name rows by it.
    by_key = primary if identity == "d" and immediate else ()
    partitions = connection.execute(_PARTITIONS, (oid,)).fetchall()
    columns = connection.execute(_COLUMNS, {"oid": oid}).fetchall()
    return PgTable(
        oid=int(row[0]),
        schema=row[1],
        name=row[2],
        kind=row[3],
        persistence=row[4],
        filenode=int(row[5]),
        identity=identity,
        identity_columns=named if identity == "i" else by_key,
        primary_key=primary,
        columns=tuple(_column(*fields) for fields in columns),
        partitions=tuple(PgPartition(*fields) for fields in partitions),
    )


def _column(
    name: str,
    number: int,
    not_null: bool,
    generated: bool,
    oid: int,
    type_name: str,
    kind: str,
    modifier: int,
    shown: str,
    element_oid: int | None,
    element_name: str,
    element_kind: str,
    element_shown: str,
) -> PgColumn:
    element = None
    if element_oid is not None:
        element = PgType(element_oid, element_name, element_shown, element_kind, modifier)
    found = PgType(oid, type_name, shown, kind, modifier, element)
    return PgColumn(name, found, number, not_null=not_null, generated=generated)


def _quoted(name: str) -> str:
    """Return a name as `to_regclass` takes it; a quoted one is left as it is."""
    if '"' in name:
        return name
    return ".".join('"' + part + '"' for part in name.split("."))
