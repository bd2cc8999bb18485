"""Find a group of a time window by the window's start, where the rows are stored by their group.

    γ[g, w](X)  =  π[g, w := (start, start + d)] γ[g, start := w.start](X)

The length d of a window is fixed, so its start tells it from all others; a session is told by its
start and its end.  A stored row is then found by timestamps, which can stand in a predicate, not
by a struct, which cannot.  The trap: any other struct may be NULL, or differ in its end; only a
window that the query makes is split.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from streamtables.compiler.algebra import Aggregate, Filter, Node, Project, Projection
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.types import TIME_WINDOW, TIMESTAMP


@dataclass(frozen=True)
class _Split:
    """A relation with the starts of windows, and the name that a window has above it."""

    node: Node
    window: str | None
    start: str
    length: exp.Expr | None
    """The microseconds of a window; None for sessions, whose end is the next column."""
    end: str
    made: bool = False
    """Whether the relation has a column with the windows again."""


def group_by_window_start(root: Project) -> Project:
    """Return the same relation; a time window among its groups is told by its start."""
    if (below := _chain(root.input)) is None:
        return root
    return Project(below.node, _projections(root, below))


def _chain(node: Node) -> _Split | None:
    if isinstance(node, Aggregate):
        return _aggregate(node)
    if not isinstance(node, Project | Filter) or (below := _chain(node.input)) is None:
        return None
    if isinstance(node, Filter):
        return replace(below, node=Filter(below.node, _by_start(node.condition, below)))
    names = [below.start] if below.length is not None else [below.start, below.end]
    kept = tuple(Projection(name, column(name), TIMESTAMP) for name in names)
    made = Project(below.node, (*_projections(node, below), *kept))
    return replace(below, node=made, window=node.passed.get(below.window or ""), made=True)


def _aggregate(aggregate: Aggregate) -> _Split | None:
    rows = aggregate.input
    for window in aggregate.group:
        ends = {f"{field}_of_{window}": field for field in ("start", "end")}
        start, end = ends
        taken = not ends.keys().isdisjoint({*rows.names, *aggregate.names})
        made = None if taken else _made(rows, window)
        if made is None:
            continue
        length = _length(made)
        told = (start,) if length is not None else (start, end)
        group = [told if name == window else (name,) for name in aggregate.group]
        parts = {name: ends[name] for name in told}
        split = replace(aggregate, input=_with_parts(rows, window, parts), group=sum(group, ()))
        return _Split(split, window, start, length, end)
    return None


def _with_parts(rows: Node, window: str, parts: Mapping[str, str]) -> Node:
    passed = tuple(Projection(item.name, column(item.name), item.type) for item in rows.columns)
    split = (
        Projection(
            name,
            exp.Dot(this=column(window), expression=exp.to_identifier(field, quoted=True)),
            TIMESTAMP,
        )
        for name, field in parts.items()
    )
    return Project(rows, (*passed, *split))


def _projections(node: Project, below: _Split) -> tuple[Projection, ...]:
    return tuple(replace(i, expression=_by_start(i.expression, below)) for i in node.projections)


def _by_start(expression: exp.Expr, below: _Split) -> exp.Expr:
    """Return an expression that asks for the start, where it asks for the window or a field."""

    def of_start(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Dot) and _is_window(part.this, below):
            is_start = part.expression.name.lower() == "start"
            return column(below.start) if is_start else _end(below)
        if _is_window(part, below) and not below.made:
            names = [exp.Literal.string("start"), exp.Literal.string("end")]
            return _call("named_struct", names[0], column(below.start), names[1], _end(below))
        return part

    return expression.transform(of_start)


def _is_window(part: exp.Expr, below: _Split) -> bool:
    return isinstance(part, exp.Column) and part.name == below.window


def _end(below: _Split) -> exp.Expr:
    if below.length is None:
        return column(below.end)
    start = _call("unix_micros", column(below.start))
    return _call("timestamp_micros", exp.Add(this=start, expression=below.length.copy()))


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _made(node: Node, name: str) -> exp.Anonymous | None:
    """Return the struct of a window in a column that the query makes, None for another."""
    while isinstance(node, Project | Filter):
        if isinstance(node, Project):
            value = next(item for item in node.projections if item.name == name)
            if value.type != TIME_WINDOW:
                return None
            if value.passes is None:
                return _as_window(value.expression)
            name = value.passes
        node = node.input
    return None


def _as_window(value: exp.Expr) -> exp.Anonymous | None:
    """Return named_struct('start', …, 'end', timestamp_micros(…)) as it is, else None."""
    if not isinstance(value, exp.Anonymous) or value.name != "named_struct":
        return None
    return value if value.expressions[-1].name == "timestamp_micros" else None


def _length(window: exp.Anonymous) -> exp.Expr | None:
    """Return d of timestamp_micros(s + d), and None where the end is a column."""
    moment = window.expressions[-1].expressions[0]
    return moment.expression.copy() if isinstance(moment, exp.Add) else None
