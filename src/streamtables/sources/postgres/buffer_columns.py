"""The columns of a source as its change buffer stores them, and when a value counts as another."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql

from streamtables.engine.names import RESERVED_PREFIX
from streamtables.sources.postgres.server import SCHEMA

# For these, values that are equal are also the same to a reader.  Not so 1.0 and 1.00, the two
# zeros of floating point, `1 day` and `24 hours`, or circles of one size.
_EQUAL_IS_SAME = frozenset(
    ("bool", "int2", "int4", "int8", "oid", "uuid", "bytea", "char", "date", "time")
) | {"timestamp", "timestamptz"}
_TEXTS = frozenset(("text", "varchar"))


@dataclass(frozen=True)
class BufferColumn:
    """A column of the source as the buffer stores it.

    Types outside `pg_catalog` are stored as text: a buffer that used them would keep their owner
    from dropping them, and their operators are not ours to run.
    """

    name: str
    type_name: str
    own_type: bool = False
    aligned: int = 0
    """Values of the type begin at a multiple of so many bytes; 0 where they have many lengths."""
    expression: str = ""
    """What a virtual column is computed by; transition tables do not hold its value."""

    @property
    def identifier(self) -> sql.Identifier:
        """The quoted name."""
        return sql.Identifier(self.name)

    @property
    def stored(self) -> sql.Composable:
        """The type in the buffer, without length or scale, so that those may be altered."""
        return sql.Identifier("pg_catalog", "text" if self.own_type else self.type_name)

    @property
    def value(self) -> sql.Composable:
        """What to store, from a row `t` of a transition table."""
        if self.expression:
            # The server's own words; it allows nothing but its own functions in them.
            return sql.SQL("({})").format(sql.SQL(self.expression))
        if self.own_type:
            # The output function, not a cast, which may be anyone's. A row of NULLs is not NULL.
            return sql.SQL(
                "CASE WHEN t.{0} IS DISTINCT FROM NULL THEN format('%s', t.{0}) END"
            ).format(self.identifier)
        return sql.SQL("t.{}").format(self.identifier)

    @property
    def differs(self) -> sql.Composable:
        """Whether the value in row `o` is another than in row `n`."""
        if self.own_type or self.type_name in _TEXTS:
            shape = 'o.{0} COLLATE "C" IS DISTINCT FROM n.{0} COLLATE "C"'
        elif self.type_name in _EQUAL_IS_SAME:
            shape = "o.{0} IS DISTINCT FROM n.{0}"
        elif self.type_name == "numeric":
            shape = "o.{0} IS DISTINCT FROM n.{0} OR scale(o.{0}) <> scale(n.{0})"
        elif self.type_name in ("float4", "float8"):
            shape = "o.{0} IS DISTINCT FROM n.{0} OR (o.{0} = 0 AND o.{0}::text <> n.{0}::text)"
        else:
            shape = "record_image_ne(ROW(o.{0}), ROW(n.{0}))"
        return sql.SQL(shape).format(self.identifier)


@dataclass(frozen=True)
class Captured:
    """A source that triggers capture: its tag, which all our objects carry, and its columns."""

    tag: str
    source: int
    columns: tuple[BufferColumn, ...]
    key: tuple[str, ...] = ()
    """The primary key; empty without one."""
    moves: bool = False
    """Whether rows may move between partitions by what statements do not tell."""

    @property
    def buffer(self) -> sql.Identifier:
        """The table that holds the changes."""
        return buffer_name(self.tag)

    @property
    def numbers(self) -> sql.Identifier:
        """The sequence that numbers the changes."""
        return sql.Identifier(SCHEMA, f"numbers_{self.tag}")

    @property
    def computes(self) -> bool:
        """Whether there are columns that the server computes when they are read."""
        return any(column.expression for column in self.columns)

    def function(self, event: str) -> sql.Identifier:
        """Return the function that an event calls."""
        return sql.Identifier(SCHEMA, f"{event}_{self.tag}")

    def trigger(self, event: str) -> sql.Identifier:
        """Return a trigger; they fire in the order of their names, and ours before most."""
        return sql.Identifier(trigger_name(self.tag, event))


def buffer_name(tag: str) -> sql.Identifier:
    """Return the table that holds the changes of a source."""
    return sql.Identifier(SCHEMA, f"changes_{tag}")


def trigger_name(tag: str, event: str) -> str:
    """Return what a trigger of ours is called."""
    return f"{RESERVED_PREFIX}{tag}_{event}"
