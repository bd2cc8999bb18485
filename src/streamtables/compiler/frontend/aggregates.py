"""Binding of aggregate calls, each in a form whose answer follows from the rows alone.

Where Spark leaves the answer to the order of the rows, the defining query fixes it: first and last
go by the rows' key, max_by and min_by break ties by the value, collections are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from streamtables.compiler.algebra import AggregateCall, Node
from streamtables.compiler.binary_image import in_order
from streamtables.compiler.frontend import functions
from streamtables.compiler.frontend.binding import Binding
from streamtables.compiler.frontend.dialect import VerbatimSpark, span_of
from streamtables.compiler.frontend.expressions import (
    check_condition,
    check_types,
    function_name,
    is_aggregate,
)
from streamtables.compiler.frontend.key_types import check_collected_type, check_key_type
from streamtables.compiler.frontend.own_aggregates import own_type
from streamtables.compiler.frontend.tie_breakers import tie_parts
from streamtables.compiler.frontend.typing import Types, type_of
from streamtables.compiler.types import BIGINT, BOOLEAN, UNKNOWN, is_numeric, is_orderable
from streamtables.errors import SqlTypeError

_COLLECTED = functions.COLLECTIONS | {"listagg", "string_agg"}
_WRAPPERS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


def calls_in(expression: exp.Expr) -> list[exp.Expr]:
    """Return the outermost aggregate calls, each with its FILTER and its order."""
    if isinstance(expression, exp.Window):
        # The function of a window is no aggregate of the query; its arguments may hold some.
        function: exp.Expr = expression.this
        while isinstance(function, _WRAPPERS):
            function = function.this
        parts = [*function.iter_expressions(), *(expression.args.get("partition_by") or ())]
        parts += [item for item in (expression.args.get("order"),) if item is not None]
        return [call for part in parts for call in calls_in(part)]
    if is_aggregate(_bare(expression)):
        return [expression]
    return [call for child in expression.iter_expressions() for call in calls_in(child)]


def _bare(expression: exp.Expr) -> exp.Expr:
    while isinstance(expression, _WRAPPERS):
        expression = expression.this
    return expression


def distinct_calls(expressions: list[exp.Expr]) -> list[exp.Expr]:
    """Return the aggregate calls of all expressions, each once."""
    unique: list[exp.Expr] = []
    for expression in expressions:
        for call in calls_in(expression):
            if call not in unique:
                unique.append(call)
    return unique


def call_name(call: exp.Expr) -> str:
    """Return a name for the column that an aggregate gives."""
    return function_name(_bare(call)) or "aggregate"


def bind_call(
    call: exp.Expr, name: str, node: Node, types: Types, binding: Binding
) -> AggregateCall:
    """Return one aggregate call over a relation."""
    parts = _Parts.of(call)
    _check_function(parts, binding)
    _check_arguments(parts, types, binding)
    if parts.condition is not None:
        check_condition(parts.condition, types, binding)
    argument_types = tuple(
        BIGINT if isinstance(item, exp.Star) else type_of(item, types) for item in parts.arguments
    )
    if parts.function in functions.OF_EQUALS or (parts.distinct and parts.function in _COLLECTED):
        # mode() WITHIN GROUP (ORDER BY value) has its value there.
        (kept, *_) = parts.arguments or tuple(item.this for item in parts.order)
        check_key_type(type_of(kept, types), kept, binding)
    elif parts.function in functions.COLLECTIONS:
        check_collected_type(parts.function, argument_types[0], parts.arguments[0], binding)
    own = own_type(parts.place)
    result = own or functions.aggregate_type(
        parts.function, argument_types[0] if argument_types else UNKNOWN
    )
    made = AggregateCall(
        name,
        parts.function,
        parts.arguments,
        argument_types,
        parts.condition,
        result,
        distinct=parts.distinct,
        order=parts.order,
        own=own is not None,
    )
    return _settled(made, parts, node)


@dataclass(frozen=True)
class _Parts:
    """An aggregate call taken apart."""

    place: exp.Expr
    function: str
    arguments: tuple[exp.Expr, ...]
    distinct: bool
    condition: exp.Expr | None
    order: tuple[exp.Expr, ...]
    ignores_nulls: bool

    @classmethod
    def of(cls, call: exp.Expr) -> _Parts:
        condition, ignores = None, False
        order: tuple[exp.Expr, ...] = ()
        inner = call
        while isinstance(inner, _WRAPPERS):
            if isinstance(inner, exp.Filter):
                condition = inner.expression.this
            elif isinstance(inner, exp.WithinGroup):
                order = tuple(inner.expression.expressions)
            else:
                ignores = isinstance(inner, exp.IgnoreNulls)
            inner = inner.this
        function = function_name(inner) or ""
        if isinstance(inner, exp.GroupConcat):
            arguments, order = _text_parts(inner)
        else:
            arguments = tuple(inner.expressions) or (
                (inner.this,) if isinstance(inner, exp.Any) else ()
            )
        distinct = len(arguments) > 0 and isinstance(arguments[0], exp.Distinct)
        if distinct:
            arguments = (*arguments[0].expressions, *arguments[1:])
        return cls(inner, function, arguments, distinct, condition, order, ignores)


def _text_parts(call: exp.GroupConcat) -> tuple[tuple[exp.Expr, ...], tuple[exp.Expr, ...]]:
    value, order = call.this, ()
    if isinstance(value, exp.Order):
        value, order = value.this, tuple(value.expressions)
    separator = call.args.get("separator")
    return ((value, separator) if separator is not None else (value,)), order


def _settled(call: AggregateCall, parts: _Parts, node: Node) -> AggregateCall:
    """Return the call with what its answer depends on beyond its arguments."""
    if call.function in functions.FIRST | functions.LAST:
        return _chosen_row(call, parts, node)
    if call.function == "count_if":
        yes = exp.Case(ifs=[exp.If(this=call.arguments[0], true=exp.Literal.number(1))])
        return replace(call, function="count", arguments=(yes,), argument_types=(BIGINT,))
    if call.argument_types[:1] == (BOOLEAN,) and call.function in functions.EVERY_OR_SOME:
        # False is less than true, and the least and greatest value have a stored state.
        every = call.function in functions.EVERY
        return replace(call, function="min" if every else "max", distinct=False)
    if call.function == "regr_count" and all(map(is_numeric, call.argument_types)):
        # Numbers are not cast, so that no pair fails to be counted.
        return replace(call, function="count")
    if call.function in ("regr_avgx", "regr_avgy") and not call.distinct:
        return _average_of_pairs(call)
    if call.function == "listagg":
        return replace(call, order=(*call.order, *_text_order(call)))
    return call


def _text_order(call: AggregateCall) -> tuple[exp.Expr, ...]:
    """Return what texts are ordered by last; of DISTINCT ones each has a place of its own."""
    value, type_ = call.arguments[0].copy(), call.argument_types[0]
    if call.distinct and call.order:
        return ()
    parts = in_order(value, type_) if is_orderable(type_) and not call.distinct else (value,)
    return tuple(exp.Ordered(this=part, nulls_first=True) for part in parts)


def _average_of_pairs(call: AggregateCall) -> AggregateCall:
    """regr_avgx and regr_avgy average one of two values over the rows that have the other."""
    place = 1 if call.function == "regr_avgx" else 0
    type_ = call.argument_types[place]
    return replace(
        call,
        function="avg",
        arguments=(call.arguments[place],),
        argument_types=(type_,),
        condition=_where_present(call.arguments[1 - place], call.condition),
        type=functions.aggregate_type("avg", type_),
    )


def _where_present(value: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
    present = exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.null()))
    return present if condition is None else exp.and_(exp.paren(condition), present)


def _chosen_row(call: AggregateCall, parts: _Parts, node: Node) -> AggregateCall:
    """first, last and any_value take the value of the row that comes first or last by its key."""
    value, *flags = call.arguments
    condition = call.condition
    if parts.ignores_nulls or any(flag == exp.true() for flag in flags):
        condition = _where_present(value, condition)
    return replace(
        call,
        arguments=(value,),
        argument_types=call.argument_types[:1],
        condition=condition,
        order=tie_parts(node),
    )


def _check_function(parts: _Parts, binding: Binding) -> None:
    if parts.function in functions.DEPENDS_ON_ROW_ORDER:
        raise binding.not_incremental(
            f'The answer of "{parts.function}" depends on the order in which rows are read.',
            parts.place,
        )
    if parts.function not in functions.MAINTAINED_AGGREGATES and own_type(parts.place) is None:
        text = f'aggregate "{parts.function}"' if parts.function else "this aggregate"
        raise binding.unimplemented(text, parts.place)
    if parts.function in functions.TWO_ARGUMENTS and len(parts.arguments) > 2:
        raise binding.unimplemented(f'"{parts.function}" with a number of rows', parts.place)


def _check_arguments(parts: _Parts, types: Types, binding: Binding) -> None:
    star = any(isinstance(item, exp.Star) for item in parts.arguments)
    wanted = 1 if parts.function in functions.ONE_ARGUMENT else None
    wanted = 2 if parts.function in functions.OF_PAIRS else wanted
    missing = not parts.arguments and not parts.order
    wrong = wanted is not None and len(parts.arguments) != wanted
    if missing or wrong or (star and parts.function != "count"):
        takes = {1: "one argument", 2: "two arguments", None: "arguments"}[wanted]
        raise SqlTypeError(
            f'"{parts.function}" takes {takes}',
            sql=binding.sql,
            span=span_of(parts.place),
            hint="Give two numbers." if wanted == 2 else "Give one value or expression.",
        )
    for item in parts.arguments:
        if nested := calls_in(item):
            raise SqlTypeError(
                "an aggregate cannot stand inside another",
                sql=binding.sql,
                span=span_of(nested[0]),
                hint="Compute the inner one in a subquery.",
            )
        check_types(item, types, binding)
        found = UNKNOWN if isinstance(item, exp.Star) else type_of(item, types)
        if not functions.accepts(parts.function, found):
            raise SqlTypeError(
                f'"{parts.function}" does not take a value of type {found}',
                sql=binding.sql,
                span=span_of(item) or span_of(parts.place),
                detail=f"The argument is {item.sql(dialect=VerbatimSpark)}.",
                hint=functions.cast_to_be_taken(parts.function),
            )
