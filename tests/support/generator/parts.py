"""What the families hand to each other: a query, a FROM clause, and text made of items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.support.expressions import Typed

Item = tuple[str, str, str]
"""An expression, the name it is shown under, and its type."""

UNJOINED = ("number", "double")
"""Types whose values are not compared for equality: their exact type is the engine's business."""


@dataclass(frozen=True)
class Query:
    """SQL text and the columns it shows.

    `deterministic` says whether the text as written has one answer; it has several where LIMIT,
    row_number() and the like leave the order of some rows open.
    """

    sql: str
    columns: tuple[Typed, ...]
    families: frozenset[str] = frozenset()
    deterministic: bool = True


@dataclass(frozen=True)
class Source:
    """A FROM clause, the columns it brings, and a condition that WHERE must hold."""

    text: str
    columns: list[Typed]
    needed: str = ""


def listed(items: Sequence[Item]) -> str:
    """Return the items as a select list."""
    return ", ".join(f"{expression} AS {name}" for expression, name, _ in items)


def shown(items: Sequence[Item]) -> tuple[Typed, ...]:
    """Return the columns that a select list shows."""
    return tuple((name, type_) for _, name, type_ in items)


def qualified(alias: str, columns: Sequence[Typed]) -> list[Typed]:
    """Return columns under the alias of their relation."""
    return [(f"{alias}.{name}", type_) for name, type_ in columns]


def pairs_of_one_type(left: Sequence[Typed], right: Sequence[Typed]) -> list[tuple[str, str, str]]:
    """Return each left and right column that may be compared, with their type."""
    return [
        (a, b, type_)
        for a, type_ in left
        for b, other in right
        if type_ == other and type_ not in UNJOINED
    ]
