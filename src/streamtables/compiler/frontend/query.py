"""Binding of a whole query: WITH, set operations, ORDER BY and LIMIT round the SELECTs."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Distinct, Node, Project, Projection, UnionAll
from streamtables.compiler.frontend.binding import Binding, Bound, Notes, column
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.key_types import check_key_type, check_stored_type
from streamtables.compiler.frontend.scope import Namer, Visible
from streamtables.compiler.frontend.select import bind_select
from streamtables.compiler.schema import Schema
from streamtables.compiler.types import UNKNOWN, SqlType, wider
from streamtables.errors import Span, SqlTypeError, UnknownNameError


def bind(query: exp.Query, sql: str, schema: Schema, notes: Notes) -> Bound:
    """Bind a parsed query against the tables it may read."""
    binding = Binding(sql, schema, Namer(), notes)
    bound = bind_query(query, binding)
    _check_output_names(bound, query, sql)
    for shown in bound.columns:
        check_stored_type(shown.type, query.selects[0], binding)
    return bound


def bind_query(query: exp.Query, binding: Binding) -> Bound:
    """Bind a query or a part of one that stands for itself."""
    binding = _with_named_queries(query, binding)
    _refuse_limits(query, binding)
    match query:
        case exp.Select():
            return bind_select(query, binding, bind_query)
        case exp.Union():
            return _union(query, binding)
        case exp.Subquery():
            return bind_query(query.this, binding)
        case exp.SetOperation():
            raise binding.unimplemented(query.key.upper(), query)
        case _:
            raise binding.unimplemented(query.key.upper(), query)


def _with_named_queries(query: exp.Query, binding: Binding) -> Binding:
    with_ = query.args.get("with_")
    if with_ is None:
        return binding
    if with_.args.get("recursive"):
        raise binding.unimplemented("WITH RECURSIVE", with_)
    for named in with_.expressions:
        bound = bind_query(named.this, binding)
        if names := named.args["alias"].columns:
            if len(names) != len(bound.columns):
                raise UnknownNameError(
                    f"{len(names)} column aliases for {len(bound.columns)} columns",
                    sql=binding.sql,
                    span=span_of(named.args["alias"]),
                    hint=f"Give {len(bound.columns)} name{'s' * (len(bound.columns) > 1)}.",
                )
            bound = Bound(
                bound.node,
                tuple(
                    Visible(name.name, old.inner, old.type)
                    for name, old in zip(names, bound.columns, strict=True)
                ),
            )
        binding = binding.with_named_query(named.alias, bound)
    return binding


def _refuse_limits(query: exp.Query, binding: Binding) -> None:
    limit = query.args.get("limit") or query.args.get("offset")
    if limit is not None and query.args.get("order") is None:
        raise binding.not_incremental("LIMIT without ORDER BY may pick any rows.", limit)
    if limit is not None:
        raise binding.unimplemented("ORDER BY … LIMIT", limit)
    if query.args.get("order") is not None:
        binding.notes.add("ORDER BY without LIMIT has no effect: a table has no order.")


def _union(query: exp.Union, binding: Binding) -> Bound:
    if query.args.get("by_name"):
        raise binding.unsupported("UNION BY NAME", query)
    branches = [bind_query(side, binding) for side in _branches(query)]
    width = len(branches[0].columns)
    for branch in branches:
        if len(branch.columns) != width:
            raise SqlTypeError(
                f"UNION of {width} and {len(branch.columns)} columns",
                sql=binding.sql,
                span=span_of(query.expression),
                hint="Every branch must have the same number of columns.",
            )
    types = [_widest([branch.columns[i].type for branch in branches]) for i in range(width)]
    names = [binding.namer.fresh(item.shown) for item in branches[0].columns]
    node: Node = UnionAll(tuple(_aligned(branch, names, types) for branch in branches))
    if query.args.get("distinct"):
        for type_ in types:
            check_key_type(type_, query.expression, binding)
        node = Distinct(node)
    shown = tuple(
        Visible(item.shown, name, type_)
        for item, name, type_ in zip(branches[0].columns, names, types, strict=True)
    )
    return Bound(node, shown)


def _branches(query: exp.Union) -> list[exp.Query]:
    """Return the branches of a chain of unions of the same kind, from left to right."""
    left = query.this
    same = (
        isinstance(left, exp.Union)
        and bool(left.args.get("distinct")) == bool(query.args.get("distinct"))
        and not left.args.get("by_name")
    )
    return [*(_branches(left) if same else [left]), query.expression]


def _widest(types: list[SqlType]) -> SqlType:
    result = types[0]
    for type_ in types[1:]:
        result = wider(result, type_) if result != UNKNOWN else UNKNOWN
    return result


def _aligned(branch: Bound, names: list[str], types: list[SqlType]) -> Node:
    """Give a branch the common names, and the common types where they differ from its own.

    A cast has to be written out: in a delta the other branch may be missing, and Spark would no
    longer see what to widen to.
    """
    projections = []
    for item, name, type_ in zip(branch.columns, names, types, strict=True):
        value: exp.Expr = column(item.inner)
        if type_ not in (item.type, UNKNOWN):
            value = exp.cast(value, type_, dialect="spark")
        projections.append(Projection(name, value, type_))
    return Project(branch.node, tuple(projections))


def _place_of_output(name: str, query: exp.Query) -> Span | None:
    """Return the place of the last item of the select list that is shown under a name."""
    same = [item for item in query.selects if item.alias_or_name.lower() == name.lower()]
    return span_of((same or query.selects)[-1])


def _check_output_names(bound: Bound, query: exp.Query, sql: str) -> None:
    seen: set[str] = set()
    for item in bound.columns:
        name = item.shown.lower()
        if name in seen:
            raise UnknownNameError(
                f'the query shows two columns named "{item.shown}"',
                sql=sql,
                span=_place_of_output(item.shown, query),
                hint="Give one of them another name with AS.",
            )
        if name.startswith("__st_"):
            raise UnknownNameError(
                f'column name "{item.shown}" is reserved',
                sql=sql,
                span=_place_of_output(item.shown, query),
                hint="Names that start with __st_ belong to the engine; choose another with AS.",
            )
        seen.add(name)
