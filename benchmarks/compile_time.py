"""Compile time by join depth: SQL in, delta SQL out, with every table changing."""

from __future__ import annotations

from statistics import median
from time import perf_counter

import streamtables

DEPTHS = tuple(range(2, 13))


def measure_compile(rounds: int) -> list[dict[str, object]]:
    """Return the median milliseconds of compiling, and of rendering the delta SQL after it."""
    _compiled(3)
    return [_at_depth(depth, rounds) for depth in DEPTHS]


def _at_depth(depth: int, rounds: int) -> dict[str, object]:
    pairs = [_compiled(depth) for _ in range(max(3, rounds))]
    return {
        "depth": depth,
        "compile_ms": round(1_000 * median(first for first, _ in pairs), 2),
        "delta_sql_ms": round(1_000 * median(second for _, second in pairs), 2),
    }


def chain_of_joins(depth: int) -> tuple[str, dict[str, dict[str, str]], dict[str, list[str]]]:
    """Return a query that joins so many tables one by one, the tables, and their keys."""
    tables = {f"t{n}": {"id": "bigint", "next": "bigint", "v": "int"} for n in range(depth)}
    keys = {name: ["id"] for name in tables}
    joins = " ".join(f"JOIN t{n} ON t{n - 1}.next = t{n}.id" for n in range(1, depth))
    total = " + ".join(f"t{n}.v" for n in range(depth))
    return f"SELECT t0.id, {total} AS total FROM t0 {joins} WHERE t0.v > 0", tables, keys


def _compiled(depth: int) -> tuple[float, float]:
    sql, tables, keys = chain_of_joins(depth)
    start = perf_counter()
    plan = streamtables.compile(sql, tables=tables, keys=keys)
    compiled = perf_counter()
    plan.delta_sql("spark")
    return compiled - start, perf_counter() - compiled
