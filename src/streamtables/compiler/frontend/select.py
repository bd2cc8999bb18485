"""Binding of one SELECT: FROM, WHERE, groups, windows, the select list, DISTINCT, the first rows.

The parts are bound in SQL's order.  Items that only ORDER BY needs travel with the select list as
hidden ones, so that groups and windows are made for them too.
"""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Distinct, Node, Project, Projection
from streamtables.compiler.frontend.attach import attached, filtered
from streamtables.compiler.frontend.binding import Binding, Bound
from streamtables.compiler.frontend.dialect import VerbatimSpark, span_of
from streamtables.compiler.frontend.expressions import bind_expression, check_types, star_items
from streamtables.compiler.frontend.from_clause import bind_from
from streamtables.compiler.frontend.from_parts import FromClause, with_condition
from streamtables.compiler.frontend.generators import generated_items, with_lateral_view
from streamtables.compiler.frontend.grouping import bind_groups, needs_grouping
from streamtables.compiler.frontend.key_types import check_key_type
from streamtables.compiler.frontend.ordering import HIDDEN, has_limit, limited, order_of, ordinal
from streamtables.compiler.frontend.scope import Scope, Visible
from streamtables.compiler.frontend.select_items import SelectItem, aliases_of
from streamtables.compiler.frontend.subqueries import Subqueries
from streamtables.compiler.frontend.time_windows import with_time_window
from streamtables.compiler.frontend.typing import type_of
from streamtables.compiler.frontend.windows import bind_windows, name_windows
from streamtables.errors import SqlSyntaxError, UnknownNameError

_KNOWN_CLAUSES = frozenset(
    {"expressions", "from_", "joins", "where", "group", "having", "distinct", "with_", "order"}
    | {"limit", "offset", "hint", "kind", "operation_modifiers", "laterals", "windows", "qualify"}
)

_ORDERINGS = {"sort": "SORT BY", "cluster": "CLUSTER BY", "distribute": "DISTRIBUTE BY"}
_CLAUSE_NAMES = {"locks": "FOR UPDATE"}


def bind_select(select: exp.Select, binding: Binding) -> Bound:
    """Bind a SELECT without its WITH, which the query level handles."""
    _refuse_clauses(select, binding)
    if select.args.get("hint"):
        binding.notes.add("Hints in the query are ignored.")
    select = name_windows(select)
    clause = bind_from(select, binding)
    for view in select.args.get("laterals") or ():
        clause = with_lateral_view(clause, view, binding)
    if where := select.args.get("where"):
        clause = with_condition(clause, where.this, binding)
    return _bind_list(select, clause, binding)


def _bind_list(select: exp.Select, clause: FromClause, binding: Binding) -> Bound:
    """Bind everything above WHERE."""
    select, clause = with_time_window(select, clause, binding)
    subqueries = Subqueries(one_moment=True)
    node = clause.joined(binding)
    items = _select_items(select, clause.scope, binding, subqueries)
    qualify = _qualify(select, items, clause.scope, binding, subqueries)
    order = _order_items(select, items, clause.scope, binding, subqueries)
    hidden = [item for item, _ in order if item.hidden]
    everything = [*items, *hidden, *([qualify] if qualify else [])]
    if needs_grouping(select, everything):
        node, everything, subqueries = bind_groups(
            select, node, everything, clause.scope, binding, subqueries
        )
    node = attached(node, subqueries, binding)
    node, expressions = bind_windows(node, [item.expression for item in everything], binding)
    everything = [
        item.over(expression) for item, expression in zip(everything, expressions, strict=True)
    ]
    if qualify:
        node = filtered(node, everything.pop().expression, Subqueries(), binding)
    node, everything = generated_items(node, everything, binding)
    bound = _projected(node, everything, binding)
    if distinct := select.args.get("distinct"):
        bound = _distinct(bound, distinct, select, binding, hidden=bool(hidden))
    if not has_limit(select):
        return bound
    return limited(bound, _order_columns(bound, order, items, everything), select, binding)


def _refuse_clauses(select: exp.Select, binding: Binding) -> None:
    """Refuse clauses without a rule; those that only order rows mean nothing to a table."""
    for word, value in select.args.items():
        if not value or word in _KNOWN_CLAUSES:
            continue
        if word in _ORDERINGS:
            binding.notes.add(f"{_ORDERINGS[word]} has no effect: a table has no order.")
            continue
        shown = _CLAUSE_NAMES.get(word, word.strip("_").upper().replace("_", " "))
        part = value[0] if isinstance(value, list) else value
        raise binding.unimplemented(shown, part, word=shown)
    if not select.expressions:
        raise SqlSyntaxError(
            "the select list is empty",
            sql=binding.sql,
            span=binding.place_of(None, "SELECT"),
            hint="Name at least one column.",
        )
    group = select.args.get("group")
    if group is not None and not any(group.args.values()):
        raise SqlSyntaxError(
            "the GROUP BY is empty",
            sql=binding.sql,
            span=binding.place_of(None, "GROUP BY"),
            hint="Name what to group by, or write GROUP BY ALL.",
        )


def _select_items(
    select: exp.Select, scope: Scope, binding: Binding, subqueries: Subqueries
) -> list[SelectItem]:
    items: list[SelectItem] = []
    earlier: dict[str, exp.Expr] = {}
    for item in select.expressions:
        if (star := star_items(item, scope, binding)) is not None:
            items.extend(SelectItem(shown, value) for shown, value in star)
            continue
        inner = item.this if isinstance(item, exp.Alias | exp.Aliases) else item
        inner = _without_brackets(inner)
        # An item may name an earlier one, where FROM has no such column.
        bound = bind_expression(
            inner,
            scope,
            binding,
            aggregates=True,
            aliases=earlier,
            subqueries=subqueries,
            windows=True,
            generator=True,
        )
        names = tuple(name.name for name in item.expressions if isinstance(item, exp.Aliases))
        items.append(SelectItem(_shown_name(item), bound, names=names))
        if isinstance(item, exp.Alias):
            earlier[item.alias.lower()] = bound
    return items


def _qualify(
    select: exp.Select,
    items: list[SelectItem],
    scope: Scope,
    binding: Binding,
    subqueries: Subqueries,
) -> SelectItem | None:
    qualify = select.args.get("qualify")
    if qualify is None:
        return None
    bound = bind_expression(
        qualify.this,
        scope,
        binding,
        aggregates=True,
        aliases=aliases_of(items),
        subqueries=subqueries,
        windows=True,
    )
    return SelectItem("qualify", bound, hidden=True)


def _order_items(
    select: exp.Select,
    items: list[SelectItem],
    scope: Scope,
    binding: Binding,
    subqueries: Subqueries,
) -> list[tuple[SelectItem, exp.Ordered]]:
    """Return what to order by: items of the select list, or hidden ones made for it."""
    if not has_limit(select):
        return []
    found: list[tuple[SelectItem, exp.Ordered]] = []
    for number, ordered in enumerate(order_of(select)):
        item = ordered.this.unnest()
        place = ordinal(item, len(items), "ORDER BY", binding)
        if place is not None:
            found.append((items[place], ordered))
            continue
        shown = [i for i in items if isinstance(item, exp.Column) and i.answers_to(item)]
        if shown:
            found.append((shown[0], ordered))
            continue
        bound = bind_expression(
            item,
            scope,
            binding,
            aggregates=True,
            aliases=aliases_of(items),
            subqueries=subqueries,
            windows=True,
        )
        same = [i for i in items if i.expression == bound]
        hidden = SelectItem(f"{HIDDEN}{number}", bound, hidden=True)
        found.append((same[0] if same else hidden, ordered))
    return found


def _order_columns(
    bound: Bound,
    order: list[tuple[SelectItem, exp.Ordered]],
    items: list[SelectItem],
    everything: list[SelectItem],
) -> list[tuple[str, exp.Ordered]]:
    """Return the columns of a bound SELECT to order by."""
    names = bound.node.names
    hidden = iter(names[len(bound.columns) :])
    assert len(names) <= len(everything)
    return [
        (next(hidden) if item.hidden else bound.columns[items.index(item)].inner, ordered)
        for item, ordered in order
    ]


def _shown_name(item: exp.Expr) -> str:
    """Return the column name that Spark would show for an item of the select list."""
    item = _without_brackets(item)
    if isinstance(item, exp.Alias | exp.Column):
        return item.alias_or_name
    if isinstance(item, exp.Dot):
        return item.name
    return item.sql(dialect=VerbatimSpark, normalize_functions="lower")


def _without_brackets(item: exp.Expr) -> exp.Expr:
    """Return what brackets hold: `(a)` is the column `a`, under its own name."""
    while isinstance(item, exp.Paren):
        item = item.this
    return item


def _projected(node: Node, items: list[SelectItem], binding: Binding) -> Bound:
    types = binding.types_of(node)
    projections: list[Projection] = []
    shown: list[Visible] = []
    for item in items:
        check_types(item.expression, types, binding)
        found = type_of(item.expression, types)
        name = binding.namer.fresh(item.shown)
        projections.append(Projection(name, item.expression, found))
        if not item.hidden:
            shown.append(Visible(item.shown, name, found))
    return Bound(Project(node, tuple(projections)), tuple(shown))


def _distinct(
    bound: Bound, distinct: exp.Expr, select: exp.Select, binding: Binding, *, hidden: bool
) -> Bound:
    if distinct.args.get("on"):
        raise binding.unsupported("DISTINCT ON", distinct)
    if hidden:
        raise UnknownNameError(
            "ORDER BY of a SELECT DISTINCT must name what it selects",
            sql=binding.sql,
            span=span_of(select.args["order"]),
            hint="Select what to order by, or order in a query round this one.",
        )
    for shown in bound.columns:
        check_key_type(shown.type, select.expressions[0], binding)
    return Bound(Distinct(bound.node), bound.columns)
