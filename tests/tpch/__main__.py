"""Prove the law for TPC-H on DuckDB: `python -m tests.tpch --scale 0.01 --rounds 3 --query 1 6`.

Prints a line for each query; the exit code is 1 when one is refused or wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from tests.tpch.duckdb_versions import Versions
from tests.tpch.generated_data import generate
from tests.tpch.proof import Outcome, prove
from tests.tpch.queries import NUMBERS
from tests.tpch.refresh_functions import SEED

HEAD = ("query", "result", "rows", "delta rows", "compile ms", "full ms", "delta ms")
LINE = "{:>5}  {:<7}  {:>6}  {:>14}  {:>10}  {:>8}  {:>8}"


def main() -> int:
    """Run what the options ask for."""
    options = _options()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="streamtables-tpch-") as folder:
        data = generate(options.data or Path(folder), options.scale)
        with Versions(data, Path(folder) / "versions.duckdb") as versions:
            for _ in range(options.rounds):
                versions.add_round(options.share, seed=options.seed)
            print(LINE.format(*HEAD))
            for number in options.query:
                outcome = prove(number, versions, options.scale)
                print(_line(outcome), flush=True)
                if outcome.failure:
                    wrong.append(outcome)
    for outcome in wrong:
        print(f"\nquery {outcome.number}: {outcome.failure}")
    print(f"\n{len(options.query) - len(wrong)} of {len(options.query)} hold")
    return 1 if wrong else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.tpch", description=__doc__)
    parser.add_argument("--scale", type=float, default=0.01, help="scale factor of the data")
    parser.add_argument("--rounds", type=int, default=3, help="how often the tables change")
    parser.add_argument("--share", type=float, default=0.01, help="changed share of each table")
    parser.add_argument("--seed", type=int, default=SEED, help="which rows change")
    parser.add_argument("--query", type=int, nargs="+", choices=NUMBERS, default=list(NUMBERS))
    parser.add_argument("--data", type=Path, help="a folder that keeps the generated data")
    return parser.parse_args()


def _line(outcome: Outcome) -> str:
    if outcome.failure.startswith("refused"):
        return LINE.format(outcome.number, "refused", "", "", "", "", "").rstrip()
    return LINE.format(
        outcome.number,
        "WRONG" if outcome.failure else "holds",
        outcome.result_rows,
        " ".join(str(rows) for rows in outcome.delta_rows),
        f"{outcome.compile_ms:.0f}",
        f"{median(outcome.full_ms):.0f}" if outcome.full_ms else "",
        f"{median(outcome.delta_ms):.0f}" if outcome.delta_ms else "",
    )


if __name__ == "__main__":
    sys.exit(main())
