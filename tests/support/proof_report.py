"""A line for each query that was proved, and how many hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from statistics import median

from tests.support.proof import Outcome, prove
from tests.support.table_versions import TableVersions

HEAD = ("query", "result", "rows", "delta rows", "compile ms", "full ms", "delta ms")
LINE = "{:>5}  {:<7}  {:>6}  {:>14}  {:>10}  {:>8}  {:>8}"


def prove_all(
    queries: Mapping[int, str], versions: TableVersions, open_answers: Collection[int] = ()
) -> int:
    """Prove and print; 1 when a query is refused or wrong, else 0.

    `open_answers` are the queries whose text leaves open which rows it means.
    """
    print(LINE.format(*HEAD))
    wrong = []
    for number, sql in queries.items():
        outcome = prove(sql, versions, one_answer=number not in open_answers)
        print(_line(number, outcome), flush=True)
        if outcome.failure:
            wrong.append(f"query {number}: {outcome.failure}")
    for failure in wrong:
        print(f"\n{failure}")
    print(f"\n{len(queries) - len(wrong)} of {len(queries)} hold")
    return 1 if wrong else 0


def _line(number: int, outcome: Outcome) -> str:
    if outcome.failure.startswith("refused"):
        return LINE.format(number, "refused", "", "", "", "", "").rstrip()
    return LINE.format(
        number,
        "WRONG" if outcome.failure else "holds",
        outcome.result_rows,
        " ".join(str(rows) for rows in outcome.delta_rows),
        f"{outcome.compile_ms:.0f}",
        f"{median(outcome.full_ms):.0f}" if outcome.full_ms else "",
        f"{median(outcome.delta_ms):.0f}" if outcome.delta_ms else "",
    )
