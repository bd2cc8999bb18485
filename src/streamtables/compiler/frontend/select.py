"""Binding of one SELECT: FROM, WHERE, groups, the select list and DISTINCT, in SQL's order."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Distinct, Node, Project, Projection
from streamtables.compiler.frontend.binding import Binding, Bound, column
from streamtables.compiler.frontend.dialect import VerbatimSpark
from streamtables.compiler.frontend.expressions import bind_expression, check_types, star_columns
from streamtables.compiler.frontend.from_clause import BindQuery, bind_from, with_condition
from streamtables.compiler.frontend.grouping import SelectItem, bind_groups, needs_grouping
from streamtables.compiler.frontend.key_types import check_key_type
from streamtables.compiler.frontend.scope import Scope, Visible
from streamtables.compiler.frontend.typing import type_of
from streamtables.errors import SqlSyntaxError

_KNOWN_CLAUSES = frozenset(
    {"expressions", "from_", "joins", "where", "group", "having", "distinct", "with_", "order"}
    | {"limit", "offset", "hint", "kind", "operation_modifiers"}
)

_ORDERINGS = {"sort": "SORT BY", "cluster": "CLUSTER BY", "distribute": "DISTRIBUTE BY"}
_CLAUSE_NAMES = {"laterals": "LATERAL VIEW", "windows": "WINDOW", "locks": "FOR UPDATE"}


def bind_select(select: exp.Select, binding: Binding, bind_query: BindQuery) -> Bound:
    """Bind a SELECT without its WITH, ORDER BY and LIMIT, which the query level handles."""
    _refuse_clauses(select, binding)
    if select.args.get("hint"):
        binding.notes.add("Hints in the query are ignored.")
    clause = bind_from(select, binding, bind_query)
    if where := select.args.get("where"):
        clause = with_condition(clause, where.this, binding)
    node = clause.joined()
    items = _select_items(select, clause.scope, binding)
    if needs_grouping(select, items):
        node, items = bind_groups(select, node, items, clause.scope, binding)
    bound = _projected(node, items, binding)
    if distinct := select.args.get("distinct"):
        if distinct.args.get("on"):
            raise binding.unsupported("DISTINCT ON", distinct)
        for shown in bound.columns:
            check_key_type(shown.type, select.expressions[0], binding)
        bound = Bound(Distinct(bound.node), bound.columns)
    return bound


def _refuse_clauses(select: exp.Select, binding: Binding) -> None:
    """Refuse clauses without a rule; those that only order rows mean nothing to a table."""
    for word, value in select.args.items():
        if not value or word in _KNOWN_CLAUSES:
            continue
        if word in _ORDERINGS:
            binding.notes.add(f"{_ORDERINGS[word]} has no effect: a table has no order.")
            continue
        shown = _CLAUSE_NAMES.get(word, word.strip("_").upper().replace("_", " "))
        raise binding.unimplemented(shown, value[0] if isinstance(value, list) else value)
    if not select.expressions:
        raise SqlSyntaxError(
            "the select list is empty",
            sql=binding.sql,
            span=binding.place_of(None, "SELECT"),
            hint="Name at least one column.",
        )


def _select_items(select: exp.Select, scope: Scope, binding: Binding) -> list[SelectItem]:
    items: list[SelectItem] = []
    earlier: dict[str, exp.Expr] = {}
    for item in select.expressions:
        if (star := star_columns(item, scope, binding)) is not None:
            items.extend(SelectItem(shown.shown, column(shown.inner)) for shown in star)
        else:
            inner = item.this if isinstance(item, exp.Alias) else item
            if isinstance(item, exp.Aliases):
                raise binding.unimplemented("a generator in the select list", item)
            # An item may name an earlier one, where FROM has no such column.
            bound = bind_expression(inner, scope, binding, aggregates=True, aliases=earlier)
            items.append(SelectItem(_shown_name(item), bound))
            if isinstance(item, exp.Alias):
                earlier[item.alias.lower()] = bound
    return items


def _shown_name(item: exp.Expr) -> str:
    """Return the column name that Spark would show for an item of the select list."""
    if isinstance(item, exp.Alias | exp.Column):
        return item.alias_or_name
    if isinstance(item, exp.Dot):
        return item.name
    return item.sql(dialect=VerbatimSpark, normalize_functions="lower")


def _projected(node: Node, items: list[SelectItem], binding: Binding) -> Bound:
    types = {item.name: item.type for item in node.columns}
    projections: list[Projection] = []
    shown: list[Visible] = []
    for item in items:
        check_types(item.expression, types, binding)
        found = type_of(item.expression, types)
        name = binding.namer.fresh(item.shown)
        projections.append(Projection(name, item.expression, found))
        shown.append(Visible(item.shown, name, found))
    return Bound(Project(node, tuple(projections)), tuple(shown))
