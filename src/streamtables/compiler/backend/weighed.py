"""How rows are written that a changed single value weighs: in one pass, beside both values."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import WEIGHT, Weighed
from streamtables.compiler.backend.operators import Surroundings, broadcast, render
from streamtables.compiler.backend.select import aliased, name, ref, refs, select


@render.register
def _(node: Weighed, around: Surroundings) -> exp.Query:
    """Look at each row beside the old single row and the new one, and add up their weights."""
    sides = {"o": exp.LT, "n": exp.GT}
    joins: list[exp.Expr] = []
    total: exp.Expr | None = None
    for alias, compared in sides.items():
        side = compared(this=ref(WEIGHT), expression=exp.Literal.number(0))
        rows = select(refs(node.single), around.source(node.single, "s"), where=side)
        subquery = exp.Subquery(this=rows, alias=exp.TableAlias(this=name(alias)))
        joins.append(exp.Join(this=subquery, on=exp.true(), side="LEFT"))
        weight = _weight_beside(node, alias)
        total = weight if total is None else exp.Add(this=total, expression=weight)
    assert total is not None
    if node.input.signed:
        total = exp.Mul(this=ref(WEIGHT, "t"), expression=exp.Paren(this=total))
    columns: list[exp.Expr] = [ref(item, "t") for item in node.names]
    beside = select([*columns, aliased(total, WEIGHT)], around.source(node.input, "t"))
    beside.set("joins", joins)
    if around.small_changes:
        beside.set("hint", broadcast(*sides))
    changed = exp.NEQ(this=ref(WEIGHT), expression=exp.Literal.number(0))
    weighed = exp.Subquery(this=beside, alias=exp.TableAlias(this=name("w")))
    return select(refs(node), weighed, where=changed)


def _weight_beside(node: Weighed, alias: str) -> exp.Expr:
    """Return the weight of one side's row where it is there and the conditions hold of it."""
    weight = ref(WEIGHT, alias)
    present = exp.Not(this=exp.Is(this=weight.copy(), expression=exp.null()))
    conditions = [_of_side(item, set(node.single.names), alias) for item in node.conditions]
    holds = exp.and_(present, *conditions)
    zero = exp.cast(exp.Literal.number(0), "bigint", dialect="spark")
    return exp.Case(ifs=[exp.If(this=holds, true=weight)], default=zero)


def _of_side(condition: exp.Expr, names: set[str], alias: str) -> exp.Expr:
    """Return a condition that reads the single row of one side."""

    def qualified(item: exp.Expr) -> exp.Expr:
        ours = isinstance(item, exp.Column) and not item.table and item.name in names
        return ref(item.name, alias) if ours else item

    return condition.copy().transform(qualified)
