"""ROLLUP, CUBE and GROUPING SETS, where a NULL may be a value or the mark of a subtotal."""

from __future__ import annotations

import re

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.from_clause import from_clause
from tests.support.generator.parts import Item, Query, listed, shown

# The parser takes no operator as an argument of ROLLUP.
_SIMPLE = re.compile(r"[\w.]+(\(.*\))?")


def grouping_sets(gen: Generator, depth: int) -> Query:
    """Return groups and subtotals."""
    source = from_clause(gen, depth)
    groups = _groups(gen, source.columns)
    calls = gen.aggregates(source.columns)
    keys = [text for text, _, _ in groups]
    items = groups + _marks(gen, keys) + calls
    sets = _sets(gen, keys)
    where = gen.where(source.columns, source.needed)
    sql = f"SELECT {listed(items)} FROM {source.text}{where} GROUP BY {sets}"
    return Query(f"{sql}{_having(gen, keys, sets)}", shown(items))


def _having(gen: Generator, keys: list[str], sets: str) -> str:
    found = []
    # Over no rows at all some engines show the grand total and others show nothing.
    if not sets.startswith("GROUPING") or "()" in sets:
        if gen.tied():
            return ""
        found = ["count(*) > 0"]
    if gen.sometimes(4):
        key = gen.choices.pick(keys)
        options = (f"grouping({key}) = 0", f"grouping({key}) = 1", "count(*) > 1")
        found.append(gen.choices.pick(options))
    return f" HAVING {' AND '.join(found)}" if found else ""


def _groups(gen: Generator, columns: list[Typed]) -> list[Item]:
    """Return columns and calls; two equal ones would leave open which of them a subtotal drops."""
    found = gen.plain_items(columns, gen.choices.number(1, 3))
    simple = {_meant(item[0], columns): item for item in found if _SIMPLE.fullmatch(item[0])}
    name, type_ = gen.choices.pick(columns)
    return list(simple.values()) or [(name, gen.name("c"), type_)]


def _meant(text: str, columns: list[Typed]) -> str:
    """Return the text with one name for a column that USING shows under two, `a` and `q1.a`.

    To Spark both are one expression, and a set that drops `q1.a` keeps it while `a` is there; to
    DuckDB they are two.
    """
    shared = "|".join(name for name, _ in columns if "." not in name)
    return re.sub(rf"\bq\d+\.({shared})\b", r"\1", text) if shared else text


def _marks(gen: Generator, keys: list[str]) -> list[Item]:
    marks: list[Item] = [
        (f"grouping({gen.choices.pick(keys)})", gen.name("g"), "int"),
        ("grouping_id()", gen.name("g"), "bigint"),
        (f"grouping_id({', '.join(keys)})", gen.name("g"), "bigint"),
    ]
    return [gen.choices.pick(marks)] if gen.sometimes(2) else []


def _sets(gen: Generator, keys: list[str]) -> str:
    every = ", ".join(keys)
    first, rest = keys[0], ", ".join(keys[1:])
    options = [f"ROLLUP({every})", f"CUBE({every})", f"GROUPING SETS (({every}), ())"]
    if rest:
        options += [
            f"GROUPING SETS (({first}), ({rest}))",
            f"GROUPING SETS (({every}), ({first}), ())",
            # The same set twice gives its groups twice.
            f"GROUPING SETS (({first}), ({first}), ({every}))",
            f"{first}, ROLLUP({rest})",
            f"ROLLUP({first}), CUBE({rest})",
        ]
    return gen.choices.pick(options)


MAKERS = Makers(flat=(grouping_sets, grouping_sets))
