"""PIVOT and UNPIVOT written as the queries they mean."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.frontend.binding import Binding
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.scope import Scope
from streamtables.errors import SqlTypeError


def as_query(source: exp.Expr, pivot: exp.Pivot, scope: Scope, binding: Binding) -> exp.Query:
    """Return the query that a pivoted FROM item stands for; `scope` is what the item shows."""
    if pivot.args.get("unpivot"):
        return _unpivoted(source, pivot, scope, binding)
    return _pivoted(source, pivot, scope, binding)


def _pivoted(source: exp.Expr, pivot: exp.Pivot, scope: Scope, binding: Binding) -> exp.Query:
    """Group by what neither FOR nor an aggregate reads; one FILTER for each value.

    A value that a group does not have shows NULL, even where the aggregate would be 0.
    """
    if len(pivot.args["fields"]) != 1:
        raise binding.unimplemented("PIVOT with several FOR clauses", pivot)
    (field,) = pivot.args["fields"]
    pivoted = _parts(field.this)
    used = {c.name.lower() for part in (*pivoted, *pivot.expressions) for c in _columns(part)}
    groups = [item.shown for item in scope.visible if item.shown.lower() not in used]
    names = iter(pivot.args.get("columns") or ())
    cells: list[exp.Expr] = []
    for value in field.expressions:
        values = _parts(value.this if isinstance(value, exp.PivotAlias) else value)
        same = exp.and_(
            *(
                exp.NullSafeEQ(this=ours.copy(), expression=theirs.copy())
                for ours, theirs in zip(pivoted, values, strict=True)
            )
        )
        for call in pivot.expressions:
            cells.append(exp.alias_(_cell(call, same), next(names).name, quoted=True))
    query = exp.Select(expressions=[*(exp.column(name, quoted=True) for name in groups), *cells])
    query.set("from_", exp.From(this=source))
    if groups:
        grouped = [exp.column(name, quoted=True) for name in groups]
        query.set("group", exp.Group(expressions=grouped))
    return query


def _cell(call: exp.Expr, same: exp.Expr) -> exp.Expr:
    inner = call.this if isinstance(call, exp.Alias) else call
    rows = exp.Anonymous(this="count", expressions=[exp.Star()])
    there = exp.GT(this=_filtered(rows, same), expression=exp.Literal.number(0))
    value = exp.If(this=there, true=_filtered(inner.copy(), same))
    return exp.Case(ifs=[value])


def _filtered(call: exp.Expr, condition: exp.Expr) -> exp.Expr:
    return exp.Filter(this=call, expression=exp.Where(this=condition.copy()))


def _parts(expression: exp.Expr) -> list[exp.Expr]:
    bare = expression.unnest()
    return list(bare.expressions) if isinstance(bare, exp.Tuple) else [bare]


def _columns(expression: exp.Expr) -> list[exp.Column]:
    return list(expression.find_all(exp.Column))


def _unpivoted(source: exp.Expr, pivot: exp.Pivot, scope: Scope, binding: Binding) -> exp.Query:
    """One branch for each column, or set of columns; rows of NULLs alone are left out."""
    (field,) = pivot.args["fields"]
    names, label_name = [part.name for part in _parts(pivot.expressions[0])], field.this.name
    items = [_labelled(item) for item in field.expressions]
    for parts, _ in items:
        if len(parts) != len(names):
            raise SqlTypeError(
                f"{len(names)} value columns, and {len(parts)} columns to take them from",
                sql=binding.sql,
                span=span_of(field),
                hint=f"List {len(names)} columns in each place.",
            )
    taken = {part.name.lower() for parts, _ in items for part in parts}
    rest = [item.shown for item in scope.visible if item.shown.lower() not in taken]
    branches: list[exp.Query] = []
    for parts, label in items:
        shown = [exp.column(name, quoted=True) for name in rest]
        labelled = exp.alias_(exp.Literal.string(label), label_name, quoted=True)
        values = [exp.alias_(p.copy(), n, quoted=True) for p, n in zip(parts, names, strict=True)]
        query = exp.Select(expressions=[*shown, labelled, *values])
        query.set("from_", exp.From(this=source.copy()))
        if not pivot.args.get("include_nulls"):
            query.set("where", exp.Where(this=_any_present(parts)))
        branches.append(query)
    result = branches[0]
    for branch in branches[1:]:
        result = exp.Union(this=result, expression=branch, distinct=False)
    return result


def _any_present(parts: list[exp.Expr]) -> exp.Expr:
    return exp.or_(
        *(exp.Not(this=exp.Is(this=part.copy(), expression=exp.null())) for part in parts)
    )


def _labelled(item: exp.Expr) -> tuple[list[exp.Expr], str]:
    if isinstance(item, exp.PivotAlias | exp.Alias):
        return _parts(item.this), item.args["alias"].name
    parts = _parts(item)
    return parts, "_".join(part.name for part in parts)
