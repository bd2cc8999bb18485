"""Binding of one join of a FROM clause: its kind, its condition, and what USING makes one."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Node, Project, Projection, UnionAll
from streamtables.compiler.algebra.expressions import columns_in, null_of
from streamtables.compiler.frontend.attach import attached
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.correlation import free_columns
from streamtables.compiler.frontend.expressions import bind_expression, conjuncts
from streamtables.compiler.frontend.from_parts import FromClause, check_conditions, with_condition
from streamtables.compiler.frontend.implied import with_implied
from streamtables.compiler.frontend.probes import Conditions, existence, left_join, with_column
from streamtables.compiler.frontend.scope import Scope, Visible
from streamtables.compiler.frontend.subqueries import Subqueries, Subquery
from streamtables.compiler.frontend.typing import type_of


def join_clauses(
    left: FromClause, right: FromClause, join: exp.Join, binding: Binding
) -> FromClause:
    """Return two FROM clauses as one, by the kind of join between them."""
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if (join.method or "").upper() not in ("", "NATURAL"):
        raise binding.unsupported(f"a {join.method} join", join)
    if kind in ("SEMI", "ANTI"):
        return _existence_join(left, right, join, binding)
    if side in ("LEFT", "RIGHT", "FULL"):
        return _outer_join(left, right, join, binding)
    return _inner_join(left, right, join, binding)


def _inner_join(
    left: FromClause, right: FromClause, join: exp.Join, binding: Binding
) -> FromClause:
    both = left.beside(right)
    using = _using(left.scope, right.scope, join)
    if using:
        pairs = _pairs(left.scope, right.scope, using, binding)
        merged = _merged(left.scope, right.scope, pairs, [ours for ours, _ in pairs])
        return both.with_scope(merged).with_conditions(_equal(pairs))
    return with_condition(both, join.args["on"], binding) if join.args.get("on") else both


def _outer_join(
    left: FromClause, right: FromClause, join: exp.Join, binding: Binding
) -> FromClause:
    side = (join.side or "").upper()
    pairs = _pairs(left.scope, right.scope, _using(left.scope, right.scope, join), binding)
    ours, theirs, on = _on(left, right, join, binding)
    conditions = [*_equal(pairs), *on]
    if side == "LEFT":
        node: Node = left_join(ours, theirs, conditions, binding)
    elif side == "RIGHT":
        node = left_join(theirs, ours, conditions, binding)
    else:
        node = _full_join(ours, theirs, conditions, binding)
    both = left.scope.beside(right.scope)
    if not pairs:
        return FromClause((node,), both)
    shown = [theirs if side == "RIGHT" else ours for ours, theirs in pairs]
    if side == "FULL":
        node, shown = _coalesced(node, pairs, binding)
    return FromClause((node,), _merged(left.scope, right.scope, pairs, shown))


def _full_join(left: Node, right: Node, conditions: Conditions, binding: Binding) -> Node:
    """LEFT JOIN, and the right rows that match nothing beside NULLs."""
    matched = left_join(left, right, conditions, binding)
    alone = existence(right, left, conditions, "anti", binding)
    names = [(item, side) for side in (left, right) for item in side.columns]
    rows = Project(matched, tuple(Projection(i.name, column(i.name), i.type) for i, _ in names))
    padded = tuple(
        Projection(item.name, null_of(item.type) if side is left else column(item.name), item.type)
        for item, side in names
    )
    return UnionAll((rows, Project(alone, padded)))


def _existence_join(
    left: FromClause, right: FromClause, join: exp.Join, binding: Binding
) -> FromClause:
    mode = "semi" if (join.kind or "").upper() == "SEMI" else "anti"
    pairs = _pairs(left.scope, right.scope, _using(left.scope, right.scope, join), binding)
    ours, theirs, on = _on(left, right, join, binding)
    conditions = [*_equal(pairs), *on]
    node = existence(ours, theirs, conditions, "semi" if mode == "semi" else "anti", binding)
    return FromClause((node,), left.scope)


def _on(
    left: FromClause, right: FromClause, join: exp.Join, binding: Binding
) -> tuple[Node, Node, Conditions]:
    """Return both sides, and the conditions between them.

    What a subquery says about the rows of one side is a column of that side, made before the join.
    """
    ours, theirs = left.joined(binding), right.joined(binding)
    condition = join.args.get("on")
    if condition is None:
        return ours, theirs, []
    both = left.beside(right)
    found = Subqueries()
    bound = conjuncts(bind_expression(condition, both.scope, binding, subqueries=found))
    check_conditions(bound, both, binding)
    for subquery in found.found:
        if subquery.kind == "any" and subquery.unknown is not False:
            # Spark's answer for NULL depends there on how it runs the join.
            raise binding.unimplemented("NOT IN a subquery in ON of this join", condition)
        read = _outer_columns(subquery)
        if subquery.kind == "scalar" and read:
            raise binding.unimplemented("ON with a value that a subquery finds per row", condition)
        # What no row decides goes to the side that is compared with it.
        told = read or _compared_with(subquery.name, bound, found)
        if told and told <= set(theirs.names):
            theirs = attached(theirs, Subqueries([subquery]), binding)
        elif read <= set(ours.names):
            ours = attached(ours, Subqueries([subquery]), binding)
        else:
            raise binding.unimplemented("ON with a subquery about both sides", condition)
    said = [item for item in bound if item != exp.true()]
    return ours, theirs, with_implied(said, binding.types_of(ours, theirs))


def _compared_with(name: str, conditions: Conditions, found: Subqueries) -> frozenset[str]:
    """Return the columns of both sides that the conditions with a subquery's column read."""
    readers = [columns_in(item) for item in conditions if name in columns_in(item)]
    return frozenset().union(*readers) - set(found.types())


def _outer_columns(subquery: Subquery) -> frozenset[str]:
    """Return what a subquery takes from outside: its free columns, and what stands before IN."""
    operands = [columns_in(item) for item in subquery.operands]
    return frozenset(free_columns(subquery.bound.node)).union(*operands)


def _using(left: Scope, right: Scope, join: exp.Join) -> list[exp.Column]:
    if join.args.get("using"):
        return [exp.Column(this=name.copy()) for name in join.args["using"]]
    if (join.method or "").upper() != "NATURAL":
        return []
    names = {item.shown.lower() for item in right.visible}
    shared = [item.shown for item in left.visible if item.shown.lower() in names]
    return [exp.Column(this=exp.to_identifier(name)) for name in shared]


Pairs = list[tuple[Visible, Visible]]


def _pairs(left: Scope, right: Scope, using: list[exp.Column], binding: Binding) -> Pairs:
    return [
        (left.resolve(name, binding.sql)[0], right.resolve(name, binding.sql)[0]) for name in using
    ]


def _equal(pairs: Pairs) -> Conditions:
    return [
        exp.EQ(this=column(ours.inner), expression=column(theirs.inner)) for ours, theirs in pairs
    ]


def _merged(left: Scope, right: Scope, pairs: Pairs, shown: list[Visible]) -> Scope:
    """USING shows one column for two, before all others."""
    hidden = [item for pair in pairs for item in pair]
    rest = [item for item in (*left.visible, *right.visible) if item not in hidden]
    return Scope(left.relations + right.relations, (*shown, *rest))


def _coalesced(node: Node, pairs: Pairs, binding: Binding) -> tuple[Node, list[Visible]]:
    """Either side of a FULL JOIN may be missing: USING shows the one that is there."""
    types = {item.name: item.type for item in node.columns}
    shown: list[Visible] = []
    more: list[Projection] = []
    for ours, theirs in pairs:
        value = exp.Anonymous(
            this="coalesce", expressions=[column(ours.inner), column(theirs.inner)]
        )
        name = binding.namer.fresh(ours.shown)
        type_ = type_of(value, types)
        more.append(Projection(name, value, type_))
        shown.append(Visible(ours.shown, name, type_))
    return with_column(node, *more), shown
