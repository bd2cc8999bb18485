"""Make equal parts of a plan one part, so that each is written, and computed, once."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from streamtables.compiler.algebra import Node
from streamtables.compiler.rewrites.rebuild import rebuild


def share_equal(root: Node) -> Node:
    """Return the same relation in which no two parts are equal."""
    known: dict[tuple[Any, ...], Node] = {}

    def share(_: Node, new: Node) -> Node:
        parts = tuple(_identity(getattr(new, field.name)) for field in fields(new))
        return known.setdefault((type(new), parts), new)

    return rebuild(root, share)


def _identity(value: Any) -> Any:
    """Return what tells values apart; inputs are shared already, so the object itself does."""
    if isinstance(value, Node):
        return id(value)
    if isinstance(value, tuple):
        return tuple(_identity(item) for item in value)
    return value
