"""Groups of session windows that another query made: refused where Spark would merge sessions.

Spark merges the sessions that touch wherever rows are grouped by a column of them, however far from
the call: in GROUP BY, DISTINCT, UNION, INTERSECT, EXCEPT, and by the keys of a correlated subquery.
Nothing is left to merge, and a group is a group like any other, where the key holds all columns
that the sessions were made within: sessions of the same other groups do not touch.

The trap: a session window outside of GROUP BY is that of its row alone, and may touch any other.
Of several sessions in one key Spark merges the first alone, so they are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from streamtables.compiler.algebra import (
    Aggregate,
    Distinct,
    Generate,
    LeftJoin,
    Node,
    Project,
    Recursive,
    UnionAll,
    Window,
)
from streamtables.compiler.frontend.sessions_made import MadeSession
from streamtables.compiler.rewrites.rebuild import in_order
from streamtables.compiler.types import SqlType, has_plain_image
from streamtables.errors import UnimplementedSqlError


@dataclass(frozen=True)
class _Sessions:
    """A column of sessions, and the columns beside it that show what they were made within."""

    made: MadeSession
    within: tuple[frozenset[str], ...] = ()
    apart: bool = True
    """Whether sessions of equal other groups do not touch."""

    def blurred(self) -> _Sessions:
        return replace(self, apart=False)

    def are_apart(self, keys: frozenset[str]) -> bool:
        return self.apart and all(names & keys for names in self.within)


_Found = dict[str, _Sessions]


def check_session_groups(root: Node, made: dict[str, MadeSession]) -> None:
    """Refuse a plan that groups by session windows which may touch each other."""
    if not made:
        return
    found: dict[int, _Found] = {}
    for node in in_order(root):
        below = [found[id(item)] for item in node.inputs]
        if isinstance(node, Aggregate | Distinct):
            _check_keys(frozenset(node.key_columns), below[0])
        found[id(node)] = _shown_by(node, below, made)


def _check_keys(keys: frozenset[str], found: _Found) -> None:
    grouped = [sessions for name, sessions in found.items() if name in keys]
    for sessions in grouped:
        if len(grouped) > 1 or not sessions.are_apart(keys):
            raise UnimplementedSqlError(
                "a group of session windows that may touch is not maintained incrementally by"
                " this version",
                sql=sessions.made.sql,
                span=sessions.made.span,
                detail="Spark merges sessions that touch wherever it groups by a column of them.",
                hint="Group by session_window(…) itself, or by the start and end of the column.",
            )


def _shown_by(node: Node, below: list[_Found], made: dict[str, MadeSession]) -> _Found:
    """Return the columns of a node that Spark takes for sessions."""
    if isinstance(node, Project):
        return _projected(node, below[0], made)
    if isinstance(node, UnionAll | Recursive):
        return {name: item.blurred() for found in below for name, item in found.items()}
    if isinstance(node, LeftJoin):
        # A NULL is no session: Spark fails where it meets one as a group.
        left, right = below
        return left | {name: item.blurred() for name, item in right.items()}
    every = {name: item for found in below for name, item in found.items()}
    computed = {name: item for name, item in _computed(node, every).items() if name not in every}
    names = frozenset(node.names)
    return {
        name: replace(item, within=tuple(shown & names for shown in item.within))
        for name, item in (every | computed).items()
        if name in names
    }


def _projected(node: Project, below: _Found, made: dict[str, MadeSession]) -> _Found:
    found: _Found = {}
    for item in node.projections:
        if item.name in made and item.name not in below:
            session = made[item.name]
            within = tuple(_equal_to(value, node) for value in session.within or ())
            found[item.name] = _Sessions(session, within, apart=session.within is not None)
        elif isinstance(item.expression, exp.Column) and item.expression.name in below:
            passed = below[item.expression.name]
            found[item.name] = replace(passed, within=_renamed(passed, node))
        elif sessions := _read_whole(item.expression, item.type, below):
            found[item.name] = sessions.blurred()
    return found


def _equal_to(value: exp.Expr, node: Project) -> frozenset[str]:
    return frozenset(item.name for item in node.projections if item.expression == value)


def _renamed(passed: _Sessions, node: Project) -> tuple[frozenset[str], ...]:
    """Return the columns that now show what the sessions were made within.

    A group that is computed is computed once more, below its aggregate.
    """
    values = passed.made.within or ()
    return tuple(
        _equal_to(value, node)
        | {
            item.name
            for item in node.projections
            if isinstance(item.expression, exp.Column) and item.expression.name in shown
        }
        for value, shown in zip(values, passed.within, strict=True)
    )


def _computed(node: Node, below: _Found) -> _Found:
    """Return further columns that an operator makes of whole sessions."""
    parts: list[tuple[str, SqlType, list[exp.Expr]]] = []
    if isinstance(node, Aggregate):
        parts = [(call.name, call.type, list(call.arguments)) for call in node.calls]
    elif isinstance(node, Window):
        parts = [(call.name, call.type, [call.function]) for call in node.calls]
    elif isinstance(node, Generate):
        parts = [(item.name, item.type, [node.call]) for item in node.made]
    found: _Found = {}
    for name, type_, read in parts:
        for expression in read:
            if sessions := _read_whole(expression, type_, below):
                found[name] = sessions.blurred()
    return found


def _read_whole(expression: exp.Expr, type_: SqlType, below: _Found) -> _Sessions | None:
    """Return the sessions that may be in a value: they are in struct(w), not in w.start."""
    if has_plain_image(type_):
        return None
    for read in expression.find_all(exp.Column):
        field = read.parent.expression.name if isinstance(read.parent, exp.Dot) else ""
        if read.name in below and field not in ("start", "end"):
            return below[read.name]
    return None
