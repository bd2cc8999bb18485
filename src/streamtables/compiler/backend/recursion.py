"""How a recursive relation is written."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import WEIGHT
from streamtables.compiler.algebra.recursive import Itself, Recursive
from streamtables.compiler.algebra.recursive_sides import SIDE, OneSided
from streamtables.compiler.backend.operators import Surroundings, render
from streamtables.compiler.backend.select import aliased, name, ref, select


@render.register
def _(node: Itself, around: Surroundings) -> exp.Query:
    table = around.recursions[node.name]
    return select([ref(item) for item in node.names], exp.Table(this=name(table)))


@render.register
def _(node: Recursive, around: Surroundings) -> exp.Query:
    # Before and after are two recursions, and a statement gives each a name of its own.
    table = around.recursions[node.name] = around.fresh(node.name)
    branches = [
        select([ref(item) for item in side.names], around.source(side, "t"))
        for side in (node.base, node.step)
    ]
    both = exp.Union(this=branches[0], expression=branches[1], distinct=False)
    alias = exp.TableAlias(this=name(table), columns=[name(item) for item in node.names])
    query = select([ref(item) for item in node.names], exp.Table(this=name(table)))
    named = exp.With(expressions=[exp.CTE(this=both, alias=alias)], recursive=True)
    query.set("with_", named)
    return query


@render.register
def _(node: OneSided, around: Surroundings) -> exp.Query:
    columns: list[exp.Expr] = [ref(item) for item in node.names]
    columns.append(aliased(ref(SIDE), WEIGHT))
    moved = exp.NEQ(this=ref(SIDE), expression=exp.Literal.number(0))
    return select(columns, around.source(node.input, "t"), where=moved)
