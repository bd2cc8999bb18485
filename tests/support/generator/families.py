"""The families of SQL that the generator knows, by name, so that each can be tried alone."""

from __future__ import annotations

CORE = ("select", "joins", "group", "distinct", "union", "with")
"""What every generated query may contain, whichever families are asked for."""

ALL = (
    *CORE,
    "outer",
    "semi",
    "using",
    "exists",
    "in",
    "scalar",
    "setops",
    "windows",
    "topk",
    "grouping_sets",
    "generate",
    "lateral",
    "values",
    "pivot",
    "aggregates",
    "recursion",
    "nested",
    "collate",
    "quoted",
)
"""All that Spark itself can run as it is written."""

BEYOND_SPARK = ("quantified", "deep")
"""`> ALL (SELECT …)`, and a subquery that names a column from two levels further out."""

WITH_THE_CLOCK = ("clock",)
"""What depends on the moment: two engines asked one after the other give two answers."""

EVERY = (*ALL, *BEYOND_SPARK, *WITH_THE_CLOCK)

NEEDED = {"deep": ("exists", "in", "scalar")}
"""Families that only occur inside others."""


def parse_families(text: str) -> tuple[str, ...]:
    """Read a comma-separated list of families.

    >>> parse_families("outer, semi")
    ('outer', 'semi')
    """
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if unknown := [name for name in names if name not in EVERY]:
        raise ValueError(f"no such families: {unknown}; there are {', '.join(EVERY)}")
    return names
