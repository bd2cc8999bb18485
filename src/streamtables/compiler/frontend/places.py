"""Where the parts of a query stand in the text that the user wrote."""

from __future__ import annotations

from sqlglot import exp

from streamtables.errors import Span


def forget_places(expression: exp.Expr) -> None:
    """Take away where the parts of an expression stand: it moves into another text."""
    for part in expression.walk():
        part.meta.pop("start", None)
        part.meta.pop("end", None)


def span_of(node: exp.Expr | None) -> Span | None:
    """Return the place of an expression: of the first of its parts whose place is known."""
    if node is None:
        return None
    places = [part.meta for part in node.walk() if "start" in part.meta]
    if not places:
        return None
    first = min(places, key=lambda meta: int(meta["start"]))
    last = max(places, key=lambda meta: int(meta["end"]))
    return Span(int(first["start"]), int(last["end"]) + 1)
