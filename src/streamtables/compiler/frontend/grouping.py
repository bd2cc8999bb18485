"""Binding of GROUP BY, aggregates and HAVING.

The select list is read twice: once to find the aggregate calls, once to write it over the columns
that the aggregate node gives.  What is then left of the input is an error of the user's.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streamtables.compiler.algebra import (
    Aggregate,
    AggregateCall,
    Filter,
    Node,
    Project,
    Projection,
)
from streamtables.compiler.frontend import functions
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.dialect import VerbatimSpark, span_of
from streamtables.compiler.frontend.expressions import (
    bind_expression,
    check_condition,
    check_types,
    function_name,
    is_aggregate,
)
from streamtables.compiler.frontend.key_types import check_key_type
from streamtables.compiler.frontend.scope import Scope
from streamtables.compiler.frontend.typing import Types, type_of
from streamtables.compiler.types import BIGINT, UNKNOWN
from streamtables.errors import SqlTypeError, UnknownNameError

_GROUPINGS: dict[type[exp.Expr], str] = {
    exp.Rollup: "ROLLUP",
    exp.Cube: "CUBE",
    exp.GroupingSets: "GROUPING SETS",
}


@dataclass(frozen=True)
class SelectItem:
    """One item of a select list, bound over FROM, and the name it is shown under."""

    shown: str
    expression: exp.Expr


@dataclass(frozen=True)
class Grouped:
    """The aggregate, and how expressions over FROM are written over its columns."""

    node: Node
    groups: tuple[tuple[exp.Expr, str], ...]
    calls: tuple[tuple[exp.Expr, str], ...]
    binding: Binding

    def rewrite(self, expression: exp.Expr) -> exp.Expr:
        """Return an expression over FROM as one over the aggregate's columns."""
        for known, name in (*self.groups, *self.calls):
            if expression == known:
                return column(name)
        if isinstance(expression, exp.Column):
            raise UnknownNameError(
                f'column "{expression.name}" is neither grouped nor aggregated',
                sql=self.binding.sql,
                span=span_of(expression),
                hint="Add it to GROUP BY, or put it into an aggregate.",
            )
        result = expression.copy()
        for child in list(result.iter_expressions()):
            replacement = self.rewrite(child)
            if replacement is not child:
                child.replace(replacement)
        return result


def needs_grouping(select: exp.Select, items: list[SelectItem]) -> bool:
    """Whether a select makes groups: by GROUP BY, or by an aggregate without it."""
    having = select.args.get("having")
    return bool(
        select.args.get("group") or having or any(_calls_in(item.expression) for item in items)
    )


def bind_groups(
    select: exp.Select, node: Node, items: list[SelectItem], scope: Scope, binding: Binding
) -> tuple[Node, list[SelectItem]]:
    """Return the aggregated (and HAVING-filtered) relation and the select list over it."""
    groups = _group_expressions(select, items, scope, binding)
    having = _bound_having(select, items, scope, binding, groups)
    calls = _distinct_calls([*(item.expression for item in items), *([having] if having else [])])
    if not groups and not calls:
        # HAVING alone makes one group of all rows, of which nothing is asked.
        calls = [exp.Anonymous(this="count", expressions=[exp.Star()])]
    types = {item.name: item.type for item in node.columns}
    for expression in groups:
        check_types(expression, types, binding)
        check_key_type(type_of(expression, types), expression, binding)
    prepared, named_groups = _with_group_columns(node, groups, types, binding)
    named_calls = [(call, binding.namer.fresh(_call_name(call))) for call in calls]
    aggregate = Aggregate(
        prepared,
        tuple(name for _, name in named_groups),
        tuple(_call(call, name, types, binding) for call, name in named_calls),
    )
    grouped = Grouped(aggregate, tuple(named_groups), tuple(named_calls), binding)
    rewritten = [SelectItem(item.shown, grouped.rewrite(item.expression)) for item in items]
    if having is None:
        return aggregate, rewritten
    condition = grouped.rewrite(having)
    check_condition(condition, {c.name: c.type for c in aggregate.columns}, binding)
    return Filter(aggregate, condition), rewritten


def _bound_having(
    select: exp.Select,
    items: list[SelectItem],
    scope: Scope,
    binding: Binding,
    groups: list[exp.Expr],
) -> exp.Expr | None:
    """Bind HAVING, which may also name an item of the select list.

    As in Spark, a name means a grouped column of FROM first, then an item, whatever else FROM has.
    """
    having = select.args.get("having")
    if having is None:
        return None
    shown = {item.shown.lower(): item.expression for item in items}
    grouped = {item.name for item in groups if isinstance(item, exp.Column)}
    return bind_expression(
        having.this, scope, binding, aggregates=True, aliases=shown, alias_unless=grouped
    )


def _group_expressions(
    select: exp.Select, items: list[SelectItem], scope: Scope, binding: Binding
) -> list[exp.Expr]:
    group = select.args.get("group")
    if group is None:
        return []
    for kind in ("grouping_sets", "cube", "rollup", "totals"):
        if group.args.get(kind):
            raise binding.unimplemented(kind.upper().replace("_", " "), group)
    for item in group.expressions:
        if isinstance(item, exp.Rollup | exp.Cube | exp.GroupingSets):
            raise binding.unimplemented(_GROUPINGS[type(item)], group)
    if group.args.get("all"):
        found = [item.expression for item in items if not _calls_in(item.expression)]
    else:
        found = [_group_expression(item, items, scope, binding) for item in group.expressions]
    unique: list[exp.Expr] = []
    for expression in found:
        if expression not in unique:
            unique.append(expression)
    return unique


def _group_expression(
    item: exp.Expr, items: list[SelectItem], scope: Scope, binding: Binding
) -> exp.Expr:
    """An ordinal, a column of FROM, a name of the select list, or an expression, in this order."""
    item = item.unnest()
    if isinstance(item, exp.Tuple):
        raise binding.unimplemented("GROUP BY a row of values", item, word="GROUP BY")
    if isinstance(item, exp.Literal) and not item.is_string:
        position = int(item.name) if item.name.isdigit() else 0
        if not 1 <= position <= len(items):
            raise UnknownNameError(
                f"GROUP BY position {item.name} is not in the select list",
                sql=binding.sql,
                span=binding.place_of(item, f"GROUP BY {item.name}"),
                hint=f"Use a number between 1 and {len(items)}.",
            )
        chosen = items[position - 1].expression
        if _calls_in(chosen):
            raise UnknownNameError(
                f"GROUP BY position {item.name} is an aggregate",
                sql=binding.sql,
                span=span_of(item),
                hint="Group by an item that holds no aggregate.",
            )
        return chosen
    if isinstance(item, exp.Column) and not item.table:
        name = item.name.lower()
        if not scope.has(name):
            for candidate in items:
                if candidate.shown.lower() == name and not _calls_in(candidate.expression):
                    return candidate.expression
    return bind_expression(item, scope, binding, aliases=_plain_items(items))


def _plain_items(items: list[SelectItem]) -> dict[str, exp.Expr]:
    return {i.shown.lower(): i.expression for i in items if not _calls_in(i.expression)}


def _with_group_columns(
    node: Node, groups: list[exp.Expr], types: Types, binding: Binding
) -> tuple[Node, list[tuple[exp.Expr, str]]]:
    """Compute grouped expressions below the aggregate, so that it groups by plain columns."""
    named: list[tuple[exp.Expr, str]] = []
    extra: list[Projection] = []
    for expression in groups:
        if isinstance(expression, exp.Column):
            named.append((expression, expression.name))
            continue
        name = binding.namer.fresh("group")
        named.append((expression, name))
        extra.append(Projection(name, expression, type_of(expression, types)))
    if not extra:
        return node, named
    passed = tuple(Projection(item.name, column(item.name), item.type) for item in node.columns)
    return Project(node, passed + tuple(extra)), named


def _calls_in(expression: exp.Expr) -> list[exp.Expr]:
    """Return the outermost aggregate calls, each with its FILTER when it has one."""
    if isinstance(expression, exp.Filter) or is_aggregate(expression):
        return [expression]
    return [call for child in expression.iter_expressions() for call in _calls_in(child)]


def _distinct_calls(expressions: list[exp.Expr]) -> list[exp.Expr]:
    unique: list[exp.Expr] = []
    for expression in expressions:
        for call in _calls_in(expression):
            if call not in unique:
                unique.append(call)
    return unique


def _call_name(call: exp.Expr) -> str:
    return function_name(call.this if isinstance(call, exp.Filter) else call) or "aggregate"


def _call(call: exp.Expr, name: str, types: Types, binding: Binding) -> AggregateCall:
    condition = call.expression.this if isinstance(call, exp.Filter) else None
    inner = call.this if isinstance(call, exp.Filter) else call
    function = function_name(inner) or ""
    if function not in functions.MAINTAINED_AGGREGATES:
        text = f'aggregate "{function}"' if function else "this aggregate"
        raise binding.unimplemented(text, inner)
    distinct, arguments = _arguments(inner)
    _check_arguments(function, inner, arguments, types, binding)
    if condition is not None:
        check_condition(condition, types, binding)
    argument_types = tuple(
        BIGINT if isinstance(item, exp.Star) else type_of(item, types) for item in arguments
    )
    if function in ("min", "max"):
        check_key_type(argument_types[0], arguments[0], binding)
    result = functions.aggregate_type(function, argument_types[0])
    return AggregateCall(
        name, function, arguments, argument_types, condition, result, distinct=distinct
    )


def _arguments(call: exp.Expr) -> tuple[bool, tuple[exp.Expr, ...]]:
    arguments = tuple(call.expressions)
    if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
        return True, tuple(arguments[0].expressions)
    return False, arguments


def _check_arguments(
    function: str,
    call: exp.Expr,
    arguments: tuple[exp.Expr, ...],
    types: Types,
    binding: Binding,
) -> None:
    star = any(isinstance(item, exp.Star) for item in arguments)
    if not arguments or (function != "count" and (len(arguments) != 1 or star)):
        raise SqlTypeError(
            f'"{function}" takes one argument',
            sql=binding.sql,
            span=span_of(call),
            hint="Give one value or expression.",
        )
    for item in arguments:
        if nested := _calls_in(item):
            raise SqlTypeError(
                "an aggregate cannot stand inside another",
                sql=binding.sql,
                span=span_of(nested[0]),
                hint="Compute the inner one in a subquery.",
            )
        check_types(item, types, binding)
        found = UNKNOWN if isinstance(item, exp.Star) else type_of(item, types)
        if not functions.accepts(function, found):
            raise SqlTypeError(
                f'"{function}" does not take a value of type {found}',
                sql=binding.sql,
                span=span_of(item) or span_of(call),
                detail=f"The argument is {item.sql(dialect=VerbatimSpark)}.",
                hint="Cast the argument to a number.",
            )
