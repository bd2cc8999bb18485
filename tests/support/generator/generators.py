"""Generators: explode and posexplode, in the select list and as LATERAL VIEW."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.from_clause import from_clause
from tests.support.generator.parts import Item, Query, listed, shown


def _array(gen: Generator, columns: Sequence[Typed]) -> Typed:
    """Return an array over some columns, and the type of its elements; it may be NULL or empty."""
    name, type_ = gen.choices.pick(columns)
    others = [other for other, kind in columns if kind == type_]
    second = gen.choices.pick(others)
    condition = gen.expressions.condition(list(columns), 0)
    options: list[Typed] = [
        (f"array({name}, {second})", type_),
        (f"array({name}, {gen.expressions.literal(type_)})", type_),
        (f"CASE WHEN {condition} THEN array({name}, {second}) END", type_),
        (f"array({name})", type_),
    ]
    if type_ == "int":
        options.append((f"sequence(1, greatest(coalesce({name}, 1), 1))", "int"))
    if type_ == "string":
        options.append((f"split({name}, 'x')", "string"))
    return gen.choices.pick(options)


def in_select(gen: Generator, depth: int) -> Query:
    """Return one row for each element, beside other values."""
    source = from_clause(gen, depth)
    items = gen.plain_items(source.columns, gen.choices.number(0, 2))
    array, type_ = _array(gen, source.columns)
    where = gen.where(source.columns, source.needed)
    columns = shown(items)
    others = f"{listed(items)}, " if items else ""
    element = gen.name("e")
    if gen.sometimes(3):
        place = gen.name("p")
        call = f"posexplode({array}) AS ({place}, {element})"
        columns = (*columns, (place, "int"), (element, type_))
    else:
        call = f"explode({array}) AS {element}"
        columns = (*columns, (element, type_))
    return Query(f"SELECT {others}{call} FROM {source.text}{where}", columns)


def lateral_view(gen: Generator, depth: int) -> Query:
    """Return rows, or groups of rows, over one or two lateral views."""
    source = from_clause(gen, depth)
    text, columns = source.text, list(source.columns)
    for _ in range(gen.choices.pick((1, 1, 2))):
        array, type_ = _array(gen, columns)
        view, element = gen.name("y"), gen.name("e")
        if gen.sometimes(3):
            place = gen.name("p")
            text += f" LATERAL VIEW posexplode({array}) {view} AS {place}, {element}"
            columns += [(place, "int")]
        else:
            text += f" LATERAL VIEW explode({array}) {view} AS {element}"
        columns += [(element, type_)]
    where = gen.where(columns, source.needed)
    if gen.sometimes(3):
        group: list[Item] = [(columns[-1][0], gen.name("c"), columns[-1][1])]
        items = [*group, *gen.aggregates(columns)]
        return Query(
            f"SELECT {listed(items)} FROM {text}{where} GROUP BY {group[0][0]}", shown(items)
        )
    items = [*gen.plain_items(columns, 2), (columns[-1][0], gen.name("c"), columns[-1][1])]
    return Query(f"SELECT {listed(items)} FROM {text}{where}", shown(items))


MAKERS = Makers(flat=(in_select, lateral_view))
