"""Session windows: `session_window(ts, '5 minutes')` puts rows that follow closely together.

With t the moment of a row and g the gap, within the rows of equal other groups

    reached = max(t) + g over the rows before t        where the session would have ended
    begins  = t where nothing is before, or reached < t; a row at the very end still belongs to it
    start   = max(begins) over the rows up to t
    end     = max(t) + g over the rows of one start

so sessions are two windows over the partition of the other groups, and a changed row concerns the
rows of its partition alone.  As in Spark a row without a moment is in no session and goes, a gap of
nothing leaves no row, and outside of GROUP BY a session is that of its row alone.  GROUP BY ALL
groups by the items without aggregates.  What a query round this one may do with the column stands
in `session_groups.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streamtables.compiler.algebra import Filter, Node, Projection, Window, WindowCall
from streamtables.compiler.frontend.aggregates import calls_in
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.expressions import bind_expression, star_items
from streamtables.compiler.frontend.from_parts import FromClause
from streamtables.compiler.frontend.key_types import check_key_type
from streamtables.compiler.frontend.ordering import ordinal
from streamtables.compiler.frontend.probes import with_column
from streamtables.compiler.frontend.time_parts import SESSION, big, call_of, more, window_calls
from streamtables.compiler.frontend.typing import type_of
from streamtables.compiler.types import BIGINT, TIME_WINDOW

_EARLIER = ("UNBOUNDED", "PRECEDING", exp.Literal.number(1), "PRECEDING")
_SETS = exp.Rollup | exp.Cube | exp.GroupingSets
_UP_TO_HERE = ("UNBOUNDED", "PRECEDING", "CURRENT ROW", None)


@dataclass(frozen=True)
class SessionWindow:
    """One call: the moment of a row, and the microseconds after which a session ends."""

    moment: exp.Expr
    gap: int


def other_groups(
    select: exp.Select, clause: FromClause, binding: Binding
) -> tuple[exp.Expr, ...] | None:
    """Return what a SELECT groups by beside its session; None where it does not group by it."""
    group = select.args.get("group")
    if group is None:
        return None
    if group.args.get("all"):
        meant = _without_aggregates(select, clause, binding)
    else:
        meant = [_meant(item, select, clause, binding) for item in group.expressions]
    calls = [call for item in (*meant, group) for call in window_calls(item)]
    if not calls:
        return None
    plain = ("expressions", "all")
    if any(value for name, value in group.args.items() if name not in plain) or any(
        isinstance(item, _SETS) for item in meant
    ):
        raise binding.unimplemented("a session window beside sets of groups", calls[0])
    others = [item for item in meant if item not in calls]
    if any(_reads_session(item, select, clause) for item in others):
        raise binding.unimplemented("a group by a part of a session window", calls[0])
    return tuple(bind_expression(item, clause.scope, binding) for item in others)


def _without_aggregates(select: exp.Select, clause: FromClause, binding: Binding) -> list[exp.Expr]:
    """Return what GROUP BY ALL groups by."""
    found: list[exp.Expr] = []
    for item in select.expressions:
        stars = star_items(item, clause.scope, binding)
        values = [item.unalias().unnest()] if stars is None else [value for _, value in stars]
        found += [value for value in values if not calls_in(value)]
    return found


def _reads_session(item: exp.Expr, select: exp.Select, clause: FromClause) -> bool:
    """Whether an expression reads a session, by a call or by one of its names."""
    if next(window_calls(item), None) is not None:
        return True
    shown = {
        other.alias.lower()
        for other in select.expressions
        if other.alias and next(window_calls(other), None) is not None
    }
    read = (item for item in item.find_all(exp.Column) if not item.meta.get("bound"))
    names = {item.parts[0].name.lower() for item in read}
    return any(name in shown | {SESSION} and not clause.scope.has(name) for name in names)


def _meant(item: exp.Expr, select: exp.Select, clause: FromClause, binding: Binding) -> exp.Expr:
    """Return the expression that an ordinal or an alias of the select list means."""
    place = ordinal(item, len(select.expressions), "GROUP BY", binding)
    if place is not None:
        chosen: exp.Expr = select.expressions[place]
        return chosen.unalias()
    if isinstance(item, exp.Column) and not item.table and not clause.scope.has(item.name):
        named = (other for other in select.expressions if other.alias == item.name)
        return next(named, item).unalias()
    return item.unnest()


def in_sessions(
    node: Node,
    window: SessionWindow,
    groups: tuple[exp.Expr, ...] | None,
    name: str,
    binding: Binding,
) -> Node:
    """Return each row beside the session that it is in, as the column of this name."""
    fresh = binding.namer.fresh
    moment, gap = fresh("moment"), big(window.gap)
    value = call_of("unix_micros", window.moment)
    node = with_column(node, Projection(moment, value, BIGINT))
    is_null = exp.Is(this=column(moment), expression=exp.null())
    node = Filter(node, exp.and_(exp.Not(this=is_null), exp.GT(this=gap, expression=big(0))))
    if groups is None:
        return _beside(node, moment, more(column(moment), gap), name, binding)
    node, partition = _partitioned(node, groups, binding)
    by_moment = (exp.Ordered(this=column(moment)),)
    latest = exp.Anonymous(this="max", expressions=[column(moment)])
    before = WindowCall(fresh("latest"), latest, by_moment, _range(_EARLIER), BIGINT)
    node = Window(node, partition, (before,))
    begins, start = fresh("session_begins"), fresh("session_start")
    first = exp.Is(this=column(before.name), expression=exp.null())
    apart = exp.LT(this=more(column(before.name), gap), expression=column(moment))
    begun = exp.Case(ifs=[exp.If(this=exp.or_(first, apart), true=column(moment))])
    node = with_column(node, Projection(begins, begun, BIGINT))
    last = exp.Anonymous(this="max", expressions=[column(begins)])
    node = Window(
        node, partition, (WindowCall(start, last, by_moment, _range(_UP_TO_HERE), BIGINT),)
    )
    longest = WindowCall(fresh("latest"), latest.copy(), (), None, BIGINT)
    node = Window(node, (*partition, start), (longest,))
    return _beside(node, start, more(column(longest.name), gap), name, binding)


def _partitioned(
    node: Node, groups: tuple[exp.Expr, ...], binding: Binding
) -> tuple[Node, tuple[str, ...]]:
    names: dict[str, None] = {}
    for group in groups:
        type_ = type_of(group, binding.types_of(node))
        check_key_type(type_, group, binding)
        bare = group.unnest()
        if not isinstance(bare, exp.Column):
            name = binding.namer.fresh("partition")
            node = with_column(node, Projection(name, bare, type_))
            bare = column(name)
        names[bare.name] = None
    return node, tuple(names)


def _beside(node: Node, start: str, end: exp.Expr, name: str, binding: Binding) -> Node:
    # A column of its own: the end of a session does not follow from its start.
    ended = binding.namer.fresh("session_end")
    node = with_column(node, Projection(ended, end, BIGINT))
    value = call_of(
        "named_struct",
        *(exp.Literal.string("start"), call_of("timestamp_micros", column(start))),
        *(exp.Literal.string("end"), call_of("timestamp_micros", column(ended))),
    )
    return with_column(node, Projection(name, value, TIME_WINDOW))


def _range(bounds: tuple[str, str, str | exp.Expr, str | None]) -> exp.WindowSpec:
    start, start_side, end, end_side = bounds
    return exp.WindowSpec(
        kind="RANGE", start=start, start_side=start_side, end=end, end_side=end_side
    )
