"""How aggregate calls are written, so that their answer follows from the rows alone."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import AggregateCall
from streamtables.compiler.backend.sorted_moments import SORTED_MOMENTS, sorted_moments, struct
from streamtables.compiler.binary_image import image, in_order
from streamtables.compiler.types import (
    BIGINT,
    SqlType,
    is_collated,
    is_float,
    is_orderable,
    nested_types,
    orders_by_bytes,
)

_FIRST = ("first", "first_value", "any_value")
_LAST = ("last", "last_value")
_COLLECTIONS = ("collect_list", "collect_set", "array_agg")
# DuckDB takes a column of the same name for the variable of a lambda.
_ITEM = "__st_item"
_AVERAGES = ("avg", "mean", "try_avg")


def call_sql(call: AggregateCall) -> exp.Expr:
    """Return an aggregate call as SQL."""
    arguments = [argument.copy() for argument in call.arguments]
    if call.sorted_sum:
        return _sorted_moments(call) if call.function in SORTED_MOMENTS else _sorted_sum(call)
    if call.function in _COLLECTIONS:
        return _collected(call)
    if call.distinct:
        arguments = [exp.Distinct(expressions=arguments)]
    if call.function in ("max_by", "min_by"):
        return _by_value_and_order(call)
    if call.function == "mode" and arguments:
        return _filtered(call, _function("mode", arguments[0], exp.true()))
    if call.function in ("avg", "mean") and call.argument_types[0] == BIGINT:
        return _exact_average(call, arguments)
    if call.order and call.function in _FIRST + _LAST:
        by = "max_by" if call.function in _LAST else "min_by"
        return _chosen(call, by, _struct(*call.order))
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


def _collected(call: AggregateCall) -> exp.Expr:
    """Lists are in order.  Of maps there is none: their sorted entries are collected instead."""
    value, type_ = call.arguments[0].copy(), call.argument_types[0]
    if call.distinct or call.function == "collect_set":
        argument = exp.Distinct(expressions=[value]) if call.distinct else value
        return _function("sort_array", _filtered(call, _function(call.function, argument)))
    is_map = type_.startswith("map<")
    shown = _function("sort_array", _function("map_entries", value)) if is_map else value
    item = found = exp.column(_ITEM)
    if _has_one_order(type_):
        collected = _filtered(call, _function(call.function, shown))
    else:
        # A struct round a NULL would be kept.
        pair = struct({"value": shown, "image": image(value.copy(), type_)})
        collected = _filtered(call, _function(call.function, pair), _present(value))
        found = exp.column("value", table=_ITEM)
    collected = _function("sort_array", collected)
    taken = _function("map_from_entries", found) if is_map else found
    if taken is item:
        return collected
    variable = exp.Lambda(this=taken, expressions=[exp.to_identifier(_ITEM)])
    return _function("transform", collected, variable)


def _has_one_order(type_: SqlType) -> bool:
    """Whether a sorted list of such values is the same, whatever their order was before.

    Spark sorts floats alone by their bits; of unknown types nothing can be said.
    """
    if type_.startswith("map<"):
        return all(orders_by_bytes(part) for part in nested_types(type_))
    return is_float(type_) or orders_by_bytes(type_) or not is_orderable(type_)


def _by_value_and_order(call: AggregateCall) -> exp.Expr:
    """Ties are broken by the value, to the byte; a row whose order is NULL takes no part."""
    value, order = call.arguments[:2]
    told = in_order(value, call.argument_types[0])
    return _chosen(call, call.function, _struct(order, *told), _present(order))


def _chosen(
    call: AggregateCall, by: str, order: exp.Expr, also: exp.Expr | None = None
) -> exp.Expr:
    value = call.arguments[0].copy()
    if not is_collated(call.argument_types[0]):
        return _filtered(call, _function(by, value, order), also)
    # Beside a list Spark keeps such text itself by a pointer to a row that has gone.
    kept = _filtered(call, _function(by, struct({"value": value}), order), also)
    return exp.Dot(this=exp.paren(kept, copy=False), expression=exp.to_identifier("value"))


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
