"""Make the tables and the texts of the queries: `python -m tests.tpcds.maker FOLDER SCALE`.

Runs in an environment of its own, with the release of DuckDB that its TPC-DS extension is for.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb
import duckdb_extension_tpcds  # type: ignore[import-not-found]  # in that environment alone


def main(folder: Path, scale: float) -> None:
    """Write one Parquet file for each table, and the queries by their number."""
    folder.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    package = Path(duckdb_extension_tpcds.__file__).parent
    extension = next(package.rglob("*.duckdb_extension"))
    connection.execute(f"LOAD '{extension}'")
    connection.execute(f"CALL dsdgen(sf = {scale})")
    tables = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
    for (table,) in tables:
        connection.execute(f"COPY {table} TO '{folder / table}.parquet'")
    texts = connection.execute("SELECT query_nr, query FROM tpcds_queries()").fetchall()
    (folder / "queries.json").write_text(json.dumps(dict(texts)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
