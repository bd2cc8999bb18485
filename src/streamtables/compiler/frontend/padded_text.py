"""CHAR(n) columns, which only Spark can compare.

Where Spark knows that a column is CHAR it fills up with blanks what it compares it with, literals
included.  It knows for a table that it reads, and not for rows that come from elsewhere: changes,
rows that were looked up, results of an earlier step.  So no delta would mean what the query means.
"""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Node, Scan
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.rewrites.prune_columns import prune_columns
from streamtables.compiler.rewrites.rebuild import in_order
from streamtables.compiler.types import is_padded
from streamtables.errors import UnimplementedSqlError


def refuse_padded(root: Node, query: exp.Expr, sql: str) -> None:
    """Raise where a query reads a CHAR column, with the first place that names it."""
    for scan in in_order(prune_columns(root)):
        if not isinstance(scan, Scan):
            continue
        for field in scan.fields:
            if is_padded(field.type):
                raise _refusal(scan.table, field.source, query, sql)


def _refusal(table: str, column: str, query: exp.Expr, sql: str) -> UnimplementedSqlError:
    named = (item for item in query.find_all(exp.Column) if item.name.lower() == column.lower())
    place = next(named, None)
    return UnimplementedSqlError(
        f'the CHAR column "{column}" of "{table}" is not maintained incrementally by this version',
        sql=sql,
        span=None if place is None else span_of(place),
        detail=f'Spark compares "{column}" of "{table}" with blanks, which changes do not have.',
        hint="Declare it as STRING or VARCHAR, or let full refreshes keep the table.",
    )
