"""Binding of FROM: tables, derived tables, CTEs and inner joins become one n-ary join.

All conditions of a FROM clause with inner joins, those of WHERE included, are one pool: a condition
on one input filters it, the others join.  The order in which the user wrote the inputs stays.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from streamtables.compiler.algebra import Filter, InnerJoin, Node, Scan, ScanColumn
from streamtables.compiler.frontend.binding import Binding, Bound, column, renamed
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.expressions import (
    all_of,
    bind_expression,
    check_condition,
    check_types,
    columns_in,
    conjuncts,
)
from streamtables.compiler.frontend.scope import (
    Relation,
    Scope,
    Visible,
    find_table,
    table_name,
)
from streamtables.errors import UnknownNameError

BindQuery = Callable[[exp.Query, Binding], Bound]


@dataclass(frozen=True)
class FromClause:
    """The inputs of a FROM clause, what they show, and the conditions met so far."""

    parts: tuple[Node, ...]
    scope: Scope
    conditions: tuple[exp.Expr, ...] = ()

    def joined(self) -> Node:
        """Return one relation: each condition as near to its inputs as it can go."""
        parts = list(self.parts)
        local: dict[int, list[exp.Expr]] = {}
        across: list[exp.Expr] = []
        for condition in self.conditions:
            read = columns_in(condition)
            owners = [i for i, part in enumerate(parts) if read & set(part.names)]
            if len(owners) == 1:
                local.setdefault(owners[0], []).append(condition)
            else:
                across.append(condition)
        for index, conditions in local.items():
            parts[index] = Filter(parts[index], all_of(conditions))
        if len(parts) > 1:
            return InnerJoin(tuple(parts), tuple(across))
        return Filter(parts[0], all_of(across)) if across else parts[0]


def bind_from(select: exp.Select, binding: Binding, bind_query: BindQuery) -> FromClause:
    """Bind FROM and its joins; WHERE is added by `with_condition`."""
    source = select.args.get("from_")
    if source is None:
        raise binding.unimplemented("a query without FROM", select)
    clause = _item(source.this, binding, bind_query)
    for join in [*source.this.args.get("joins", []), *select.args.get("joins", [])]:
        clause = _join(clause, join, binding, bind_query)
    return clause


def with_condition(clause: FromClause, condition: exp.Expr, binding: Binding) -> FromClause:
    """Return the clause with the conjuncts of one more condition."""
    bound = bind_expression(condition, clause.scope, binding)
    types = {item.name: item.type for part in clause.parts for item in part.columns}
    found = conjuncts(bound)
    for item in found:
        check_condition(item, types, binding)
        check_types(item, types, binding)
    return FromClause(clause.parts, clause.scope, (*clause.conditions, *found))


def _item(item: exp.Expr, binding: Binding, bind_query: BindQuery) -> FromClause:
    if item.args.get("sample"):
        raise binding.not_incremental("TABLESAMPLE picks other rows each time.", item)
    if item.args.get("pivots"):
        raise binding.unimplemented("PIVOT or UNPIVOT", item)
    if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
        node, relation = _table(item, binding)
    elif isinstance(item, exp.Subquery) and isinstance(item.this, exp.Query):
        node, relation = _derived(item, binding, bind_query)
    elif isinstance(item, exp.Subquery | exp.Paren):
        return _parenthesised(item, binding, bind_query)
    elif isinstance(item, exp.Values):
        raise binding.unimplemented("VALUES", item)
    else:
        raise binding.unimplemented("a table function or LATERAL", item)
    return FromClause((node,), Scope.of(relation))


def _parenthesised(
    item: exp.Subquery | exp.Paren, binding: Binding, bind_query: BindQuery
) -> FromClause:
    clause = _item(item.this, binding, bind_query)
    for join in item.this.args.get("joins", []):
        clause = _join(clause, join, binding, bind_query)
    return clause


def _table(item: exp.Table, binding: Binding) -> tuple[Node, Relation]:
    if item.args.get("version") or item.args.get("when"):
        raise binding.unsupported("a fixed version of a table", item)
    name = table_name(item)
    alias = (item.alias,) if item.alias else tuple(part.name for part in item.parts)
    if named := binding.named_queries.get(name.lower()):
        return _with_column_aliases(*renamed(named, alias, binding), item, binding)
    known = find_table(name, binding.schema)
    if known is None:
        close = difflib.get_close_matches(name, list(binding.schema), n=1)
        raise UnknownNameError(
            f'no source or stream table "{name}"',
            sql=binding.sql,
            span=span_of(item.this),
            hint=f'Did you mean "{close[0]}"?' if close else "Add it with add_source first.",
        )
    table = binding.schema[known]
    fields = tuple(
        ScanColumn(source, binding.namer.fresh(source), type_) for source, type_ in table.columns
    )
    shown = tuple(Visible(field.source, field.name, field.type) for field in fields)
    scan = Scan(known, fields, table.key)
    return _with_column_aliases(scan, Relation(alias, shown), item, binding)


def _derived(item: exp.Subquery, binding: Binding, bind_query: BindQuery) -> tuple[Node, Relation]:
    bound = bind_query(item.this, binding)
    alias = (item.alias,) if item.alias else ()
    return _with_column_aliases(bound.node, Relation(alias, bound.columns), item, binding)


def _with_column_aliases(
    node: Node, relation: Relation, item: exp.Expr, binding: Binding
) -> tuple[Node, Relation]:
    names = item.args["alias"].columns if item.args.get("alias") else []
    if not names:
        return node, relation
    if len(names) != len(relation.columns):
        raise UnknownNameError(
            f"{len(names)} column aliases for {len(relation.columns)} columns",
            sql=binding.sql,
            span=span_of(item.args["alias"]),
            hint=_as_many_names(relation.columns),
        )
    columns = tuple(
        Visible(name.name, old.inner, old.type)
        for name, old in zip(names, relation.columns, strict=True)
    )
    return node, Relation(relation.alias, columns)


def _as_many_names(columns: tuple[Visible, ...]) -> str:
    return f"Give {len(columns)} name{'s' if len(columns) > 1 else ''}, one for each column."


def _join(
    clause: FromClause, join: exp.Join, binding: Binding, bind_query: BindQuery
) -> FromClause:
    _refuse_join(join, binding)
    right = _item(join.this, binding, bind_query)
    for nested in join.this.args.get("joins", []):
        right = _join(right, nested, binding, bind_query)
    relations = clause.scope.relations + right.scope.relations
    parts = clause.parts + right.parts
    conditions = clause.conditions + right.conditions
    if using := _using(clause.scope, right.scope, join):
        visible, equal = _merge_columns(clause.scope, right.scope, using, binding)
        return FromClause(parts, Scope(relations, visible), conditions + equal)
    scope = Scope(relations, clause.scope.visible + right.scope.visible)
    both = FromClause(parts, scope, conditions)
    return with_condition(both, join.args["on"], binding) if join.args.get("on") else both


def _refuse_join(join: exp.Join, binding: Binding) -> None:
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if side or kind in ("SEMI", "ANTI", "OUTER"):
        words = " ".join(word for word in (side, kind, "JOIN") if word and word != "OUTER")
        raise binding.unimplemented(words, join)
    if (join.method or "").upper() not in ("", "NATURAL"):
        raise binding.unsupported(f"a {join.method} join", join)


def _using(left: Scope, right: Scope, join: exp.Join) -> list[exp.Column]:
    if join.args.get("using"):
        return [exp.Column(this=name.copy()) for name in join.args["using"]]
    if (join.method or "").upper() != "NATURAL":
        return []
    names = {item.shown.lower() for item in right.visible}
    shared = [item.shown for item in left.visible if item.shown.lower() in names]
    return [exp.Column(this=exp.to_identifier(name)) for name in shared]


def _merge_columns(
    left: Scope, right: Scope, using: list[exp.Column], binding: Binding
) -> tuple[tuple[Visible, ...], tuple[exp.Expr, ...]]:
    """USING shows one column for two, before all others; in an inner join both hold one value."""
    merged: list[Visible] = []
    hidden: list[Visible] = []
    equal: list[exp.Expr] = []
    for name in using:
        ours, _ = left.resolve(name, binding.sql)
        theirs, _ = right.resolve(name, binding.sql)
        merged.append(ours)
        hidden.append(theirs)
        equal.append(exp.EQ(this=column(ours.inner), expression=column(theirs.inner)))
    rest = [item for item in left.visible if item not in merged]
    rest += [item for item in right.visible if item not in hidden]
    return (*merged, *rest), tuple(equal)
