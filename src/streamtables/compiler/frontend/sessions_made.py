"""What is noted of each session window that a query makes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streamtables.errors import Span


@dataclass(frozen=True)
class MadeSession:
    """A call of `session_window`: what it groups within, and its place.

    Outside of GROUP BY it groups within nothing: `within` is then None.
    """

    within: tuple[exp.Expr, ...] | None
    sql: str
    span: Span | None
