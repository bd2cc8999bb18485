"""Gates of the compiler: binding, joins by depth, delta generation by operator and width."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.compile_time import chain_of_joins
from benchmarks.gates.gate import Benchmark, Gate

DEPTHS = (2, 6, 10)
WIDTHS = (50, 500)


def gates() -> Iterator[Gate]:
    """Yield all gates of the compiler."""
    for depth in DEPTHS:
        yield Gate(f"compile-join-{depth}", partial(_compile, chain_of_joins(depth)))
    yield Gate("bind", _bind)
    for width in WIDTHS:
        yield Gate(f"delta-scan-{width}", partial(_delta, wide_scan(width)))
        yield Gate(f"delta-aggregate-{width}", partial(_delta, wide_aggregate(width)))


Query = tuple[str, dict[str, dict[str, str]], dict[str, list[str]]]


def wide_scan(columns: int) -> Query:
    """Return a query that filters a table and shows all its columns."""
    names = [f"c{n}" for n in range(columns)]
    table = {"id": "bigint", **dict.fromkeys(names, "int")}
    return f"SELECT id, {', '.join(names)} FROM t WHERE c0 > 0", {"t": table}, {"t": ["id"]}


def wide_aggregate(columns: int) -> Query:
    """Return a query that sums so many columns of a table by group."""
    names = [f"c{n}" for n in range(columns)]
    table = {"id": "bigint", "grp": "int", **dict.fromkeys(names, "int")}
    sums = ", ".join(f"sum({name}) AS {name}" for name in names)
    return f"SELECT grp, {sums} FROM t GROUP BY grp", {"t": table}, {"t": ["id"]}


def _compile(query: Query) -> Benchmark:
    """Measure SQL to delta SQL, with every table changing."""
    from streamtables.compiler.plan import compile_sql

    return Benchmark(lambda _: compile_sql(*query).delta_sql("spark"))


def _delta(query: Query) -> Benchmark:
    """Measure the delta SQL of a plan that is compiled; each call needs a plan without one."""
    from streamtables.compiler.plan import compile_sql

    return Benchmark(lambda plan: plan.delta_sql("spark"), lambda: compile_sql(*query))


def _bind() -> Benchmark:
    """Measure names and types of a parsed query of TPC-H, eight tables wide."""
    from streamtables.compiler.frontend.binding import Notes
    from streamtables.compiler.frontend.calls import parsed
    from streamtables.compiler.frontend.inlining import Inlining
    from streamtables.compiler.frontend.query import bind
    from streamtables.compiler.library import NOTHING
    from streamtables.compiler.schema import build_schema
    from tests.tpch.queries import query_text
    from tests.tpch.schema import KEYS, TABLES

    sql, schema = query_text(8, 1), build_schema(TABLES, KEYS)

    def fresh() -> tuple[Any, Any]:
        inlining = Inlining(NOTHING)
        return parsed(sql, inlining), inlining

    return Benchmark(lambda made: bind(made[0], sql, schema, Notes(), made[1]), fresh)
