"""The tables that a query may read: their columns, types and declared keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamtables.compiler.types import SqlType, normal_type
from streamtables.errors import ConfigError


@dataclass(frozen=True)
class Table:
    """A table as a query sees it.  A declared key helps to locate rows; nothing trusts it."""

    name: str
    columns: tuple[tuple[str, SqlType], ...]
    key: tuple[str, ...] | None = None

    @classmethod
    def of(cls, name: str, columns: Mapping[str, str], key: Sequence[str] | None = None) -> Table:
        """Build a table from plain names and types, and check that its key exists."""
        known = {column.lower() for column in columns}
        for column in key or ():
            if column.lower() not in known:
                raise ConfigError(
                    f'key column "{column}" is not a column of table "{name}"',
                    hint="Name columns of the table, or leave the key out.",
                )
        typed = tuple((column, normal_type(type_)) for column, type_ in columns.items())
        return cls(name, typed, tuple(key) if key else None)


Schema = Mapping[str, Table]


def build_schema(
    tables: Mapping[str, Mapping[str, str]], keys: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Table]:
    """Build the schema from the plain form that the public `compile` takes."""
    for name in keys or {}:
        if name not in tables:
            raise ConfigError(f'a key is given for the unknown table "{name}"')
    return {name: Table.of(name, cols, (keys or {}).get(name)) for name, cols in tables.items()}
