"""Time windows: `window(ts, '10 minutes', '5 minutes')` puts each row beside the windows it is in.

With d the duration, s the slide, o the start and t the moment in microseconds

    last = t - (t - o) mod s            the start of the last window that holds t
    last, last - s, …                   ⌈d / s⌉ starts, of which those count with t < start + d

As in Spark a row without a moment is in no window and goes, one SELECT has one time window, and a
query that groups by it may call it `window`.  Sessions are made in `session_windows.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from streamtables.compiler.algebra import Column, Filter, Generate, Node, Projection
from streamtables.compiler.frontend.aggregates import calls_in
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.dialect import VerbatimSpark, span_of
from streamtables.compiler.frontend.expressions import bind_expression
from streamtables.compiler.frontend.from_parts import FromClause
from streamtables.compiler.frontend.probes import with_column
from streamtables.compiler.frontend.scope import Relation, Scope, Visible
from streamtables.compiler.frontend.session_windows import (
    SessionWindow,
    in_sessions,
    other_groups,
)
from streamtables.compiler.frontend.sessions_made import MadeSession
from streamtables.compiler.frontend.time_parts import (
    SESSION,
    big,
    call_of,
    less,
    more,
    name_of,
    window_calls,
)
from streamtables.compiler.frontend.typing import type_of
from streamtables.compiler.types import BIGINT, DATE, INT, TIME_WINDOW, TIMESTAMP
from streamtables.errors import SqlTypeError

_MICROSECONDS = {
    "week": 604_800_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
_PART = re.compile(rf"\s*([+-]?\d+)\s+({'|'.join(_MICROSECONDS)})s?(?=\s|$)", re.IGNORECASE)


@dataclass(frozen=True)
class _TimeWindow:
    """One call: the moment of a row, and the sizes in microseconds."""

    moment: exp.Expr
    duration: int
    slide: int
    start: int


def with_time_window(
    select: exp.Select, clause: FromClause, binding: Binding
) -> tuple[exp.Select, FromClause]:
    """Return a SELECT without the call of its time window, over the windows of each row."""
    calls = list(_calls(select))
    if not calls:
        return select, clause
    windows = [_bound(call, clause, binding) for call in calls]
    if any(other != windows[0] for other in windows):
        raise SqlTypeError(
            "a SELECT has one time window",
            sql=binding.sql,
            span=span_of(calls[-1]),
            hint="Make the other window in a query of its own.",
        )
    window, shown = windows[0], name_of(calls[0])
    if clause.scope.has(shown):
        raise binding.unimplemented(f'a time window beside a column "{shown}"', calls[0])
    grouped = any(_in_group(call, select) for call in calls)
    made = Visible(shown, binding.namer.fresh(shown), TIME_WINDOW)
    node = clause.joined(binding)
    if isinstance(window, SessionWindow):
        groups = other_groups(select, clause, binding)
        within = None if groups is None else tuple(item.unnest() for item in groups)
        binding.sessions[made.inner] = MadeSession(within, binding.sql, span_of(calls[0]))
        node = in_sessions(node, window, groups, made.inner, binding)
    else:
        node = _in_windows(node, window, made.inner, binding)
    scope = Scope(
        (*clause.scope.relations, Relation((), (made,))),
        clause.scope.visible,
        (made,) if grouped else (),
    )
    return _over_column(select, made.inner), FromClause((node,), scope)


def _over_column(select: exp.Select, name: str) -> exp.Select:
    """Return a SELECT that reads a column where it calls its time window."""
    result = select.copy()
    _keep_shown_names(result)
    for call in list(_calls(result)):
        bound = column(name)
        bound.meta["bound"] = True
        if span := span_of(call):
            bound.this.meta.update(start=span.start, end=span.end - 1)
        call.replace(bound)
    return result


def _calls(select: exp.Select) -> Iterator[exp.Anonymous]:
    """Yield the calls in the select list and in GROUP BY, those of inner queries left out."""
    parts = [*select.expressions, *([select.args["group"]] if select.args.get("group") else [])]
    for part in parts:
        yield from window_calls(part)


def _in_group(call: exp.Expr, select: exp.Select) -> bool:
    group = select.args.get("group")
    if group is None:
        return False
    if group.args.get("all"):
        return not any(
            node is call
            for item in select.expressions
            for outermost in calls_in(item)
            for node in outermost.walk()
        )
    return any(node is call for node in group.walk())


def _keep_shown_names(select: exp.Select) -> None:
    """Name the items as Spark does, which shows the call by the function's name alone."""
    for item in list(select.expressions):
        if isinstance(item, exp.Alias | exp.Aliases) or not list(window_calls(item)):
            continue
        shown = exp.Alias(this=item.copy())
        for node in list(window_calls(shown)):
            node.replace(exp.column(name_of(node)))
        text = shown.this.sql(dialect=VerbatimSpark, normalize_functions="lower")
        item.replace(exp.Alias(this=item.copy(), alias=exp.to_identifier(text, quoted=True)))


def _bound(
    call: exp.Anonymous, clause: FromClause, binding: Binding
) -> _TimeWindow | SessionWindow:
    if name_of(call) == SESSION:
        if len(call.expressions) != 2:
            raise _wrong("a session window takes a moment and a gap", call, binding)
        gap = _microseconds(call.expressions[1], binding)
        if not call.expressions[1].is_string:
            raise _wrong("the gap of a session window is a text, not a number", call, binding)
        return SessionWindow(_moment(call, clause, binding), gap)
    if not 2 <= len(call.expressions) <= 4:
        raise _wrong("a time window takes a moment and one to three durations", call, binding)
    bound, sizes = _moment(call, clause, binding), call.expressions[1:]
    duration, *rest = [_microseconds(size, binding) for size in sizes]
    slide = rest[0] if rest else duration
    start = rest[1] if len(rest) > 1 else 0
    if duration <= 0 or not 0 < slide <= duration or abs(start) >= slide:
        what = "a time window is longer than nothing, slides by at most its length,"
        raise _wrong(f"{what} and starts within one slide", call, binding)
    return _TimeWindow(bound, duration, slide, start)


def _moment(call: exp.Anonymous, clause: FromClause, binding: Binding) -> exp.Expr:
    moment = call.expressions[0]
    bound = bind_expression(moment, clause.scope, binding)
    type_ = type_of(bound, binding.types_of(*clause.parts))
    if type_ not in (TIMESTAMP, DATE):
        raise binding.unimplemented(f"a time window over a value of type {type_}", moment)
    return bound if type_ == TIMESTAMP else exp.cast(bound, TIMESTAMP, dialect="spark")


def _microseconds(size: exp.Expr, binding: Binding) -> int:
    """Return the microseconds of a duration: a text of whole units, or their number."""
    number = size.this if isinstance(size, exp.Neg) else size
    if isinstance(number, exp.Literal) and not number.is_string and number.name.isdigit():
        return -int(number.name) if number is not size else int(number.name)
    text = size.name if isinstance(size, exp.Literal) and size.is_string else ""
    rest = re.sub(r"^\s*interval\s", "", text, flags=re.IGNORECASE).strip()
    total, found = 0, bool(rest)
    while rest and found:
        part = _PART.match(rest)
        found = part is not None
        if part is not None:
            total += int(part[1]) * _MICROSECONDS[part[2].lower()]
            rest = rest[part.end() :].strip()
    if not found:
        raise binding.unimplemented("a duration other than whole weeks, days … microseconds", size)
    return total


def _wrong(what: str, call: exp.Anonymous, binding: Binding) -> SqlTypeError:
    hint = "Write window(moment, '10 minutes') or window(moment, '10 minutes', '5 minutes')."
    if name_of(call) == SESSION:
        hint = "Write session_window(moment, '5 minutes')."
    return SqlTypeError(what, sql=binding.sql, span=span_of(call), hint=hint)


def _in_windows(node: Node, window: _TimeWindow, name: str, binding: Binding) -> Node:
    """Return each row beside each window that its moment is in, as the column of this name."""
    moment, start = binding.namer.fresh("moment"), binding.namer.fresh("window_start")
    value = exp.Anonymous(this="unix_micros", expressions=[window.moment])
    node = with_column(node, Projection(moment, value, BIGINT))
    node = Filter(node, exp.Not(this=exp.Is(this=column(moment), expression=exp.null())))
    node = with_column(node, Projection(start, _last_start(column(moment), window), BIGINT))
    first: exp.Expr = column(start)
    count = -(-window.duration // window.slide)
    if count > 1:
        number = binding.namer.fresh("window_number")
        last = exp.Literal.number(count - 1)
        numbers = call_of("sequence", exp.Literal.number(0), last)
        node = Generate(node, call_of("explode", numbers), (Column(number, INT),))
        first = less(first, exp.Mul(this=column(number), expression=big(window.slide)))
        ended = exp.LT(this=column(moment), expression=more(first, big(window.duration)))
        node = Filter(node, ended)
    end = more(first, big(window.duration))
    value = call_of(
        "named_struct",
        *(exp.Literal.string("start"), call_of("timestamp_micros", first)),
        *(exp.Literal.string("end"), call_of("timestamp_micros", end)),
    )
    return with_column(node, Projection(name, value, TIME_WINDOW))


def _last_start(moment: exp.Expr, window: _TimeWindow) -> exp.Expr:
    """Return moment − (moment − start) mod slide, with a remainder that is never negative."""
    slide = big(window.slide)
    past = exp.Mod(this=exp.paren(less(moment, big(window.start))), expression=slide.copy())
    past = exp.Mod(this=exp.paren(more(past, slide.copy())), expression=slide)
    return less(moment, exp.paren(past))
