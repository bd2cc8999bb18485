"""EXISTS and NOT EXISTS: in conditions, as a value, and inside an aggregate."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.subqueries import inner


def exists(gen: Generator, columns: Sequence[Typed]) -> str:
    """Return whether there is a row."""
    word = gen.choices.pick(("EXISTS", "EXISTS", "NOT EXISTS"))
    return f"{word} ({_body(gen, columns)})"


def _body(gen: Generator, outer: Sequence[Typed]) -> str:
    found = inner(gen, outer)
    column, type_ = gen.choices.pick(found.columns)
    plain = [f"SELECT 1{found.text}", f"SELECT *{found.text}", f"SELECT {column}{found.text}"]
    if gen.choices.number(0, 3) < 3:
        return gen.choices.pick(plain)
    literal = gen.expressions.literal(type_)
    return gen.choices.pick(
        (
            f"SELECT 1{found.text} GROUP BY {column} HAVING count(*) > 1",
            # An aggregate over nothing is a row, so this exists always.
            f"SELECT max({column}){found.text}",
            f"SELECT max({column}){found.text} HAVING max({column}) > {literal}",
            f"SELECT count(*){found.text} HAVING count(*) < 2",
        )
    )


def exists_value(gen: Generator, columns: Sequence[Typed]) -> Typed:
    """Return whether there is a row, as a column."""
    test = exists(gen, columns)
    return gen.choices.pick(((test, "boolean"), (f"CASE WHEN {test} THEN 1 ELSE 0 END", "int")))


def counted(gen: Generator, columns: Sequence[Typed]) -> Typed:
    """Return how many rows have a partner."""
    gen.room -= 1
    test = exists(gen, columns)
    return gen.choices.pick(
        (
            (f"sum(CASE WHEN {test} THEN 1 ELSE 0 END)", "number"),
            (f"count(CASE WHEN {test} THEN 1 END)", "bigint"),
        )
    )


MAKERS = Makers(conditions=(exists, exists), values=(exists_value,), aggregates=(counted,))
