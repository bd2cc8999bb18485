"""Binding of UNION, INTERSECT and EXCEPT.

UNION ALL is an operator; the others follow from counting, per row, how often it occurs on the left
and on the right:

    UNION            at least once on either side
    INTERSECT        on both sides                      ALL: min(left, right) times
    EXCEPT, MINUS    on the left and not on the right   ALL: left − right times
"""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import (
    Aggregate,
    AggregateCall,
    Column,
    Distinct,
    Filter,
    Generate,
    Node,
    Project,
    Projection,
    UnionAll,
)
from streamtables.compiler.frontend.binding import Binding, Bound, column
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.key_types import check_key_type
from streamtables.compiler.frontend.probes import with_column
from streamtables.compiler.frontend.scope import Visible
from streamtables.compiler.types import BIGINT, INT, UNKNOWN, SqlType, wider
from streamtables.errors import SqlTypeError


def bind_set_operation(query: exp.SetOperation, binding: Binding) -> Bound:
    """Bind a set operation, or a chain of equal ones."""
    if query.args.get("by_name"):
        raise binding.unsupported(f"{query.key.upper()} BY NAME", query)
    branches = [binding.bind_query(side, binding) for side in _branches(query)]
    types = _common_types(branches, query, binding)
    names = [binding.namer.fresh(item.shown) for item in branches[0].columns]
    sides = [_aligned(branch, names, types) for branch in branches]
    if isinstance(query, exp.Union) and not query.args.get("distinct"):
        node: Node = UnionAll(tuple(sides))
    else:
        for type_ in types:
            check_key_type(type_, query.expression, binding)
        if isinstance(query, exp.Union):
            node = Distinct(UnionAll(tuple(sides)))
        else:
            node = _counted(sides[0], sides[1], query, binding)
    shown = tuple(
        Visible(item.shown, name, type_)
        for item, name, type_ in zip(branches[0].columns, names, types, strict=True)
    )
    return Bound(node, shown)


def _branches(query: exp.SetOperation) -> list[exp.Query]:
    """Return the branches of a chain of unions of the same kind, from left to right."""
    left = query.this
    same = (
        isinstance(query, exp.Union)
        and isinstance(left, exp.Union)
        and bool(left.args.get("distinct")) == bool(query.args.get("distinct"))
        and not left.args.get("by_name")
        and not any(left.args.get(word) for word in ("order", "limit", "offset", "with_"))
    )
    return [*(_branches(left) if same else [left]), query.expression]


def _common_types(
    branches: list[Bound], query: exp.SetOperation, binding: Binding
) -> list[SqlType]:
    width = len(branches[0].columns)
    for branch in branches:
        if len(branch.columns) != width:
            raise SqlTypeError(
                f"{query.key.upper()} of {width} and {len(branch.columns)} columns",
                sql=binding.sql,
                span=span_of(query.expression),
                hint="Every branch must have the same number of columns.",
            )
    return [_widest([branch.columns[i].type for branch in branches]) for i in range(width)]


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


def _counted(left: Node, right: Node, query: exp.SetOperation, binding: Binding) -> Node:
    ours, theirs = binding.namer.fresh("left"), binding.namer.fresh("right")
    both = UnionAll((_with_counts(left, ours, theirs, 1), _with_counts(right, ours, theirs, 0)))
    on_left, on_right = binding.namer.fresh("on_left"), binding.namer.fresh("on_right")
    calls = tuple(
        AggregateCall(total, "sum", (column(part),), (INT,), None, BIGINT)
        for total, part in ((on_left, ours), (on_right, theirs))
    )
    counts = Aggregate(both, left.names, calls)
    everywhere = not query.args.get("distinct")
    times = _times(query, on_left, on_right) if everywhere else None
    chosen = Filter(counts, _is_shown(query, on_left, on_right, everywhere=everywhere))
    rows: Node = chosen if times is None else _repeated(chosen, times, binding)
    return Project(rows, tuple(Projection(c.name, column(c.name), c.type) for c in left.columns))


def _with_counts(side: Node, ours: str, theirs: str, on_left: int) -> Node:
    return with_column(
        side,
        Projection(ours, exp.Literal.number(on_left), INT),
        Projection(theirs, exp.Literal.number(1 - on_left), INT),
    )


def _is_shown(
    query: exp.SetOperation, on_left: str, on_right: str, *, everywhere: bool
) -> exp.Expr:
    def more(left: exp.Expr, right: exp.Expr) -> exp.Expr:
        return exp.GT(this=left, expression=right)

    zero = exp.Literal.number(0)
    left, right = column(on_left), column(on_right)
    if isinstance(query, exp.Intersect):
        return exp.and_(more(left, zero), more(right, zero.copy()))
    if everywhere:
        return more(left, right)
    return exp.and_(more(left, zero), exp.EQ(this=right, expression=zero.copy()))


def _times(query: exp.SetOperation, on_left: str, on_right: str) -> exp.Expr:
    if isinstance(query, exp.Intersect):
        return exp.Anonymous(this="least", expressions=[column(on_left), column(on_right)])
    return exp.Sub(this=column(on_left), expression=column(on_right))


def _repeated(node: Node, times: exp.Expr, binding: Binding) -> Node:
    bounds = [exp.cast(item, "bigint", dialect="spark") for item in (exp.Literal.number(1), times)]
    numbers = exp.Anonymous(this="sequence", expressions=bounds)
    call = exp.Anonymous(this="explode", expressions=[numbers])
    return Generate(node, call, (Column(binding.namer.fresh("time"), BIGINT),))
