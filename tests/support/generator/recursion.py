"""WITH RECURSIVE: a base of rows, and a step that joins them to other relations up to a depth."""

from __future__ import annotations

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.from_clause import from_clause, join_condition
from tests.support.generator.parts import UNJOINED, Query, Source, listed, qualified, shown


def recursion(gen: Generator, depth: int) -> Query:
    """Return values of what a recursion finds."""
    table, level = gen.name("w"), gen.name("d")
    base, columns = _base(gen, depth)
    step = _step(gen, depth, table, [*columns, (level, "int")])
    names = ", ".join(name for name, _ in columns)
    alias = gen.name("q")
    found = qualified(alias, [*columns, (level, "int")])
    items = gen.items(found, gen.choices.number(1, 3))
    sql = f"WITH RECURSIVE {table}({names}, {level}) AS ({base} UNION ALL {step})"
    sql += f" SELECT {listed(items)} FROM {table} AS {alias}{gen.where(found)}"
    return Query(sql, shown(items))


def _base(gen: Generator, depth: int) -> tuple[str, list[Typed]]:
    source = from_clause(gen, depth)
    usable = [item for item in source.columns if item[1] not in UNJOINED]
    if not usable:
        text, usable = gen.table()
        source = Source(text, usable)
    taken = [gen.choices.pick(usable) for _ in range(gen.choices.number(1, 2))]
    columns = [(gen.name("c"), type_) for _, type_ in taken]
    where = f" WHERE {source.needed}" if source.needed else ""
    values = ", ".join(name for name, _ in taken)
    return f"SELECT {values}, 1 FROM {source.text}{where}", columns


def _step(gen: Generator, depth: int, table: str, columns: list[Typed]) -> str:
    own = gen.name("q")
    text, seen = f"{table} AS {own}", qualified(own, columns)
    level, deepest = seen[-1][0], gen.choices.pick((3, 3, 2))
    for _ in range(gen.choices.pick((1, 1, 1, 0, 2))):
        other, more = gen.relation(depth - 1)
        condition = join_condition(gen, seen[:-1], more)
        if condition is None:
            # Every row meets every other: the levels must be few.
            deepest = 2
        word = _join_word(gen)
        text += f" {word} {other} ON {condition or '1 = 1'}"
        seen = seen if "SEMI" in word or "ANTI" in word else seen + more
    values = [_value(gen, seen, name, type_) for name, type_ in qualified(own, columns)[:-1]]
    where = f" WHERE {level} < {deepest}"
    if gen.sometimes(3):
        where += f" AND {gen.expressions.condition(seen)}"
    return f"SELECT {', '.join(values)}, {level} + 1 FROM {text}{where}"


def _join_word(gen: Generator) -> str:
    words = ["JOIN", "JOIN", "JOIN", "INNER JOIN"]
    words += ["LEFT JOIN"] if gen.has("outer") else []
    words += ["LEFT SEMI JOIN", "LEFT ANTI JOIN"] if gen.has("semi") else []
    word = gen.choices.pick(words)
    if word == "LEFT JOIN":
        gen.use("outer")
    if "SEMI" in word or "ANTI" in word:
        gen.use("semi")
    return word


def _value(gen: Generator, seen: list[Typed], name: str, type_: str) -> str:
    """Return a value for a column of the recursion: of a joined row mostly, with its type."""
    joined = [other for other, kind in seen if kind == type_ and other != name]
    value = gen.choices.pick(joined) if joined and not gen.sometimes(4) else name
    return f"coalesce({value}, {gen.expressions.literal(type_)})" if gen.sometimes(6) else value


MAKERS = Makers(flat=(recursion,))
