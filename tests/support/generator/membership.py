"""IN and NOT IN over a subquery, of one value and of several."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.parts import pairs_of_one_type
from tests.support.generator.subqueries import inner


def member(gen: Generator, columns: Sequence[Typed]) -> str:
    """Return whether a value is among those of a subquery."""
    found = inner(gen, columns)
    pairs = pairs_of_one_type(columns, found.columns)
    word = gen.choices.pick(("IN", "NOT IN"))
    if not pairs:
        return f"1 {word} (SELECT 1{found.text})"
    a, b, type_ = gen.choices.pick(pairs)
    if gen.choices.number(0, 2) < 2:
        return f"{a} {word} (SELECT {b}{found.text})"
    c, d, _ = gen.choices.pick(pairs)
    literal = gen.expressions.literal(type_)
    options = [
        f"{literal} {word} (SELECT {b}{found.text})",
        f"coalesce({a}, {literal}) {word} (SELECT {b}{found.text})",
        f"{a} {word} (SELECT max({b}){found.text} GROUP BY {d})",
        f"{a} {word} (SELECT min({b}){found.text})",
        f"{a} {word} (SELECT DISTINCT {b}{found.text})",
    ]
    if not found.conditional:
        # DuckDB has no correlated form of this one.
        options += [f"({a}, {c}) {word} (SELECT {b}, {d}{found.text})"] * 3
    return gen.choices.pick(options)


def member_value(gen: Generator, columns: Sequence[Typed]) -> Typed:
    """Return whether a value is among others, as a column.

    Where that cannot be told Spark says false and DuckDB NULL, so NULL is made false.
    """
    test = member(gen, columns)
    return gen.choices.pick(
        (
            (f"coalesce({test}, false)", "boolean"),
            (f"CASE WHEN {test} THEN 1 WHEN NOT ({test}) THEN 0 END", "int"),
        )
    )


MAKERS = Makers(conditions=(member, member), values=(member_value,))
