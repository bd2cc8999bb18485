"""LATERAL: a relation that is computed for each row to its left."""

from __future__ import annotations

from tests.support.generator.core import Generator
from tests.support.generator.parts import Item, Source, listed, qualified, shown
from tests.support.generator.subqueries import inner


def lateral_join(gen: Generator, source: Source) -> Source:
    """Return the source with a lateral relation beside it."""
    gen.use("lateral")
    gen.room -= 1
    alias = gen.name("q")
    body, items = _body(gen, source)
    word = gen.choices.pick(("CROSS JOIN LATERAL", "JOIN LATERAL", "LEFT JOIN LATERAL"))
    columns = qualified(alias, shown(items))
    condition = ""
    if word != "CROSS JOIN LATERAL":
        plain = gen.expressions.condition(columns)
        condition = f" ON {gen.choices.pick(('true', 'true', plain))}"
    return Source(f"{source.text} {word} ({body}) AS {alias}{condition}", source.columns + columns)


def _body(gen: Generator, source: Source) -> tuple[str, list[Item]]:
    found = inner(gen, source.columns)
    kind = gen.choices.pick(("rows", "rows", "all", "groups", "first"))
    if kind == "all":
        items = gen.aggregates(found.columns)
        return f"SELECT {listed(items)}{found.text}", items
    if kind == "groups":
        column, type_ = gen.choices.pick(found.columns)
        group: Item = (column, gen.name("c"), type_)
        items = [group, *gen.aggregates(found.columns)]
        return f"SELECT {listed(items)}{found.text} GROUP BY {column}", items
    items = gen.plain_items(found.columns, gen.choices.number(1, 2))
    text = f"SELECT {listed(items)}{found.text}"
    if kind == "first":
        text += f" ORDER BY {gen.order(shown(items))} LIMIT {gen.choices.number(1, 2)}"
    return text, items
