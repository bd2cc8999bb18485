"""Prove the law for TPC-DS on DuckDB: `python -m tests.tpcds --scale 0.01 --rounds 2 --query 1 6`.

Prints a line for each query; the exit code is 1 when one is refused or wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.support.proof_report import prove_all
from tests.support.table_versions import TableVersions
from tests.tpcds.generated_data import generate
from tests.tpcds.queries import NUMBERS, leaves_open, query_texts
from tests.tpcds.rounds import SEED, add_round
from tests.tpcds.schema import KEYS, columns_of


def main() -> int:
    """Run what the options ask for."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="streamtables-tpcds-") as folder:
        data = generate(options.data or Path(folder), options.scale)
        texts = query_texts(data)
        queries = {number: texts[number] for number in options.query}
        open_answers = {number for number, text in queries.items() if leaves_open(text)}
        database = Path(folder) / "versions.duckdb"
        with TableVersions(data, database, columns_of(data), KEYS) as versions:
            for _ in range(options.rounds):
                add_round(versions, options.share, seed=options.seed)
            return prove_all(queries, versions, open_answers)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.tpcds", description=__doc__)
    parser.add_argument("--scale", type=float, default=0.01, help="scale factor of the data")
    parser.add_argument("--rounds", type=int, default=2, help="how often the tables change")
    parser.add_argument("--share", type=float, default=0.02, help="changed share of each table")
    parser.add_argument("--seed", type=int, default=SEED, help="which rows change")
    parser.add_argument("--query", type=int, nargs="+", choices=NUMBERS, default=list(NUMBERS))
    parser.add_argument("--data", type=Path, help="a folder that keeps the generated data")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
