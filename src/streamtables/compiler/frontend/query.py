"""Binding of a whole query: WITH, set operations, ORDER BY and LIMIT round the SELECTs."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.frontend.binding import Binding, Bound, Notes
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.inlining import Inlining
from streamtables.compiler.frontend.key_types import check_stored_type
from streamtables.compiler.frontend.ordering import by_output, has_limit, limited, note_order
from streamtables.compiler.frontend.recursion import bind_recursive, is_recursive
from streamtables.compiler.frontend.scope import Namer, Visible
from streamtables.compiler.frontend.select import bind_select
from streamtables.compiler.frontend.session_groups import check_session_groups
from streamtables.compiler.frontend.set_operations import bind_set_operation
from streamtables.compiler.schema import Schema
from streamtables.errors import Span, UnknownNameError


def bind(query: exp.Query, sql: str, schema: Schema, notes: Notes, inlining: Inlining) -> Bound:
    """Bind a parsed query against the tables it may read."""
    binding = Binding(sql, schema, Namer(), notes, bind_query, inlining=inlining, outermost=query)
    bound = bind_query(query, binding)
    check_session_groups(bound.node, binding.sessions)
    _check_output_names(bound, query, sql)
    for shown in bound.columns:
        check_stored_type(shown.type, query.selects[0], binding)
    return bound


def bind_query(query: exp.Query, binding: Binding) -> Bound:
    """Bind a query or a part of one that stands for itself."""
    binding = _with_named_queries(query, binding)
    note_order(query, binding)
    match query:
        case exp.Select():
            return bind_select(query, binding)
        case exp.SetOperation() | exp.Subquery():
            inner = (
                bind_query(query.this, binding)
                if isinstance(query, exp.Subquery)
                else bind_set_operation(query, binding)
            )
            if not has_limit(query):
                return inner
            return limited(inner, by_output(inner, query, binding), query, binding)
        case _:
            raise binding.unimplemented(query.key.upper(), query)


def _with_named_queries(query: exp.Query, binding: Binding) -> Binding:
    with_ = query.args.get("with_")
    if with_ is None:
        return binding
    for named in with_.expressions:
        if with_.args.get("recursive") and is_recursive(named):
            binding = binding.with_named_query(named.alias, bind_recursive(named, binding))
            continue
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
