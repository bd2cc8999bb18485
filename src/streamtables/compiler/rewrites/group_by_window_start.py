"""Find a group of a time window by the window's start, where the rows are stored by their group.

    γ[g, w](X)  =  π[g, w := (start, start + d)] γ[g, start := w.start](X)

The length d of a window is fixed, so its start tells it from all others.  A stored row is then
found by a timestamp, which can stand in a predicate, and not by a struct, which cannot.  The trap:
any other struct may be NULL, or differ in its end; only a window that the query makes is split.
"""

from __future__ import annotations

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
    length: exp.Expr
    """The microseconds of a window."""
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
    started = Projection(below.start, column(below.start), TIMESTAMP)
    made = Project(below.node, (*_projections(node, below), started))
    return replace(below, node=made, window=node.passed.get(below.window or ""), made=True)


def _aggregate(aggregate: Aggregate) -> _Split | None:
    rows = aggregate.input
    for window in aggregate.group:
        start = f"start_of_{window}"
        taken = start in rows.names or start in aggregate.names
        if not taken and (length := _length(rows, window)) is not None:
            group = tuple(start if name == window else name for name in aggregate.group)
            made = replace(aggregate, input=_with_start(rows, window, start), group=group)
            return _Split(made, window, start, length)
    return None


def _with_start(rows: Node, window: str, start: str) -> Node:
    begun = exp.Dot(this=column(window), expression=exp.to_identifier("start", quoted=True))
    passed = tuple(Projection(item.name, column(item.name), item.type) for item in rows.columns)
    return Project(rows, (*passed, Projection(start, begun, TIMESTAMP)))


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
    start = _call("unix_micros", column(below.start))
    return _call("timestamp_micros", exp.Add(this=start, expression=below.length.copy()))


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _length(node: Node, name: str) -> exp.Expr | None:
    """Return the microseconds of a window in a column that the query makes, None for another."""
    while isinstance(node, Project | Filter):
        if isinstance(node, Project):
            value = next(item for item in node.projections if item.name == name)
            if value.type != TIME_WINDOW:
                return None
            if value.passes is None:
                return _made_length(value.expression)
            name = value.passes
        node = node.input
    return None


def _made_length(value: exp.Expr) -> exp.Expr | None:
    """Return d of named_struct('start', timestamp_micros(s), 'end', timestamp_micros(s + d))."""
    if not isinstance(value, exp.Anonymous) or value.name != "named_struct":
        return None
    end = value.expressions[-1]
    moment = end.expressions[0] if end.name == "timestamp_micros" else None
    return moment.expression.copy() if isinstance(moment, exp.Add) else None
