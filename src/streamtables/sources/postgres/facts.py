"""What a PostgreSQL server says about a table: its columns, its identity, its partitions."""

from __future__ import annotations

from collections.abc import Mapping
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
    attached: int = 0
    """Another number after it was detached and attached again."""
    wording: int = 0
    kind: str = "r"


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
    wording: int = 0
    """Another number after what the catalog says of its columns was written anew, as each ALTER of
    a column does."""
    parents: tuple[int, ...] = ()
    """What it is a partition or a child of: statements on those write to it too."""

    @property
    def shown(self) -> str:
        """The name as a person writes it."""
        return f"{self.schema}.{self.name}"

    @property
    def relations(self) -> list[int]:
        """The oids of the table and of its partitions."""
        return [self.oid, *(partition.oid for partition in self.partitions)]

    @property
    def identifier(self) -> sql.Identifier:
        """The quoted name, for statements."""
        return sql.Identifier(self.schema, self.name)

    def column(self, name: str) -> PgColumn:
        """Return a column by its exact name."""
        return next(column for column in self.columns if column.name == name)


# Which transaction wrote the rows of the catalog, also after they were frozen.
_WORDING = """
    (SELECT bit_xor(hashint8extended(a.attnum, a.xmin::text::int8))
     FROM pg_catalog.pg_attribute a WHERE a.attrelid = {0} AND a.attnum > 0)
    # (SELECT COALESCE(bit_xor(hashint8extended(d.oid::int8, d.xmin::text::int8)), 0)
       FROM pg_catalog.pg_attrdef d WHERE d.adrelid = {0})"""
_ATTACHED = """
    (SELECT bit_xor(hashint8extended(h.inhparent::int8, h.xmin::text::int8))
     FROM pg_catalog.pg_inherits h WHERE h.inhrelid = p.oid)"""

# Domains are followed to their base type; their modifier counts when the column has none.
DESCRIBED = f"""
SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS name, c.relkind::text AS kind,
       c.relpersistence::text AS persistence, c.relfilenode::int8 AS filenode,
       c.relreplident::text AS identity,
       ARRAY(SELECT jsonb_build_array(i.indisprimary, i.indisreplident, i.indimmediate,
                 ARRAY(SELECT a.attname::text
                       FROM unnest(i.indkey[0 : i.indnkeyatts - 1])
                            WITH ORDINALITY AS k(number, place)
                       JOIN pg_catalog.pg_attribute a
                         ON a.attrelid = i.indrelid AND a.attnum = k.number
                       ORDER BY k.place))
             FROM pg_catalog.pg_index i
             WHERE i.indrelid = c.oid AND (i.indisprimary OR i.indisreplident)) AS indexes,
       ARRAY(WITH RECURSIVE below AS (
                 SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = c.oid
                 UNION
                 SELECT i.inhrelid FROM pg_catalog.pg_inherits i
                 JOIN below b ON i.inhparent = b.inhrelid
             )
             SELECT jsonb_build_array(p.oid::int8, s.nspname, p.relname, p.relfilenode::int8,
                 {_ATTACHED}, {_WORDING.format("p.oid")}, p.relkind::text)
             FROM below JOIN pg_catalog.pg_class p ON p.oid = below.inhrelid
             JOIN pg_catalog.pg_namespace s ON s.oid = p.relnamespace
             ORDER BY p.oid) AS partitions,
       ARRAY(WITH RECURSIVE resolved AS (
                 SELECT a.attnum, a.atttypid AS type, a.atttypmod AS modifier
                 FROM pg_catalog.pg_attribute a
                 WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                 UNION ALL
                 SELECT r.attnum, t.typbasetype,
                        CASE WHEN r.modifier = -1 THEN t.typtypmod ELSE r.modifier END
                 FROM resolved r JOIN pg_catalog.pg_type t ON t.oid = r.type WHERE t.typtype = 'd'
             )
             SELECT jsonb_build_array(
                 a.attname, a.attnum::int4, a.attnotnull, a.attgenerated <> '',
                 t.oid::int8, t.typname, t.typtype::text, r.modifier::int4,
                 pg_catalog.format_type(t.oid, r.modifier),
                 e.oid::int8, e.typname, e.typtype::text,
                 pg_catalog.format_type(e.oid, r.modifier))
             FROM pg_catalog.pg_attribute a
             JOIN resolved r ON r.attnum = a.attnum
             JOIN pg_catalog.pg_type t ON t.oid = r.type AND t.typtype <> 'd'
             LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
             ORDER BY a.attnum) AS columns,
       {_WORDING.format("c.oid")} AS wording,
       ARRAY(SELECT h.inhparent::int8 FROM pg_catalog.pg_inherits h WHERE h.inhrelid = c.oid
             ORDER BY 1) AS parents
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = ANY (%(oids)s::oid[])
"""
"""All that is said about some tables, in one statement."""


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
    statement = f"SELECT to_jsonb(d) FROM ({DESCRIBED}) AS d"
    row = connection.execute(statement, {"oids": [oid]}).fetchone()
    return None if row is None else table_of(row[0])


def wholes_of(connection: Connection[Any], table: PgTable) -> frozenset[int]:
    """Return the partitioned tables that a table is a part of, at any depth."""
    rows = connection.execute(
        "SELECT relid::oid::int8 FROM pg_catalog.pg_partition_ancestors(%s::oid::regclass)",
        (table.oid,),
    ).fetchall()
    return frozenset(int(oid) for (oid,) in rows) - {table.oid}


def table_of(said: Mapping[str, Any]) -> PgTable:
    """Return a table from one row of `DESCRIBED`, as JSON."""
    primary: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    immediate = True
    for is_primary, is_identity, is_immediate, columns in said["indexes"]:
        if is_primary:
            primary, immediate = tuple(columns), bool(is_immediate)
        if is_identity:
            named = tuple(columns)
    identity = said["identity"]
    # A deferrable key may be doubled for a while, so the WAL does not name rows by it.
    by_key = primary if identity == "d" and immediate else ()
    return PgTable(
        oid=said["oid"],
        schema=said["schema"],
        name=said["name"],
        kind=said["kind"],
        persistence=said["persistence"],
        filenode=said["filenode"],
        identity=identity,
        identity_columns=named if identity == "i" else by_key,
        primary_key=primary,
        columns=tuple(_column(*fields) for fields in said["columns"]),
        partitions=tuple(PgPartition(*fields) for fields in said["partitions"]),
        # A table without columns has none.
        wording=said["wording"] or 0,
        parents=tuple(said["parents"]),
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
