"""Binding of ORDER BY … LIMIT … OFFSET: the first rows of an order that leaves no ties."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Filter, Project, Projection, TopK
from streamtables.compiler.frontend.binding import Binding, Bound, column
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.tie_breakers import tie_breakers, without_repeats
from streamtables.compiler.frontend.whole_numbers import whole_number
from streamtables.compiler.rewrites.carry_key import with_key
from streamtables.errors import SqlTypeError, UnknownNameError

HIDDEN = "__st_order_"
"""How columns are named that are only there to order by."""


def has_limit(query: exp.Query) -> bool:
    """Whether only some rows of a query are wanted."""
    return query.args.get("limit") is not None or query.args.get("offset") is not None


def note_order(query: exp.Query, binding: Binding) -> None:
    """Note an order that means nothing."""
    if query.args.get("order") is not None and not has_limit(query):
        binding.notes.add("ORDER BY without LIMIT has no effect: a table has no order.")


def order_of(query: exp.Query) -> list[exp.Ordered]:
    """Return the items of ORDER BY."""
    order = query.args.get("order")
    return order.expressions if order is not None else []


def limited(
    bound: Bound, order: list[tuple[str, exp.Ordered]], query: exp.Query, binding: Binding
) -> Bound:
    """Return the first rows of a bound query, ordered by columns of it, hidden ones included."""
    rows, skipped = (_number(query.args.get(word), binding) for word in ("limit", "offset"))
    if not order:
        return _limited_row(bound, query, binding, wanted=rows != 0 and not skipped)
    wanted = tuple(
        exp.Ordered(
            this=column(name),
            desc=item.args.get("desc"),
            nulls_first=item.args.get("nulls_first"),
        )
        for name, item in order
    )
    # With the key below them, first rows can be found again, and told by those that are stored.
    node = with_key(bound.node)
    first = TopK(
        node,
        (),
        without_repeats((*wanted, *tie_breakers(node))),
        rows,
        skipped or 0,
    )
    shown = tuple(Projection(c.inner, column(c.inner), c.type) for c in bound.columns)
    if len(shown) == len(node.columns):
        return Bound(first, bound.columns)
    return Bound(Project(first, shown), bound.columns)


def _limited_row(bound: Bound, query: exp.Query, binding: Binding, *, wanted: bool) -> Bound:
    """Return a query without an order: of one row at most, a limit takes all or nothing."""
    if bound.node.key != ():
        limit = query.args.get("limit") or query.args["offset"]
        raise binding.not_incremental("LIMIT without ORDER BY may pick any rows.", limit)
    return bound if wanted else Bound(Filter(bound.node, exp.false()), bound.columns)


def by_output(bound: Bound, query: exp.Query, binding: Binding) -> list[tuple[str, exp.Ordered]]:
    """Return the order of a set operation, which can only name its output."""
    found = []
    for item in order_of(query):
        inner = item.this.unnest()
        place = ordinal(inner, len(bound.columns), "ORDER BY", binding)
        if place is not None:
            found.append((bound.columns[place].inner, item))
            continue
        same = [c for c in bound.columns if c.shown.lower() == inner.name.lower()]
        if not isinstance(inner, exp.Column) or len(same) != 1:
            raise UnknownNameError(
                "ORDER BY after a set operation must name one of its columns",
                sql=binding.sql,
                span=span_of(inner),
                hint="Name a column of the first SELECT, or its number.",
            )
        found.append((same[0].inner, item))
    return found


def ordinal(item: exp.Expr, count: int, clause: str, binding: Binding) -> int | None:
    """Return the place in the select list that a number means; None for anything else."""
    if not isinstance(item, exp.Literal) or item.is_string:
        return None
    position = int(item.name) if item.name.isdigit() else 0
    if not 1 <= position <= count:
        raise UnknownNameError(
            f"{clause} position {item.name} is not in the select list",
            sql=binding.sql,
            span=binding.place_of(item, f"{clause} {item.name}"),
            hint=f"Use a number between 1 and {count}.",
        )
    return position - 1


def _number(clause: exp.Expr | None, binding: Binding) -> int | None:
    if clause is None:
        return None
    value = clause.expression.unnest()
    number = whole_number(value)
    if number is None or number < 0:
        raise SqlTypeError(
            "LIMIT and OFFSET take a whole number",
            sql=binding.sql,
            span=span_of(value),
            hint="Write the number itself, or sums and products of such numbers.",
        )
    return number
