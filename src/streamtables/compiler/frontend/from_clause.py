"""Binding of FROM: tables, derived tables, named queries, and the joins between them."""

from __future__ import annotations

import difflib

from sqlglot import exp

from streamtables.compiler.algebra import Node, Scan, ScanColumn
from streamtables.compiler.frontend.binding import Binding, renamed
from streamtables.compiler.frontend.constants import bind_values, no_from
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.expressions import function_name
from streamtables.compiler.frontend.from_parts import FromClause, with_condition
from streamtables.compiler.frontend.generators import is_generator, with_table_function
from streamtables.compiler.frontend.joins import join_clauses
from streamtables.compiler.frontend.lateral import join_lateral
from streamtables.compiler.frontend.number_range import bind_range
from streamtables.compiler.frontend.pivot import as_query
from streamtables.compiler.frontend.scope import (
    Relation,
    Scope,
    Visible,
    find_table,
    table_name,
)
from streamtables.compiler.frontend.views import bind_view
from streamtables.errors import UnknownNameError


def bind_from(select: exp.Select, binding: Binding) -> FromClause:
    """Bind FROM and its joins; WHERE is added by `with_condition`."""
    source = select.args.get("from_")
    if source is None:
        return no_from(binding)
    clause = _item(source.this, binding)
    for join in [*source.this.args.get("joins", []), *select.args.get("joins", [])]:
        clause = _join(clause, join, binding)
    return clause


def _item(item: exp.Expr, binding: Binding) -> FromClause:
    if item.args.get("sample"):
        raise binding.not_incremental("TABLESAMPLE picks other rows each time.", item)
    if item.args.get("pivots"):
        return _pivoted(item, binding)
    if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
        node, relation = _table(item, binding)
    elif isinstance(item, exp.Subquery) and isinstance(item.this, exp.Query):
        node, relation = _derived(item, binding)
    elif isinstance(item, exp.Subquery | exp.Paren):
        return _parenthesised(item, binding)
    elif isinstance(item, exp.Values):
        constant, shown = bind_values(item, binding)
        node, relation = _with_column_aliases(constant, shown, item, binding)
    elif isinstance(item, exp.Table) and is_generator(item.this):
        return with_table_function(no_from(binding), item, binding)
    elif isinstance(item, exp.Table) and function_name(item.this) == "range":
        numbers, shown = bind_range(item, binding)
        node, relation = _with_column_aliases(numbers, shown, item, binding)
    else:
        raise binding.unimplemented("this table function", item)
    return FromClause((node,), Scope.of(relation))


def _pivoted(item: exp.Expr, binding: Binding) -> FromClause:
    source = item.copy()
    pivots = source.args["pivots"]
    source.set("pivots", None)
    for pivot in pivots:
        query = as_query(source, pivot, _item(source, binding).scope, binding)
        source = exp.Subquery(this=query, alias=pivot.args.get("alias"))
    return _item(source, binding)


def _parenthesised(item: exp.Subquery | exp.Paren, binding: Binding) -> FromClause:
    clause = _item(item.this, binding)
    for join in item.this.args.get("joins", []):
        clause = _join(clause, join, binding)
    return clause


def _table(item: exp.Table, binding: Binding) -> tuple[Node, Relation]:
    if item.args.get("version") or item.args.get("when"):
        raise binding.unsupported("a fixed version of a table", item)
    name = table_name(item)
    alias = (item.alias,) if item.alias else tuple(part.name for part in item.parts)
    if named := binding.named_queries.get(name.lower()):
        return _with_column_aliases(*renamed(named, alias, binding), item, binding)
    if view := binding.inlining.view(name):
        bound = bind_view(view, binding)
        return _with_column_aliases(*renamed(bound, alias, binding), item, binding)
    known = find_table(name, binding.schema)
    if known is None:
        close = difflib.get_close_matches(name, list(binding.schema), n=1)
        raise UnknownNameError(
            f'no source or stream table "{name}"',
            sql=binding.sql,
            span=span_of(item.this),
            hint=f'Did you mean "{close[0]}"?' if close else "Add it first, with add_source.",
        )
    table = binding.schema[known]
    fields = tuple(
        ScanColumn(source, binding.namer.fresh(source), type_) for source, type_ in table.columns
    )
    shown = tuple(Visible(field.source, field.name, field.type) for field in fields)
    scan = Scan(known, fields, table.key)
    return _with_column_aliases(scan, Relation(alias, shown), item, binding)


def _derived(item: exp.Subquery, binding: Binding) -> tuple[Node, Relation]:
    bound = binding.bind_query(item.this, binding)
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


def _lateral(clause: FromClause, join: exp.Join, binding: Binding) -> FromClause:
    item = join.this
    if function_name(item.this) == "range":
        if join.side or (join.kind or "").upper() not in ("", "INNER", "CROSS"):
            raise binding.unimplemented("LATERAL range in a join of this kind", join)
        # Its numbers stand in the query, so there is nothing that it could read beside it.
        numbers = exp.Table(this=item.this.copy(), alias=item.args.get("alias"))
        return join_clauses(clause, _item(numbers, binding), join, binding)
    if not isinstance(item.this, exp.Subquery):
        return _beside_generator(clause, join, binding)
    query = item.this.unnest()
    assert isinstance(query, exp.Query)
    if join.side == "LEFT" and join.args.get("on") is None and not _reads_a_table(query):
        raise binding.unimplemented("LEFT JOIN LATERAL without ON of what reads no table", join)
    bound = binding.bind_query(query, binding.inside(clause.scope))
    alias = (item.alias,) if item.alias else ()
    node, relation = _with_column_aliases(bound.node, Relation(alias, bound.columns), item, binding)
    return join_lateral(clause, join, relation, node, binding)


def _reads_a_table(query: exp.Query) -> bool:
    """Whether a query reads more than the row beside it; Spark forgets LEFT where it does not."""
    return any(isinstance(item.this, exp.Identifier) for item in query.find_all(exp.Table))


def _beside_generator(clause: FromClause, join: exp.Join, binding: Binding) -> FromClause:
    """Return FROM beside the rows that a function makes of each of its rows."""
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    on = join.args.get("on")
    shaped = kind in ("SEMI", "ANTI") or join.args.get("using") or join.method
    # Without ON, Spark drops rows of which nothing is made, as if LEFT were not there.
    kept = side == "LEFT" and on == exp.true()
    if shaped or side not in ("", "LEFT") or (side and on is not None and not kept):
        words = " ".join(word for word in (join.method, side, kind, "JOIN") if word)
        raise binding.unimplemented(f"{words} of a table function", join)
    made = with_table_function(clause, join.this, binding, outer=kept)
    if kept:
        return made
    return with_condition(made, on, binding) if on is not None else made


def _join(clause: FromClause, join: exp.Join, binding: Binding) -> FromClause:
    if isinstance(join.this, exp.Lateral):
        return _lateral(clause, join, binding)
    beside = not join.side and (join.kind or "").upper() not in ("SEMI", "ANTI")
    if isinstance(join.this, exp.Table) and is_generator(join.this.this) and beside:
        return _beside_generator(clause, join, binding)
    right = _item(join.this, binding)
    for nested in join.this.args.get("joins", []):
        right = _join(right, nested, binding)
    return join_clauses(clause, right, join, binding)
