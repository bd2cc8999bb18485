"""How window functions and the first rows of an order are written."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import TopK, Window, WindowCall
from streamtables.compiler.backend.operators import Surroundings, render
from streamtables.compiler.backend.select import aliased, name, ref, refs, select

_POSITION = "__st_position_in_order"


@render.register
def _(node: Window, around: Surroundings) -> exp.Query:
    calls = [aliased(window_sql(call, node.partition), call.name) for call in node.calls]
    return select([*refs(node.input), *calls], around.source(node.input, "t"))


def window_sql(call: WindowCall, partition: tuple[str, ...]) -> exp.Window:
    """Return a window call as SQL."""
    return _over(call.function, partition, call.order, call.frame)


def _over(
    function: exp.Expr,
    partition: tuple[str, ...],
    order: tuple[exp.Expr, ...],
    frame: exp.WindowSpec | None = None,
) -> exp.Window:
    return exp.Window(
        this=function.copy(),
        partition_by=[ref(item) for item in partition],
        order=_order(order) if order else None,
        spec=None if frame is None else frame.copy(),
        over="OVER",
    )


def _order(order: tuple[exp.Expr, ...]) -> exp.Order:
    return exp.Order(expressions=[item.copy() for item in order])


@render.register
def _(node: TopK, around: Surroundings) -> exp.Query:
    return _first_of_each(node, around) if node.partition else _first(node, around)


def _first(node: TopK, around: Surroundings) -> exp.Query:
    query = select(refs(node), around.source(node.input, "t"))
    query.set("order", _order(node.order))
    if node.limit is not None:
        query.set("limit", exp.Limit(expression=exp.Literal.number(node.limit)))
    if node.offset:
        query.set("offset", exp.Offset(expression=exp.Literal.number(node.offset)))
    return query


def _first_of_each(node: TopK, around: Surroundings) -> exp.Query:
    number = _over(exp.Anonymous(this="row_number", expressions=[]), node.partition, node.order)
    numbered = select([*refs(node), aliased(number, _POSITION)], around.source(node.input, "t"))
    position = ref(_POSITION)
    bounds: list[exp.Expr] = []
    if node.offset:
        bounds.append(exp.GT(this=position, expression=exp.Literal.number(node.offset)))
    if node.limit is not None:
        last = exp.Literal.number(node.offset + node.limit)
        bounds.append(exp.LTE(this=position.copy(), expression=last))
    within = exp.Subquery(this=numbered, alias=exp.TableAlias(this=name("n")))
    return select(refs(node), within, where=exp.and_(*bounds))
