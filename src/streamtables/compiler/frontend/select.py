"""Binding of one SELECT: FROM, WHERE, groups, the select list and DISTINCT, in SQL's order."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Distinct, Node, Project, Projection
from streamtables.compiler.frontend.binding import Binding, Bound, column
from streamtables.compiler.frontend.dialect import VerbatimSpark, span_of
from streamtables.compiler.frontend.expressions import bind_expression, check_types
from streamtables.compiler.frontend.from_clause import BindQuery, bind_from, with_condition
from streamtables.compiler.frontend.grouping import SelectItem, bind_groups, needs_grouping
from streamtables.compiler.frontend.scope import Scope, Visible
from streamtables.compiler.frontend.typing import type_of
from streamtables.errors import UnknownNameError

_KNOWN_CLAUSES = frozenset(
    {"expressions", "from_", "joins", "where", "group", "having", "distinct", "with_", "order"}
    | {"limit", "offset", "hint", "kind", "operation_modifiers"}
)


def bind_select(select: exp.Select, binding: Binding, bind_query: BindQuery) -> Bound:
    """Bind a SELECT without its WITH, ORDER BY and LIMIT, which the query level handles."""
    for word, value in select.args.items():
        if value and word not in _KNOWN_CLAUSES:
            place = value[0] if isinstance(value, list) else value
            raise binding.unimplemented(word.strip("_").upper().replace("_", " "), place)
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
        bound = Bound(Distinct(bound.node), bound.columns)
    return bound


def _select_items(select: exp.Select, scope: Scope, binding: Binding) -> list[SelectItem]:
    items: list[SelectItem] = []
    earlier: dict[str, exp.Expr] = {}
    for item in select.expressions:
        if (star := _star(item, scope, binding)) is not None:
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


def _star(item: exp.Expr, scope: Scope, binding: Binding) -> list[Visible] | None:
    """Return the columns that a star shows; None when the item is no star."""
    qualifier: tuple[str, ...] = ()
    if isinstance(item, exp.Star):
        star = item
    elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        star, qualifier = item.this, tuple(part.name for part in item.parts[:-1])
    else:
        return None
    found = scope.star(qualifier)
    if found is None:
        raise UnknownNameError(
            f'no table "{".".join(qualifier)}" is in reach here',
            sql=binding.sql,
            span=span_of(item),
        )
    if star.args.get("replace") or star.args.get("rename"):
        raise binding.unsupported("REPLACE or RENAME after a star", item)
    left_out = {name.name.lower() for name in star.args.get("except_") or ()}
    return [visible for visible in found if visible.shown.lower() not in left_out]


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
