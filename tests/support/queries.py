"""Random queries over the tables of `histories`, nested up to a depth.

Each generated query is a SELECT with named, typed columns, so that it can stand wherever a table
can.  Expressions are chosen to mean the same in Spark and in DuckDB.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.choices import Choices
from tests.support.expressions import Expressions, Typed
from tests.support.histories import TABLES

Item = tuple[str, str, str]
"""An expression, the name it is shown under, and its type."""


@dataclass(frozen=True)
class Query:
    """SQL text and the columns it shows."""

    sql: str
    columns: tuple[Typed, ...]


class QueryGenerator:
    """Makes queries; one generator gives each derived table and column its own name."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.expressions = Expressions(choices)
        self.counter = 0

    def query(self, depth: int) -> Query:
        """Return a random query nested at most `depth` levels."""
        flat = ("select", "group", "distinct", "global", "joins")
        kinds = ("select", "select", "group", "group", "distinct", "union", "global", "with")
        kind = self.choices.pick((*kinds, "shadow", "star") if depth > 0 else flat)
        make = {
            "select": self._select,
            "group": self._group,
            "distinct": self._distinct,
            "global": self._global,
            "joins": self._joins,
            "union": self._union,
            "with": self._with,
            "shadow": self._shadow,
            "star": self._star,
        }[kind]
        return make(depth)

    def _name(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    def _sometimes(self, one_in: int) -> bool:
        return self.choices.number(0, one_in - 1) == one_in - 1

    # FROM

    def _table(self) -> tuple[str, list[Typed]]:
        alias, table = self._name("q"), self.choices.pick(tuple(TABLES))
        return f"{table} AS {alias}", [(f"{alias}.{n}", t) for n, t in TABLES[table].items()]

    def _source(self, depth: int) -> tuple[str, list[Typed]]:
        """Return a FROM item and the qualified columns it brings."""
        if depth <= 0 or self.choices.number(0, 2) < 2:
            return self._table()
        inner, alias = self.query(depth - 1), self._name("q")
        return f"({inner.sql}) AS {alias}", [(f"{alias}.{n}", t) for n, t in inner.columns]

    def _from(self, depth: int) -> tuple[str, list[Typed], str]:
        """Return FROM, its columns, and a condition that WHERE must hold."""
        if self._sometimes(8):
            return self._using()
        text, columns = self._source(depth)
        where = ""
        for _ in range(self.choices.pick((0, 0, 1, 1, 2))):
            other, more = self._source(depth)
            condition = self._join_condition(columns, more)
            columns = columns + more
            if condition is None:
                text += f" CROSS JOIN {other}"
            elif where or self._sometimes(6):
                # A comma binds weaker than JOIN, so from here on only commas follow.
                text, where = f"{text}, {other}", f"{where} AND {condition}".removeprefix(" AND ")
            else:
                text += f" JOIN {other} ON {condition}"
        return text, columns, where

    def _using(self) -> tuple[str, list[Typed], str]:
        """Two tables that share the column `a`, which USING makes one."""
        left, right = self._name("q"), self._name("q")
        pair = self.choices.pick((("r", "u"), ("t", "u"), ("u", "u"), ("r", "v")))
        columns: list[Typed] = [("a", "int")]
        for alias, table in zip((left, right), pair, strict=True):
            columns += [(f"{alias}.{n}", t) for n, t in TABLES[table].items()]
        return f"{pair[0]} AS {left} JOIN {pair[1]} AS {right} USING (a)", columns, ""

    def _join_condition(self, left: list[Typed], right: list[Typed]) -> str | None:
        pairs = [(a, b) for a, ta in left for b, tb in right if ta == tb and ta != "number"]
        if not pairs or self._sometimes(12):
            return None
        a, b = self.choices.pick(pairs)
        operator = self.choices.pick(("=", "=", "=", "=", "<=>", "<"))
        if self._sometimes(5):
            return f"{a} {operator} {b} AND {self.expressions.condition(left + right)}"
        return f"{a} {operator} {b}"

    def _where(self, columns: list[Typed], needed: str) -> str:
        found = [needed] if needed else []
        if self.choices.number(0, 1):
            found.append(self.expressions.condition(columns))
        return f" WHERE {' AND '.join(found)}" if found else ""

    # SELECT

    def _items(self, columns: list[Typed], count: int) -> list[Item]:
        values = [self.expressions.value(columns) for _ in range(count)]
        return [(text, self._name("c"), type_) for text, type_ in values]

    def _select(self, depth: int) -> Query:
        text, columns, needed = self._from(depth)
        items = self._items(columns, self.choices.number(1, 3))
        if self._sometimes(8):
            items.append(self._lateral_alias(items))
        where = self._where(columns, needed)
        return Query(f"SELECT {_listed(items)} FROM {text}{where}", _shown(items))

    def _lateral_alias(self, items: list[Item]) -> Item:
        """An item over the name of an earlier item."""
        _, name, type_ = items[0]
        value = self.expressions.literal(type_)
        return f"coalesce({name}, {value})", self._name("c"), type_

    def _distinct(self, depth: int) -> Query:
        inner = self._select(depth)
        return Query(inner.sql.replace("SELECT", "SELECT DISTINCT", 1), inner.columns)

    def _joins(self, depth: int) -> Query:
        """Four to six tables in a chain."""
        text, columns = self._table()
        for _ in range(self.choices.number(3, 5)):
            other, more = self._table()
            condition = self._join_condition(columns, more) or "1 = 1"
            text, columns = f"{text} JOIN {other} ON {condition}", columns + more
        items = self._items(columns, 2)
        return Query(f"SELECT {_listed(items)} FROM {text}", _shown(items))

    def _star(self, depth: int) -> Query:
        inner = self.query(depth - 1)
        alias = self._name("q")
        star = self.choices.pick(("*", f"{alias}.*"))
        where = self._where([(f"{alias}.{n}", t) for n, t in inner.columns], "")
        return Query(f"SELECT {star} FROM ({inner.sql}) AS {alias}{where}", inner.columns)

    # GROUP BY

    def _aggregates(self, columns: list[Typed]) -> list[Item]:
        calls = [self.expressions.aggregate(columns) for _ in range(self.choices.number(1, 3))]
        return [(text, self._name("n"), type_) for text, type_ in calls]

    def _group(self, depth: int) -> Query:
        text, columns, needed = self._from(depth)
        groups = self._items(columns, self.choices.number(1, 2))
        calls = self._aggregates(columns)
        keys = self.choices.pick(
            (
                ", ".join(expression for expression, _, _ in groups),
                ", ".join(str(number) for number in range(1, len(groups) + 1)),
                ", ".join(name for _, name, _ in groups),
                "ALL",
            )
        )
        having = ""
        if self._sometimes(3):
            first, name, type_ = calls[0]
            conditions = ("count(*) > 1", f"{first} IS NOT NULL", f"{name} IS NULL")
            alias = self.expressions.condition([(name, type_)], 0)
            having = f" HAVING {self.choices.pick((*conditions, alias))}"
        sql = f"SELECT {_listed(groups + calls)} FROM {text}{self._where(columns, needed)}"
        return Query(f"{sql} GROUP BY {keys}{having}", _shown(groups + calls))

    def _global(self, depth: int) -> Query:
        text, columns, needed = self._from(depth)
        calls = self._aggregates(columns)
        having = " HAVING count(*) > 2" if self._sometimes(5) else ""
        sql = f"SELECT {_listed(calls)} FROM {text}{self._where(columns, needed)}{having}"
        return Query(sql, _shown(calls))

    # Several SELECTs

    def _union(self, depth: int) -> Query:
        sides = [self.query(depth - 1) for _ in range(self.choices.pick((2, 2, 3)))]
        width = min(len(side.columns) for side in sides)
        kinds = [_common([side.columns[i][1] for side in sides]) for i in range(width)]
        names = [self._name("c") for _ in range(width)]
        parts = []
        for side in sides:
            alias = self._name("x")
            shown = [
                f"{_cast(f'{alias}.{side.columns[i][0]}', kinds[i])} AS {names[i]}"
                for i in range(width)
            ]
            parts.append(f"SELECT {', '.join(shown)} FROM ({side.sql}) AS {alias}")
        word = self.choices.pick(("UNION ALL", "UNION ALL", "UNION"))
        columns = [(n, t or "string") for n, t in zip(names, kinds, strict=True)]
        return Query(f" {word} ".join(parts), tuple(columns))

    def _with(self, depth: int) -> Query:
        """A named query, perhaps over another one, that is used twice."""
        inner = self.query(depth - 1)
        name, left, right = self._name("w"), self._name("l"), self._name("m")
        named = f"{name} AS ({inner.sql})"
        if self._sometimes(2):
            first, name = name, self._name("w")
            condition = self.expressions.condition(list(inner.columns))
            named += f", {name} AS (SELECT * FROM {first} WHERE {condition})"
        columns = [(f"{left}.{n}", t) for n, t in inner.columns]
        other = [(f"{right}.{n}", t) for n, t in inner.columns]
        condition = self._join_condition(columns, other) or "1 = 1"
        items = self._items(columns + other, 2)
        source = f"{name} AS {left} JOIN {name} AS {right} ON {condition}"
        return Query(f"WITH {named} SELECT {_listed(items)} FROM {source}", _shown(items))

    def _shadow(self, depth: int) -> Query:
        """A named query with the name of the table that it reads."""
        table = self.choices.pick(tuple(TABLES))
        columns: list[Typed] = list(TABLES[table].items())
        condition = self.expressions.condition(columns)
        items = self._items(columns, 2)
        sql = f"WITH {table} AS (SELECT * FROM {table} WHERE {condition})"
        return Query(f"{sql} SELECT {_listed(items)} FROM {table}", _shown(items))


def _listed(items: list[Item]) -> str:
    return ", ".join(f"{expression} AS {name}" for expression, name, _ in items)


def _shown(items: list[Item]) -> tuple[Typed, ...]:
    return tuple((name, type_) for _, name, type_ in items)


def _common(types: list[str]) -> str | None:
    """Return the type that all branches have; None where they must be made text."""
    same = len(set(types)) == 1 and types[0] not in ("number", "double")
    return types[0] if same else None


def _cast(column: str, type_: str | None) -> str:
    return column if type_ else f"CAST({column} AS STRING)"
