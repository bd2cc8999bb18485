"""INTERSECT, EXCEPT and MINUS, with and without ALL, alone and in a row."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.parts import UNJOINED, Query

WORDS = (
    "INTERSECT",
    "INTERSECT ALL",
    "EXCEPT",
    "EXCEPT ALL",
    "EXCEPT DISTINCT",
    "MINUS",
    "MINUS ALL",
    "UNION ALL",
    "UNION",
)


def aligned(gen: Generator, sides: Sequence[Query]) -> tuple[list[str], tuple[Typed, ...]]:
    """Return the queries cut to one width and cast to common types, and the columns they show."""
    width = min(len(side.columns) for side in sides)
    kinds = [_common([side.columns[i][1] for side in sides]) for i in range(width)]
    names = [gen.name("c") for _ in range(width)]
    parts = []
    for side in sides:
        alias = gen.name("x")
        items = [
            f"{_cast(f'{alias}.{side.columns[i][0]}', kinds[i])} AS {names[i]}"
            for i in range(width)
        ]
        parts.append(f"SELECT {', '.join(items)} FROM ({side.sql}) AS {alias}")
    return parts, tuple((n, t or "string") for n, t in zip(names, kinds, strict=True))


def set_operation(gen: Generator, depth: int) -> Query:
    """Return two or three queries compared with each other."""
    sides = [gen.query(depth - 1) for _ in range(gen.choices.pick((2, 2, 3)))]
    parts, columns = aligned(gen, sides)
    first = gen.choices.pick(WORDS[:-2])
    text = f"{parts[0]} {first} {parts[1]}"
    if len(parts) == 3:
        word = gen.choices.pick(WORDS)
        # Without parentheses INTERSECT binds first.
        text = gen.choices.pick(
            (
                f"{text} {word} {parts[2]}",
                f"({text}) {word} {parts[2]}",
                f"{parts[2]} {word} ({text})",
            )
        )
    return Query(text, columns)


def _common(types: list[str]) -> str | None:
    """Return the type that all branches have; None where they must be made text."""
    return types[0] if len(set(types)) == 1 and types[0] not in UNJOINED else None


def _cast(column: str, type_: str | None) -> str:
    return column if type_ else f"CAST({column} AS STRING)"


MAKERS = Makers(nested=(set_operation, set_operation))
