"""How aggregate calls are written, so that their answer follows from the rows alone."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import AggregateCall
from streamtables.compiler.backend.sorted_moments import SORTED_MOMENTS, sorted_moments, struct
from streamtables.compiler.types import BIGINT

_LAST = ("last", "last_value")
_COLLECTIONS = ("collect_list", "collect_set", "array_agg")
_AVERAGES = ("avg", "mean", "try_avg")


def call_sql(call: AggregateCall) -> exp.Expr:
    """Return an aggregate call as SQL."""
    arguments = [argument.copy() for argument in call.arguments]
    if call.sorted_sum:
        return _sorted_moments(call) if call.function in SORTED_MOMENTS else _sorted_sum(call)
    if call.distinct:
        arguments = [exp.Distinct(expressions=arguments)]
    if call.function in _COLLECTIONS:
        collected = _filtered(call, _function(call.function, *arguments))
        return _function("sort_array", collected)
    if call.function in ("max_by", "min_by"):
        return _by_value_and_order(call)
    if call.function == "mode" and arguments:
        return _filtered(call, _function("mode", arguments[0], exp.true()))
    if call.function in ("avg", "mean") and call.argument_types[0] == BIGINT:
        return _exact_average(call, arguments)
    if call.order and all(isinstance(item, exp.Column) for item in call.order):
        by = "max_by" if call.function in _LAST else "min_by"
        return _filtered(call, _function(by, *arguments, _struct(*call.order)))
    return _filtered(call, _within_group(call, arguments))


def _function(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _struct(*parts: exp.Expr) -> exp.Expr:
    return struct({f"k{number}": part for number, part in enumerate(parts)})


def _within_group(call: AggregateCall, arguments: list[exp.Expr]) -> exp.Expr:
    if call.function == "listagg" and call.distinct:
        distinct, *separator = call.arguments
        arguments = [exp.Distinct(expressions=[distinct.copy()]), *(s.copy() for s in separator)]
    function = _function(call.function, *arguments)
    if not call.order:
        return function
    order = exp.Order(expressions=[item.copy() for item in call.order])
    return exp.WithinGroup(this=function, expression=order)


def _filtered(call: AggregateCall, function: exp.Expr, also: exp.Expr | None = None) -> exp.Expr:
    conditions = [item.copy() for item in (call.condition, also) if item is not None]
    if not conditions:
        return function
    if len(conditions) > 1:
        conditions = [exp.paren(item, copy=False) for item in conditions]
    return exp.Filter(this=function, expression=exp.Where(this=exp.and_(*conditions)))


def _by_value_and_order(call: AggregateCall) -> exp.Expr:
    """Ties are broken by the value itself; a row whose order is NULL does not take part."""
    value, order = call.arguments[:2]
    chosen = _function(call.function, value.copy(), _struct(order, value))
    return _filtered(call, chosen, _present(order))


def _exact_average(call: AggregateCall, arguments: list[exp.Expr]) -> exp.Expr:
    """Average BIGINT over an exact sum: a sum of doubles depends on the order of the rows."""
    (argument,) = arguments
    inner = argument.expressions[0] if isinstance(argument, exp.Distinct) else argument
    wide = exp.cast(inner.copy(), "decimal(20,0)", dialect="spark")
    summed = exp.Distinct(expressions=[wide]) if call.distinct else wide
    total = _filtered(call, _function("sum", summed))
    count = _filtered(call, _function("count", argument))
    divisor = _function("nullif", count, exp.Literal.number(0))
    return exp.Div(
        this=exp.cast(total, "double", dialect="spark"),
        expression=exp.cast(divisor, "double", dialect="spark"),
    )


def _sorted_sum(call: AggregateCall) -> exp.Expr:
    """Add floats in the order of their size: recomputed, the sum is the same to the last digit."""
    value = _double(call.arguments[0])
    argument = exp.Distinct(expressions=[value]) if call.distinct else value
    collected = "collect_set" if call.distinct else "collect_list"
    items = _function("sort_array", _filtered(call, _function(collected, value)))
    added = exp.Lambda(
        this=exp.Add(this=exp.column("a"), expression=exp.column("v")),
        expressions=[exp.to_identifier("a"), exp.to_identifier("v")],
    )
    zero = exp.cast(exp.Literal.number(0), "double", dialect="spark")
    total: exp.Expr = _function("aggregate", items, zero, added)
    count = _filtered(call, _function("count", argument))
    if call.function in _AVERAGES:
        total = exp.Div(this=total, expression=count.copy())
    some = exp.GT(this=count, expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=some, true=total)])


def _sorted_moments(call: AggregateCall) -> exp.Expr:
    """Take numbers, or pairs of them, in the order of their size; a NULL in it leaves one out."""
    if len(call.arguments) == 1:
        value = _double(call.arguments[0])
        if call.distinct:
            # A set tells -0.0 from 0.0, and DISTINCT does not; added to 0.0, both are 0.0.
            value = exp.Add(this=value, expression=_double(exp.Literal.number(0)))
        items = _filtered(
            call, _function("collect_set" if call.distinct else "collect_list", value)
        )
    else:
        y, x = call.arguments
        pair = struct({"x": _double(x), "y": _double(y)})
        items = _filtered(call, _function("collect_list", pair), exp.and_(_present(y), _present(x)))
    return sorted_moments(call.function, _function("sort_array", items))


def _present(value: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.null()))


def _double(value: exp.Expr) -> exp.Expr:
    return exp.cast(exp.paren(value.copy()), "double", dialect="spark")
