"""Generators: explode, posexplode and inline, in the select list and as LATERAL VIEW [OUTER]."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.from_clause import from_clause
from tests.support.generator.parts import Item, Query, listed, shown
from tests.support.generator.table_functions import array_over


def in_select(gen: Generator, depth: int) -> Query:
    """Return one row for each element, beside other values."""
    source = from_clause(gen, depth)
    items = gen.plain_items(source.columns, gen.choices.number(0, 2))
    array, type_ = array_over(gen, source.columns)
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
        array, type_ = array_over(gen, columns)
        view, element = gen.name("y"), gen.name("e")
        kind = gen.choices.pick(("explode", "posexplode", "outer", "inline", "explode"))
        if kind == "posexplode":
            place = gen.name("p")
            text += f" LATERAL VIEW posexplode({array}) {view} AS {place}, {element}"
            columns += [(place, "int")]
        elif kind == "inline":
            call, struct_type, other = _structs(gen, columns)
            text += f" LATERAL VIEW {call} {view} AS {other}, {element}"
            columns, type_ = [*columns, (other, "int")], struct_type
        else:
            outer = "OUTER " if kind == "outer" else ""
            text += f" LATERAL VIEW {outer}explode({array}) {view} AS {element}"
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


def _structs(gen: Generator, columns: Sequence[Typed]) -> tuple[str, str, str]:
    """Return a generator of two columns, the type of the second, and a name for the first."""
    name, type_ = gen.choices.pick(columns)
    second = gen.choices.pick([other for other, kind in columns if kind == type_])
    rows = (
        f"named_struct('k', {number}, 'v', {value})" for number, value in ((1, name), (2, second))
    )
    return f"inline(array({', '.join(rows)}))", type_, gen.name("p")


MAKERS = Makers(flat=(in_select, lateral_view))
