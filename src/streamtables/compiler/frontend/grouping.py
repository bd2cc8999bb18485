"""Binding of GROUP BY, aggregates and HAVING.

The select list is read twice: once to find the aggregate calls, once to write it over the columns
that the aggregate node gives.  What is then left of the input is an error of the user's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from streamtables.compiler.algebra import Aggregate, AggregateCall, Node, Project, Projection
from streamtables.compiler.algebra.expressions import columns_in, columns_in_all
from streamtables.compiler.frontend.aggregates import bind_call, call_name, calls_in, distinct_calls
from streamtables.compiler.frontend.attach import attached, filtered
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.clock import another_moment, is_moment, with_moments
from streamtables.compiler.frontend.correlation import free_columns, with_free_columns
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.expressions import (
    BELOW_GROUPS,
    bind_expression,
    check_types,
    function_name,
)
from streamtables.compiler.frontend.grouping_sets import Asked, aggregate_sets, expanded
from streamtables.compiler.frontend.key_types import check_key_type
from streamtables.compiler.frontend.own_aggregates import check_own_aggregates
from streamtables.compiler.frontend.probes import with_column
from streamtables.compiler.frontend.scope import Scope
from streamtables.compiler.frontend.select_items import SelectItem, aliases_of
from streamtables.compiler.frontend.subqueries import Subqueries, Subquery
from streamtables.compiler.frontend.typing import Types, type_of
from streamtables.compiler.types import BIGINT, INT, SqlType
from streamtables.errors import SqlTypeError, UnknownNameError

TINYINT = SqlType("tinyint")

_GROUPING_CALLS = ("grouping", "grouping_id")


@dataclass(frozen=True)
class Grouped:
    """The aggregate, and how expressions over FROM are written over its columns."""

    node: Node
    groups: tuple[tuple[exp.Expr, str], ...]
    calls: tuple[tuple[exp.Expr, str], ...]
    binding: Binding
    subqueries: Subqueries
    moments: Mapping[str, Subquery]
    """The clock that is read here, for each that is read below the aggregate."""

    def rewrite_subquery(self, subquery: Subquery) -> Subquery:
        """Return a subquery that reads the aggregate's columns where it read those of FROM."""
        inner = subquery.bound.node
        taken = free_columns(inner) - set(self.binding.enclosing_types)
        meaning = {name: self.rewrite(column(name)) for name in taken}
        return replace(
            subquery,
            bound=replace(subquery.bound, node=with_free_columns(inner, meaning)),
            operands=tuple(self.rewrite(item) for item in subquery.operands),
        )

    def rewrite(self, expression: exp.Expr) -> exp.Expr:
        """Return an expression over FROM as one over the aggregate's columns."""
        for known, name in (*self.groups, *self.calls):
            if expression == known:
                return column(name)
        if window := expression.meta.get(BELOW_GROUPS):
            raise self._ungrouped(window, next(iter(expression.find_all(exp.Column))))
        if isinstance(expression, exp.Column):
            if expression.name in self.moments:
                return self.moments[expression.name].reference()
            if expression.name in self.binding.enclosing_types | self.subqueries.types():
                return expression
            raise self._ungrouped(expression.name, expression)
        result = expression.copy()
        keep = result.this if isinstance(result, exp.Window) else None
        for child in list(result.iter_expressions()):
            # The function of a window is no aggregate of this level, whatever its name.
            replacement = self._rewrite_parts(child) if child is keep else self.rewrite(child)
            if replacement is not child:
                child.replace(replacement)
        return result

    def _ungrouped(self, name: str, place: exp.Expr) -> UnknownNameError:
        return UnknownNameError(
            f'column "{name}" is neither grouped nor aggregated',
            sql=self.binding.sql,
            span=span_of(place),
            hint="Add it to GROUP BY, or put it into an aggregate.",
        )

    def _rewrite_parts(self, expression: exp.Expr) -> exp.Expr:
        result = expression.copy()
        wrapped = isinstance(result, exp.Filter | exp.IgnoreNulls | exp.RespectNulls)
        for child in list(result.iter_expressions()):
            inner = wrapped and child is result.this
            child.replace(self._rewrite_parts(child) if inner else self.rewrite(child))
        return result


def needs_grouping(select: exp.Select, items: list[SelectItem]) -> bool:
    """Whether a select makes groups: by GROUP BY, or by an aggregate without it."""
    having = select.args.get("having")
    return bool(
        select.args.get("group") or having or any(calls_in(item.expression) for item in items)
    )


def bind_groups(
    select: exp.Select,
    node: Node,
    items: list[SelectItem],
    scope: Scope,
    binding: Binding,
    subqueries: Subqueries,
) -> tuple[Node, list[SelectItem], Subqueries]:
    """Return the aggregated (and HAVING-filtered) relation and the select list over it.

    What is left of the subqueries belongs to the aggregated relation.
    """
    sets = _grouping_sets(select, items, scope, binding, subqueries)
    groups = _unique([item for chosen in sets for item in chosen])
    having = _bound_having(select, items, scope, binding, groups, subqueries)
    read = [*(item.expression for item in items), *([having] if having is not None else [])]
    calls = distinct_calls(read)
    below = subqueries.in_expression(exp.Tuple(expressions=[c.copy() for c in (*calls, *groups)]))
    node = attached(node, below, binding)
    moments = {item.name: another_moment(item, binding) for item in below.found if is_moment(item)}
    grouped = _grouped(node, groups, sets, calls, select, binding, subqueries, moments)
    above = Subqueries([grouped.rewrite_subquery(item) for item in subqueries.without(below).found])
    rewritten = [item.over(grouped.rewrite(item.expression)) for item in items]
    condition = None if having is None else grouped.rewrite(having)
    read = [*(item.expression for item in rewritten), *([condition] if condition else [])]
    above.found += [item for item in moments.values() if item.name in columns_in_all(read)]
    if condition is None:
        return grouped.node, rewritten, above
    in_having = above.in_expression(condition)
    rest = above.without(in_having)
    shared = Subqueries(
        [
            item
            for item in in_having.found
            if any(item.name in columns_in(r.expression) for r in rewritten)
        ]
    )
    kept = attached(grouped.node, shared, binding)
    filtered_rows = filtered(kept, condition, in_having.without(shared), binding)
    return filtered_rows, rewritten, rest


def _grouped(
    node: Node,
    groups: list[exp.Expr],
    sets: list[list[exp.Expr]],
    calls: list[exp.Expr],
    select: exp.Select,
    binding: Binding,
    subqueries: Subqueries,
    moments: Mapping[str, Subquery],
) -> Grouped:
    types = binding.types_of(node)
    for expression in groups:
        check_types(expression, types, binding)
        check_key_type(type_of(expression, types), expression, binding)
    prepared, named_groups = _with_group_columns(node, groups, types, binding)
    asked = [call for call in calls if function_name(call) in _GROUPING_CALLS]
    plain = [call for call in calls if call not in asked]
    outermost = select is binding.outermost
    check_own_aggregates(plain, grouped=bool(groups), outermost=outermost, binding=binding)
    if not groups and not plain and len(sets) == 1:
        # HAVING alone makes one group of all rows, of which nothing is asked.
        plain = [exp.Anonymous(this="count", expressions=[exp.Star()])]
    named_calls = [(call, binding.namer.fresh(call_name(call))) for call in plain]
    made = tuple(bind_call(call, name, prepared, types, binding) for call, name in named_calls)
    columns = tuple(name for _, name in named_groups)
    if not _has_sets(select):
        if asked:
            raise SqlTypeError(
                f'"{function_name(asked[0])}" needs ROLLUP, CUBE or GROUPING SETS',
                sql=binding.sql,
                span=span_of(asked[0]),
                hint="Take the call away, or group by sets.",
            )
        return Grouped(
            Aggregate(prepared, columns, made)
            if columns
            else _of_all_rows(prepared, made, binding),
            tuple(named_groups),
            tuple(named_calls),
            binding,
            subqueries,
            moments,
        )
    by_expression = {name: expression for expression, name in named_groups}
    chosen = [frozenset(name for name in columns if by_expression[name] in some) for some in sets]
    groupings = [_asked(call, named_groups, binding) for call in asked]
    of_sets = aggregate_sets(prepared, columns, chosen, made, groupings, binding)
    shown = [
        (expression, out) for (expression, _), out in zip(named_groups, of_sets.groups, strict=True)
    ]
    answers = [(call, item.name) for call, item in zip(asked, groupings, strict=True)]
    every_call = (*named_calls, *answers)
    return Grouped(of_sets.node, tuple(shown), every_call, binding, subqueries, moments)


def _of_all_rows(node: Node, calls: tuple[AggregateCall, ...], binding: Binding) -> Node:
    """Return an aggregate without groups; over no rows Spark has no row of an own one."""
    if not any(call.own for call in calls):
        return Aggregate(node, (), calls)
    every = binding.namer.fresh("every")
    rows = with_column(node, Projection(every, exp.Literal.number(1), INT))
    return Aggregate(rows, (every,), calls)


def _asked(call: exp.Expr, named_groups: list[tuple[exp.Expr, str]], binding: Binding) -> Asked:
    """Return what a call of GROUPING or GROUPING_ID asks about."""
    bit = function_name(call) == "grouping"
    name = binding.namer.fresh("grouping_bit" if bit else "grouping_id")
    type_ = TINYINT if bit else BIGINT
    if not call.expressions:
        return Asked(name, tuple(column_name for _, column_name in named_groups), type_)
    names = dict((expression, column_name) for expression, column_name in named_groups)
    for item in call.expressions:
        if item not in names:
            raise UnknownNameError(
                "GROUPING asks about something that is not grouped by",
                sql=binding.sql,
                span=span_of(item),
                hint="Name an expression of GROUP BY.",
            )
    return Asked(name, tuple(names[item] for item in call.expressions), type_)


def _unique(expressions: list[exp.Expr]) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for expression in expressions:
        if expression not in found:
            found.append(expression)
    return found


def _has_sets(select: exp.Select) -> bool:
    group = select.args.get("group")
    return group is not None and expanded(group) is not None


def _bound_having(
    select: exp.Select,
    items: list[SelectItem],
    scope: Scope,
    binding: Binding,
    groups: list[exp.Expr],
    subqueries: Subqueries,
) -> exp.Expr | None:
    """Bind HAVING, which may also name an item of the select list.

    As in Spark, a name means a grouped column of FROM first, then an item, whatever else FROM has.
    """
    having = select.args.get("having")
    if having is None:
        return None
    shown = aliases_of([item for item in items if not item.hidden])
    grouped = {item.name for item in groups if isinstance(item, exp.Column)}
    return bind_expression(
        having.this,
        scope,
        binding,
        aggregates=True,
        aliases=shown,
        alias_unless=grouped,
        subqueries=subqueries,
    )


def _grouping_sets(
    select: exp.Select,
    items: list[SelectItem],
    scope: Scope,
    binding: Binding,
    subqueries: Subqueries,
) -> list[list[exp.Expr]]:
    """Return the sets of bound expressions to group by: one, unless the user asks for several."""
    group = select.args.get("group")
    if group is None:
        return [[]]
    if group.args.get("totals"):
        raise binding.unsupported("WITH TOTALS", group)
    if group.args.get("all"):
        shown = [item for item in items if not item.hidden]
        return [_unique([i.expression for i in shown if not calls_in(i.expression)])]
    sets = expanded(group) or [tuple(group.expressions)]
    return [
        _unique([_group_expression(item, items, scope, binding, subqueries) for item in chosen])
        for chosen in sets
    ]


def _group_expression(
    item: exp.Expr,
    items: list[SelectItem],
    scope: Scope,
    binding: Binding,
    subqueries: Subqueries,
) -> exp.Expr:
    """An ordinal, a column of FROM, a name of the select list, or an expression, in this order."""
    item = item.unnest()
    if isinstance(item, exp.Tuple) and not item.expressions:
        # Spark cannot read this; it has no other meaning than no GROUP BY at all.
        raise binding.unsupported("GROUP BY of nothing", item, word="GROUP BY")
    if isinstance(item, exp.Tuple):
        raise binding.unimplemented("GROUP BY a row of values", item, word="GROUP BY")
    items = [shown for shown in items if not shown.hidden]
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
        if calls_in(chosen):
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
                if candidate.shown.lower() == name and not calls_in(candidate.expression):
                    return candidate.expression
    item = with_moments(item, subqueries, binding)
    return bind_expression(item, scope, binding, aliases=_plain_items(items))


def _plain_items(items: list[SelectItem]) -> dict[str, exp.Expr]:
    return {i.shown.lower(): i.expression for i in items if not calls_in(i.expression)}


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
