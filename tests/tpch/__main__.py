"""Prove the law for TPC-H on DuckDB: `python -m tests.tpch --scale 0.01 --rounds 3 --query 1 6`.

Prints a line for each query; the exit code is 1 when one is refused or wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.support.proof_report import prove_all
from tests.tpch.duckdb_versions import Versions
from tests.tpch.generated_data import generate
from tests.tpch.queries import NUMBERS, query_text
from tests.tpch.refresh_functions import SEED


def main() -> int:
    """Run what the options ask for."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="streamtables-tpch-") as folder:
        data = generate(options.data or Path(folder), options.scale)
        with Versions(data, Path(folder) / "versions.duckdb") as versions:
            for _ in range(options.rounds):
                versions.add_round(options.share, seed=options.seed)
            queries = {number: query_text(number, options.scale) for number in options.query}
            return prove_all(queries, versions)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.tpch", description=__doc__)
    parser.add_argument("--scale", type=float, default=0.01, help="scale factor of the data")
    parser.add_argument("--rounds", type=int, default=3, help="how often the tables change")
    parser.add_argument("--share", type=float, default=0.01, help="changed share of each table")
    parser.add_argument("--seed", type=int, default=SEED, help="which rows change")
    parser.add_argument("--query", type=int, nargs="+", choices=NUMBERS, default=list(NUMBERS))
    parser.add_argument("--data", type=Path, help="a folder that keeps the generated data")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
