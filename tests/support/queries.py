"""Random queries over the tables of `histories`, nested up to a depth.

Each generated query is a SELECT with named, typed columns, so that it can stand wherever a table
can.  Expressions are chosen to mean the same in Spark and in DuckDB.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.support.choices import Choices
from tests.support.generator import (
    aggregates,
    clock,
    collations,
    exists,
    generators,
    grouping_sets,
    membership,
    nested_values,
    pivots,
    quantified,
    recursion,
    scalar,
    selects,
    set_operations,
    top_k,
    values,
    windows,
)
from tests.support.generator.core import Generator, Makers
from tests.support.generator.families import ALL, CORE, NEEDED
from tests.support.generator.parts import Query

__all__ = ["MAKERS", "Query", "QueryGenerator", "random_query"]

# Families that are missing here are made inside FROM (outer, semi, using and lateral) or are names
# (quoted).
MAKERS: Mapping[str, Makers] = {
    **selects.MAKERS,
    "exists": exists.MAKERS,
    "in": membership.MAKERS,
    "scalar": scalar.MAKERS,
    "quantified": quantified.MAKERS,
    "setops": set_operations.MAKERS,
    "windows": windows.MAKERS,
    "topk": top_k.MAKERS,
    "grouping_sets": grouping_sets.MAKERS,
    "generate": generators.MAKERS,
    "values": values.MAKERS,
    "pivot": pivots.MAKERS,
    "aggregates": aggregates.MAKERS,
    "clock": clock.MAKERS,
    "recursion": recursion.MAKERS,
    "nested": nested_values.MAKERS,
    "collate": collations.MAKERS,
}

DEPTHS = (1, 0, 1, 0, 2, 1, 2, 0, 1, 2, 3, 3, 4, 5)
"""Most queries are small; few are nested to the end."""

ATTEMPTS = 300


class QueryGenerator:
    """Makes queries of the families that are asked for; with `ties`, such that have many answers."""

    def __init__(
        self, choices: Choices, families: Sequence[str] = ALL, *, ties: bool = False
    ) -> None:
        self.choices = choices
        self.families = families
        self.ties = ties

    def query(self, depth: int) -> Query:
        """Return a random query nested at most `depth` levels."""
        generator = Generator(self.choices, MAKERS, self.families, self.ties)
        return generator.root(depth)


def random_query(
    choices: Choices, families: Sequence[str], deepest: int | None = None, *, ties: bool = True
) -> Query:
    """Return a query that contains something of the families, nested at most `deepest` levels."""
    depth = choices.pick(DEPTHS)
    wanted = set(families)
    needed = [name for family in families for name in NEEDED.get(family, ())]
    allowed = (*families, *needed)
    for _ in range(ATTEMPTS):
        limit = depth if deepest is None else min(depth, deepest)
        query = QueryGenerator(choices, allowed, ties=ties).query(limit)
        if wanted >= set(CORE) or query.families & wanted:
            return query
        # Some families only occur in nested queries.
        depth = max(depth, 1)
    return query
