"""PIVOT and UNPIVOT.

Only aggregates that are NULL over nothing are pivoted: the engines differ over COUNT there.
"""

from __future__ import annotations

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.parts import Item, Query, listed, qualified, shown


def pivot(gen: Generator, depth: int) -> Query:
    """Return one column for each of two values."""
    text, columns = gen.relation(depth)
    items = gen.plain_items(columns, 1)
    pivoted = _int(gen, columns)
    value = _int(gen, columns)
    inner = f"SELECT {listed([*items, pivoted, value])} FROM {text}"
    alias = gen.name("q")
    sums, tops = gen.name("s"), gen.name("t")
    calls = f"sum({value[1]}) AS {sums}, max({value[1]}) AS {tops}"
    found = f"({inner}) PIVOT ({calls} FOR {pivoted[1]} IN (1 AS one, 2 AS two)) AS {alias}"
    made = [(f"{v}_{c}", t) for v in ("one", "two") for c, t in ((sums, "number"), (tops, "int"))]
    return _outer(gen, found, qualified(alias, [*shown(items), *made]))


def unpivot(gen: Generator, depth: int) -> Query:
    """Return one row for each of two columns."""
    text, columns = gen.relation(depth)
    items = gen.plain_items(columns, 1)
    first, second = _int(gen, columns), _int(gen, columns)
    inner = f"SELECT {listed([*items, first, second])} FROM {text}"
    alias, name, value = gen.name("q"), gen.name("k"), gen.name("v")
    nulls = gen.choices.pick(("", "INCLUDE NULLS ", "EXCLUDE NULLS "))
    body = f"UNPIVOT {nulls}({value} FOR {name} IN ({first[1]}, {second[1]}))"
    made: list[Typed] = [(name, "string"), (value, "int")]
    return _outer(gen, f"({inner}) {body} AS {alias}", qualified(alias, [*shown(items), *made]))


def _int(gen: Generator, columns: list[Typed]) -> Item:
    found = [name for name, type_ in columns if type_ == "int"]
    return (gen.choices.pick(found) if found else "1", gen.name("c"), "int")


def _outer(gen: Generator, source: str, columns: list[Typed]) -> Query:
    items = [(text, gen.name("c"), type_) for text, type_ in columns]
    return Query(f"SELECT {listed(items)} FROM {source}{gen.where(columns)}", shown(items))


MAKERS = Makers(flat=(pivot, unpivot))
