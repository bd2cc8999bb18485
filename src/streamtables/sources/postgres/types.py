"""The columns of a mirror: how values of PostgreSQL become values of Spark, in both ways they come.

Changes come as texts that the server prints (`from_text`), the first copy by JDBC
(`copy_expressions`).  Invariant: both ways give the same value, or both fail.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from psycopg import sql

from streamtables.engine.names import RESERVED_PREFIX
from streamtables.errors import SourceUnusableError
from streamtables.sources.postgres import jdbc_expressions, text_values
from streamtables.sources.postgres.facts import PgColumn, PgTable
from streamtables.sources.postgres.text_bytes import DoesNotFit
from streamtables.sources.postgres.type_rules import Refused, arrow_type, spark_name

_COMPLAINT = re.compile(
    re.escape(jdbc_expressions.RAISED) + r'(the column "(.*?)" has the value .*? cannot hold)', re.S
)

_NOT_IN_DELTA = frozenset(" ,;{}()\n\t=")
"""Allowed only with column mapping, which would leave every commit to Spark."""


class ValueDoesNotFitError(SourceUnusableError):
    """A value of the PostgreSQL table has no place in the mirror's type."""


@dataclass(frozen=True)
class MirrorColumn:
    """A column of a mirror, and the column that it mirrors."""

    name: str
    pg: PgColumn
    spark_type: str
    arrow_type: pa.DataType


def map_columns(
    table: PgTable, overrides: Mapping[str, str] | None = None
) -> tuple[MirrorColumn, ...]:
    """Return the columns of a table's mirror.

    `overrides` gives a column another type than the usual one: `decimal(p,s)`, `double` or
    `string` for a numeric, `string` for a date, a timestamp or an array.

    Raises:
        SourceUnusableError: columns have types or names that a mirror cannot have; names them all.
    """
    given = dict(overrides or {})
    refused = list(_refused_names(table, given))
    cures: list[str] = []
    suggested: list[str] = []
    mapped: list[MirrorColumn] = []
    for column in table.columns:
        try:
            kind = arrow_type(column.type, given.get(column.name))
        except Refused as reason:
            refused.append(f'"{column.name}" has the type {column.type.shown}. {reason}')
            cures += _cure(table, column, reason)
            if reason.override:
                suggested.append(_overridden(column.name, reason.override))
        else:
            mapped.append(MirrorColumn(column.name, column, spark_name(kind), kind))
    if refused:
        raise SourceUnusableError(
            f'the PostgreSQL table "{table.shown}" has columns that cannot be mirrored',
            detail="\n".join(refused),
            hint=" ".join([_first_hint(suggested), *cures]),
        )
    return tuple(mapped)


def _first_hint(suggested: Sequence[str]) -> str:
    if not suggested:
        return "Change the columns on the server."
    return f"Add the table with {'; '.join(suggested)}; or change the columns on the server."


def _cure(table: PgTable, column: PgColumn, refused: Refused) -> Iterator[str]:
    """Give the statement that makes a column one that can be mirrored."""
    if refused.to:
        change = sql.SQL("ALTER TABLE {} ALTER COLUMN {} TYPE {} USING {}::{};")
        name, to = sql.Identifier(column.name), sql.SQL(refused.to)
        yield change.format(table.identifier, name, to, name, to).as_string(None)


def _refused_names(table: PgTable, overrides: Mapping[str, str]) -> Iterator[str]:
    names = [column.name for column in table.columns]
    lowered = Counter(name.lower() for name in names)
    for name in names:
        if lowered[name.lower()] > 1:
            yield f'"{name}" differs from another column in its capitals alone. Rename one of them.'
        if set(name) & _NOT_IN_DELTA:
            yield f'"{name}" has a character that Delta does not allow in a name. Rename it.'
        if name.lower().startswith(RESERVED_PREFIX):
            yield f'"{name}" begins with {RESERVED_PREFIX}, which is reserved. Rename it.'
    for name in overrides.keys() - set(names):
        yield f'"{name}" has an override, but the table has no such column.'


def from_text(texts: pa.Array | pa.ChunkedArray, column: MirrorColumn) -> pa.Array:
    """Return texts, as the server prints them in our sessions, as values of a mirror's column.

    Raises:
        ValueDoesNotFitError: a value has no place in the column's type.
    """
    chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    wide = [chunk.cast(pa.large_string()) for chunk in chunks]
    joined = pa.concat_arrays(wide) if wide else pa.array([], pa.large_string())
    try:
        return text_values.values(joined, column.pg.type, column.arrow_type)
    except DoesNotFit as found:
        shown = found.text[: jdbc_expressions.SHOWN_MAX]
        said = shown.join(jdbc_expressions.complaint(column.name, column.spark_type))
        raise _misfit(said, column) from None


def misfit_of_copy(said: str, columns: Iterable[MirrorColumn]) -> ValueDoesNotFitError | None:
    """Return the error that an expression of a copy raised, out of what Spark says; else None."""
    found = _COMPLAINT.search(said)
    column = found and next((column for column in columns if column.name == found[2]), None)
    return _misfit(found[1], column) if found and column else None


def _misfit(said: str, column: MirrorColumn) -> ValueDoesNotFitError:
    return ValueDoesNotFitError(
        said,
        detail=f"On the server the column has the type {column.pg.type.shown}.",
        hint=_way_out(column),
    )


def _way_out(column: MirrorColumn) -> str:
    fits = "decimal(38,s) with another s, double or " if "DECIMAL" in column.spark_type else ""
    return (
        f'Give the column the override "{column.name}": {fits}string '
        f"({_overridden(column.name, 'string')}), or change the value on the server."
    )


def _overridden(name: str, kind: str) -> str:
    """Return how an override is written, in Python and on the command line."""
    return f"types={{'{name}': '{kind}'}}, or --type '{name}={kind}'"


def copy_expressions(column: MirrorColumn) -> tuple[str, str]:
    """Return what the first copy selects on the server, and what Spark makes the mirror's value of.

    The Spark expression names the selected column by the name of the mirror's.
    """
    kind, pg = column.arrow_type, column.pg.type
    selected = jdbc_expressions.selected(column.name, pg, kind)
    return selected, jdbc_expressions.in_spark(column.name, pg, kind)
