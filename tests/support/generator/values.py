"""Rows that stand in the text: VALUES, and SELECT without FROM."""

from __future__ import annotations

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.parts import Item, Query, listed, qualified, shown

TYPES = ("int", "string", "boolean")


def values_relation(gen: Generator) -> tuple[str, list[Typed]]:
    """Return one to three rows as a relation."""
    gen.use("values")
    alias = gen.name("q")
    types = [gen.choices.pick(TYPES) for _ in range(gen.choices.number(1, 2))]
    names = [gen.name("c") for _ in types]
    # The first row has no NULL, so that every column has a type.
    rows = [[gen.expressions.literal(type_) for type_ in types]]
    for _ in range(gen.choices.number(0, 2)):
        rows.append([_literal(gen, type_) for type_ in types])
    text = ", ".join(f"({', '.join(row)})" for row in rows)
    columns = qualified(alias, list(zip(names, types, strict=True)))
    return f"(VALUES {text}) AS {alias}({', '.join(names)})", columns


def _literal(gen: Generator, type_: str) -> str:
    return "NULL" if gen.sometimes(3) else gen.expressions.literal(type_)


def without_from(gen: Generator, depth: int) -> Query:
    """Return a query of one row that reads no table."""
    types = [gen.choices.pick(TYPES) for _ in range(gen.choices.number(1, 2))]
    items: list[Item] = [(gen.expressions.literal(t), gen.name("c"), t) for t in types]
    return Query(f"SELECT {listed(items)}", shown(items))


MAKERS = Makers(flat=(without_from,))
