"""The core: SELECT, GROUP BY, DISTINCT, UNION and WITH."""

from __future__ import annotations

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.from_clause import from_clause, join_condition
from tests.support.generator.parts import Item, Query, listed, qualified, shown
from tests.support.generator.set_operations import aligned
from tests.support.histories import TABLES


def select(gen: Generator, depth: int) -> Query:
    """Return values of joined relations."""
    source = from_clause(gen, depth)
    items = gen.items(source.columns, gen.choices.number(1, 3))
    if gen.sometimes(8) and "SELECT" not in items[0][0]:
        items.append(_lateral_alias(gen, items))
    where = gen.where(source.columns, source.needed)
    return Query(f"SELECT {listed(items)} FROM {source.text}{where}", shown(items))


def _lateral_alias(gen: Generator, items: list[Item]) -> Item:
    """An item over the name of an earlier item."""
    _, name, type_ = items[0]
    return f"coalesce({name}, {gen.expressions.literal(type_)})", gen.name("c"), type_


def distinct(gen: Generator, depth: int) -> Query:
    """Return values without repetition."""
    inner = select(gen, depth)
    return Query(inner.sql.replace("SELECT", "SELECT DISTINCT", 1), inner.columns)


def chain(gen: Generator, depth: int) -> Query:
    """Return four to six tables, one joined to the next."""
    text, columns = gen.table()
    for _ in range(gen.choices.number(3, 5)):
        other, more = gen.table()
        condition = join_condition(gen, columns, more) or "1 = 1"
        word = gen.choices.pick(("JOIN", "JOIN", "LEFT JOIN") if gen.has("outer") else ("JOIN",))
        if word != "JOIN":
            gen.use("outer")
        text, columns = f"{text} {word} {other} ON {condition}", columns + more
    items = gen.items(columns, 2)
    return Query(f"SELECT {listed(items)} FROM {text}", shown(items))


def star(gen: Generator, depth: int) -> Query:
    """Return all columns of another query."""
    inner = gen.query(depth - 1)
    alias = gen.name("q")
    every = gen.choices.pick(("*", f"{alias}.*"))
    where = gen.where(qualified(alias, inner.columns))
    return Query(f"SELECT {every} FROM ({inner.sql}) AS {alias}{where}", inner.columns)


def group(gen: Generator, depth: int) -> Query:
    """Return groups with aggregates, perhaps only some of the groups."""
    source = from_clause(gen, depth)
    groups = gen.plain_items(source.columns, gen.choices.number(1, 2))
    calls = gen.aggregates(source.columns)
    having = _having(gen, source.columns, groups, calls) if gen.sometimes(3) else ""
    keys = [
        ", ".join(expression for expression, _, _ in groups),
        ", ".join(str(number) for number in range(1, len(groups) + 1)),
        ", ".join(name for _, name, _ in groups),
    ]
    if "SELECT" not in having:
        # DuckDB finds no groups for a subquery in HAVING when they are not named.
        keys.append("ALL")
    where = gen.where(source.columns, source.needed)
    sql = f"SELECT {listed(groups + calls)} FROM {source.text}{where} GROUP BY "
    return Query(f"{sql}{gen.choices.pick(keys)}{having}", shown(groups + calls))


def _having(gen: Generator, columns: list[Typed], groups: list[Item], calls: list[Item]) -> str:
    first, name, type_ = calls[0]
    # Only a column that is a group itself may be named in a subquery of HAVING.
    grouped = [(text, kind) for text, _, kind in groups if (text, kind) in columns]
    if grouped and gen.sometimes(2):
        return f" HAVING {gen.condition(grouped)}"
    options = ["count(*) > 1", f"{first} IS NOT NULL", f"{name} IS NULL"]
    options.append(gen.expressions.condition([(name, type_)], 0))
    return f" HAVING {gen.choices.pick(options)}"


def over_all(gen: Generator, depth: int) -> Query:
    """Return aggregates over all rows."""
    source = from_clause(gen, depth)
    calls = gen.aggregates(source.columns)
    having = " HAVING count(*) > 2" if gen.sometimes(5) else ""
    where = gen.where(source.columns, source.needed)
    return Query(f"SELECT {listed(calls)} FROM {source.text}{where}{having}", shown(calls))


def union(gen: Generator, depth: int) -> Query:
    """Return two or three queries, one after the other."""
    sides = [gen.query(depth - 1) for _ in range(gen.choices.pick((2, 2, 3)))]
    parts, columns = aligned(gen, sides)
    word = gen.choices.pick(("UNION ALL", "UNION ALL", "UNION"))
    return Query(f" {word} ".join(parts), columns)


def named(gen: Generator, depth: int) -> Query:
    """Return a named query, perhaps over another one, that is used twice."""
    inner = gen.query(depth - 1)
    name, left, right = gen.name("w"), gen.name("l"), gen.name("m")
    text = f"{name} AS ({inner.sql})"
    if gen.sometimes(2):
        first, name = name, gen.name("w")
        condition = gen.expressions.condition(list(inner.columns))
        text += f", {name} AS (SELECT * FROM {first} WHERE {condition})"
    columns, other = qualified(left, inner.columns), qualified(right, inner.columns)
    condition = join_condition(gen, columns, other) or "1 = 1"
    items = gen.items(columns + other, 2)
    source = f"{name} AS {left} JOIN {name} AS {right} ON {condition}"
    return Query(f"WITH {text} SELECT {listed(items)} FROM {source}", shown(items))


def shadow(gen: Generator, depth: int) -> Query:
    """Return a named query with the name of the table that it reads."""
    table = gen.choices.pick(gen.tables)
    columns: list[Typed] = list(TABLES[table].items())
    condition = gen.expressions.condition(columns)
    items = gen.plain_items(columns, 2)
    sql = f"WITH {table} AS (SELECT * FROM {table} WHERE {condition})"
    return Query(f"{sql} SELECT {listed(items)} FROM {table}", shown(items))


MAKERS = {
    "select": Makers(flat=(select, select), nested=(star,)),
    "joins": Makers(flat=(chain,)),
    "group": Makers(flat=(group, group, over_all)),
    "distinct": Makers(flat=(distinct,)),
    "union": Makers(nested=(union,)),
    "with": Makers(nested=(named, shadow)),
}
