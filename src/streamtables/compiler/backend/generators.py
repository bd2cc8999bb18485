"""How generators, the clock and rows that stand in the query are written."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import (
    CLOCK_COLUMN,
    CLOCK_TABLE,
    WEIGHT,
    Clock,
    Constant,
    Generate,
)
from streamtables.compiler.backend.operators import Surroundings, render
from streamtables.compiler.backend.select import aliased, name, ref, select


@render.register
def _(node: Generate, around: Surroundings) -> exp.Query:
    columns: list[exp.Expr] = [ref(item, "t") for item in node.input.names]
    columns += [ref(item.name) for item in node.made]
    columns += [ref(WEIGHT, "t")] if node.signed else []
    query = select(columns, around.source(node.input, "t"))
    alias = exp.TableAlias(this=name("g"), columns=[name(item.name) for item in node.made])
    view = exp.Lateral(this=node.call.copy(), view=True, outer=node.outer, alias=alias)
    query.set("laterals", [view])
    return query


@render.register
def _(node: Clock, around: Surroundings) -> exp.Query:
    moment = aliased(ref(CLOCK_COLUMN), node.name)
    return select([moment], around.naming(CLOCK_TABLE, node.version))


@render.register
def _(node: Constant, around: Surroundings) -> exp.Query:
    rows = [exp.Tuple(expressions=[value.copy() for value in row]) for row in node.rows]
    alias = exp.TableAlias(this=name("v"), columns=[name(item) for item in node.names])
    return select([ref(item) for item in node.names], exp.Values(expressions=rows, alias=alias))
