"""Calls of time windows, and pieces of expressions over moments in microseconds."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from streamtables.compiler.frontend.expressions import function_name
from streamtables.compiler.types import BIGINT

WINDOW = "window"
SESSION = "session_window"


def window_calls(part: exp.Expr) -> Iterator[exp.Anonymous]:
    """Yield the calls of time windows in an expression, those of inner queries left out."""
    for node in part.walk(prune=lambda inner: isinstance(inner, exp.Query)):
        if isinstance(node, exp.Anonymous) and function_name(node) in (WINDOW, SESSION):
            yield node


def name_of(call: exp.Anonymous) -> str:
    """Return the name of such a call."""
    return call.name.lower()


def big(value: int) -> exp.Expr:
    """Return a number as a BIGINT."""
    return exp.cast(exp.Literal.string(str(value)), BIGINT, dialect="spark")


def call_of(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """Return a call over copies of its arguments."""
    return exp.Anonymous(this=name, expressions=[item.copy() for item in arguments])


def less(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return left − right."""
    return exp.Sub(this=left.copy(), expression=right.copy())


def more(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return left + right."""
    return exp.Add(this=left.copy(), expression=right.copy())
