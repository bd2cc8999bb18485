"""Two sources whose commits keep a promise, and a graph of stream tables over them.

account     money moves between accounts, so its sum never changes
member      families: a child comes and goes with its parent, in one commit

Tables below the first layer have the columns k and v, so that any of them can read any other.
Queries mean the same in Spark and in DuckDB, and keep rows few and numbers small at any depth.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from streamtables.api import StreamTables
from tests.support.delta_tables import DeltaTableFile

ACCOUNTS, MONEY, BANKS, FAMILIES = 40, 100, 8, 20
SCHEDULES = ("on change", "2 seconds", "5 seconds", "on change at most every 3 seconds")
SOURCES = {
    "account": {"id": "bigint", "bank": "bigint", "money": "bigint"},
    "member": {"id": "bigint", "parent": "bigint"},
}
FIRST = {
    "holders": "SELECT bank AS k, money AS v, id FROM account",
    "banks": "SELECT bank AS k, sum(money) AS v FROM account GROUP BY bank",
    "parents": "SELECT id % 8 AS k, id AS v FROM member WHERE parent IS NULL",
    "children": "SELECT id % 8 AS k, parent AS v, id FROM member WHERE parent IS NOT NULL",
}
ONE_INPUT = (
    "SELECT k, v FROM {x} WHERE v % 7 <> 3",
    "SELECT k, sum(v) % 100003 AS v FROM {x} GROUP BY k",
    "SELECT k, count(*) AS v FROM {x} GROUP BY k",
    "SELECT k, max(v) AS v FROM {x} GROUP BY k",
    "SELECT DISTINCT k, v % 5 AS v FROM {x}",
)
TWO_INPUTS = (
    "SELECT {x}.k AS k, sum({x}.v + {y}.v) % 100003 AS v FROM {x} JOIN {y} ON {x}.k = {y}.k"
    " GROUP BY {x}.k",
    "SELECT k, sum(v) % 100003 AS v FROM"
    " (SELECT k, v FROM {x} UNION ALL SELECT k, v FROM {y}) AS both_of GROUP BY k",
    "SELECT k, v FROM {x} WHERE EXISTS (SELECT 1 FROM {y} WHERE {y}.k = {x}.k)",
)


@dataclass(frozen=True)
class Sources:
    """The two sources of a folder."""

    account: DeltaTableFile
    member: DeltaTableFile

    @classmethod
    def make(cls, folder: Path) -> Sources:
        """Make both with their first rows."""
        accounts = [(n, n % BANKS, MONEY) for n in range(ACCOUNTS)]
        members = [row for n in range(FAMILIES) for row in family(n)]
        return cls(
            DeltaTableFile(folder / "account", SOURCES["account"], accounts),
            DeltaTableFile(folder / "member", SOURCES["member"], members),
        )


def family(number: int) -> list[tuple[int, int | None]]:
    """Return the rows of a family: a parent, and its children."""
    parent = 10 * number
    return [(parent, None), *((parent + child, parent) for child in range(1, 2 + number % 3))]


def graph(tables: int, depth: int, chance: random.Random) -> dict[str, str]:
    """Return the query of each table, each after those that it reads.

    Every layer reads the one before it, so the last is as deep as asked; a second input comes from
    any layer before, which makes diamonds.
    """
    layers = [list(FIRST)]
    queries = dict(FIRST)
    for number in range(len(FIRST), max(tables, len(FIRST) + 1)):
        place = 1 + (number - len(FIRST)) * (depth - 1) // max(1, tables - len(FIRST))
        if place == len(layers):
            layers.append([])
        x = chance.choice(layers[place - 1])
        others = [name for layer in layers[:place] for name in layer if name != x]
        shape = chance.choice(ONE_INPUT + 2 * TWO_INPUTS)
        name = f"layer{place}_{number}"
        queries[name] = shape.format(x=x, y=chance.choice(others))
        layers[place].append(name)
    return queries


def define(db: StreamTables, sources: Sources, queries: dict[str, str]) -> None:
    """Register the sources and create all tables, with schedules in turn."""
    db.add_source("account", path=sources.account.path, key=["id"])
    db.add_source("member", path=sources.member.path, key=["id"])
    for number, (name, query) in enumerate(queries.items()):
        db.create(name, query, schedule=SCHEDULES[number % len(SCHEDULES)])
