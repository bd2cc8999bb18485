"""ORDER BY … LIMIT … OFFSET, at the root and below other operators."""

from __future__ import annotations

from tests.support.generator.core import Generator, Makers
from tests.support.generator.parts import Query
from tests.support.generator.selects import distinct, group, select


def top_k(gen: Generator, depth: int) -> Query:
    """Return the first rows of a query."""
    make = gen.choices.pick((select, select, group, distinct))
    query = make(gen, depth)
    return Query(f"{query.sql}{_ordered(gen, query)}{_limit(gen)}", query.columns)


def top_k_of_query(gen: Generator, depth: int) -> Query:
    """Return the first rows of any query."""
    query, alias = gen.query(depth - 1), gen.name("q")
    sql = f"SELECT * FROM ({query.sql}) AS {alias}"
    return Query(f"{sql}{_ordered(gen, query)}{_limit(gen)}", query.columns)


def _ordered(gen: Generator, query: Query) -> str:
    names = [name for name, _ in query.columns]
    if gen.sometimes(6):
        return f" ORDER BY {', '.join(str(number) for number in range(1, len(names) + 1))}"
    return f" ORDER BY {gen.order(query.columns)}"


def _limit(gen: Generator) -> str:
    if gen.sometimes(10):
        return ""
    count = gen.choices.pick((1, 2, 3, 2, 3, 4, 5, 3, 0))
    return f" LIMIT {count}" + (f" OFFSET {gen.choices.number(1, 2)}" if gen.sometimes(4) else "")


MAKERS = Makers(flat=(top_k, top_k), nested=(top_k_of_query,))
