"""The law on DuckDB: what a query gave before, plus its delta, is what it gives after.

    R(before) + Δ = R(after)        as bags, for every round

`R` is the plan's own query; that query is checked against the text as written, which no part of
the compiler touched, where that text has one answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import streamtables
from streamtables.compiler.backend.duckdb import spark_to_duckdb
from tests.support.bags import Bag, add, bag_of
from tests.support.spark_oracle import rounded
from tests.support.table_versions import TableVersions

SHOWN_ROWS = 5


@dataclass
class Outcome:
    """What one query gave: a failure or none, and how long each part took."""

    failure: str = ""
    result_rows: int = 0
    delta_rows: list[int] = field(default_factory=list)
    compile_ms: float = 0.0
    full_ms: list[float] = field(default_factory=list)
    delta_ms: list[float] = field(default_factory=list)


class _DifferenceError(Exception):
    """The law does not hold."""


def prove(sql: str, versions: TableVersions, *, one_answer: bool = True) -> Outcome:
    """Follow one query through all rounds; stop at the first difference.

    `one_answer` says that the text leaves nothing open, as a limit does among rows that tie.
    """
    outcome = Outcome()
    started = perf_counter()
    plan = streamtables.compile(sql, tables=versions.tables, keys=versions.keys)
    if plan.refusals:
        refusal = plan.refusals[0]
        outcome.failure = f"refused: {refusal.code} {refusal.message}: {refusal.reason}"
        return outcome
    query, delta = plan.query_sql("duckdb"), plan.delta_sql("duckdb")
    written = spark_to_duckdb(plan.sql) if one_answer else None
    outcome.compile_ms = _milliseconds_since(started)
    try:
        _follow(query, written, delta, versions, outcome)
    except _DifferenceError as difference:
        outcome.failure = str(difference)
    return outcome


def _follow(
    query: str, written: str | None, delta: str, versions: TableVersions, outcome: Outcome
) -> None:
    versions.show(0)
    kept = _checked_result(query, written, versions, 0, outcome)
    for number in range(1, versions.rounds + 1):
        versions.show(number)
        started = perf_counter()
        changed = versions.rows(delta)
        outcome.delta_ms.append(_milliseconds_since(started))
        outcome.delta_rows.append(len(changed))
        if len(bag_of(row[:-1] for row in changed)) != len(changed):
            raise _DifferenceError(f"round {number}: the delta is not netted")
        if not all(row[-1] for row in changed):
            raise _DifferenceError(f"round {number}: the delta has rows of weight zero")
        kept = add(kept, changed)
        full = _checked_result(query, written, versions, number, outcome)
        _require_equal(f"round {number}: before plus delta is not after", kept, full)


def _checked_result(
    query: str, written: str | None, versions: TableVersions, number: int, outcome: Outcome
) -> Bag:
    started = perf_counter()
    rows = versions.rows(query)
    outcome.full_ms.append(_milliseconds_since(started))
    outcome.result_rows = len(rows)
    found = bag_of(rows)
    if written is not None:
        asked = rounded(bag_of(versions.rows(written)))
        claim = f"round {number}: the plan's query differs from the text"
        _require_equal(claim, rounded(found), asked)
    return found


def _require_equal(claim: str, found: Bag, wanted: Bag) -> None:
    if found == wanted:
        return
    missing = {row: count for row, count in wanted.items() if found.get(row) != count}
    extra = {row: count for row, count in found.items() if wanted.get(row) != count}
    raise _DifferenceError(
        f"{claim}; {len(missing)} rows missing {_some(missing)}, {len(extra)} extra {_some(extra)}"
    )


def _some(bag: Bag) -> str:
    return str(dict(list(bag.items())[:SHOWN_ROWS]))


def _milliseconds_since(started: float) -> float:
    return 1_000 * (perf_counter() - started)
