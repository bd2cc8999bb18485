"""Comparisons with all or any of the values of a subquery."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.parts import pairs_of_one_type
from tests.support.generator.subqueries import inner


def quantified(gen: Generator, columns: Sequence[Typed]) -> str:
    """Return a comparison with every value, or with some value, of a subquery."""
    found = inner(gen, columns)
    pairs = pairs_of_one_type(columns, found.columns)
    operator = gen.choices.pick(("=", "<>", "<", ">=", ">"))
    word = gen.choices.pick(("ALL", "ANY"))
    if not pairs:
        return f"1 {operator} {word} (SELECT 1{found.text})"
    a, b, _ = gen.choices.pick(pairs)
    return f"{a} {operator} {word} (SELECT {b}{found.text})"


def quantified_value(gen: Generator, columns: Sequence[Typed]) -> Typed:
    """Return such a comparison as a column: true, false or NULL."""
    return quantified(gen, columns), "boolean"


MAKERS = Makers(conditions=(quantified,), values=(quantified_value,))
