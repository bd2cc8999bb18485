"""Rows that stand in the query: VALUES, and the one row of a SELECT without FROM."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Column, Constant
from streamtables.compiler.frontend.binding import Binding
from streamtables.compiler.frontend.expressions import bind_expression
from streamtables.compiler.frontend.from_parts import FromClause
from streamtables.compiler.frontend.scope import Relation, Scope, Visible
from streamtables.compiler.frontend.typing import type_of
from streamtables.compiler.types import INT, UNKNOWN, SqlType, wider
from streamtables.errors import SqlTypeError

_NOTHING = Scope((), ())


def no_from(binding: Binding) -> FromClause:
    """Return the one row that a SELECT without FROM reads."""
    row = Constant((Column(binding.namer.fresh("one"), INT),), ((exp.Literal.number(1),),))
    return FromClause((row,), _NOTHING)


def bind_values(item: exp.Values, binding: Binding) -> tuple[Constant, Relation]:
    """Return the rows of VALUES, under the names of their alias, or else col1 and so on."""
    rows = tuple(_row(entry, binding) for entry in item.expressions)
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise SqlTypeError(
            "the rows of VALUES have different lengths",
            sql=binding.sql,
            span=binding.place_of(item, "VALUES"),
            hint="Give every row the same number of values.",
        )
    types = [_common([type_of(row[i], {}) for row in rows]) for i in range(width)]
    shown = tuple(
        Visible(f"col{i + 1}", binding.namer.fresh(f"col{i + 1}"), types[i]) for i in range(width)
    )
    fields = tuple(Column(visible.inner, visible.type) for visible in shown)
    alias = (item.alias,) if item.alias else ()
    return Constant(fields, rows), Relation(alias, shown)


def _row(entry: exp.Expr, binding: Binding) -> tuple[exp.Expr, ...]:
    values = entry.expressions if isinstance(entry, exp.Tuple) else [entry.unnest()]
    return tuple(bind_expression(value, _NOTHING, binding) for value in values)


def _common(types: list[SqlType]) -> SqlType:
    result = types[0]
    for type_ in types[1:]:
        result = wider(result, type_) if result != UNKNOWN else UNKNOWN
    return result
