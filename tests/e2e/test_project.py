"""A project through the command line on Spark: made, applied, refreshed, changed, imported into."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def streamtables(folder: Path, *words: str, code: int = 0) -> str:
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("STREAMTABLES_WAREHOUSE", "STREAMTABLES_ENV")
    }
    done = subprocess.run(
        [sys.executable, "-m", "streamtables.cli", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def rows(folder: Path, table: str, *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(streamtables(folder, "read", table, "--json", *words))
    return sorted(found, key=str)


def test_a_new_project_runs_as_it_stands_and_follows_its_sources(tmp_path: Path):
    streamtables(tmp_path, "init", "shop")
    shop = tmp_path / "shop"
    (tmp_path / "pipe.sql").write_text(
        "CREATE STREAMING TABLE bronze AS SELECT order_id, city FROM STREAM(orders);"
        "CREATE MATERIALIZED VIEW per_city AS SELECT city, count(*) AS n FROM bronze GROUP BY city"
    )
    streamtables(shop, "import", "sdp", "../pipe.sql")
    streamtables(shop, "plan", "--detailed-exitcode", code=1)
    streamtables(shop, "apply", "--yes")
    streamtables(shop, "plan", "--detailed-exitcode")
    streamtables(shop, "refresh")
    assert rows(shop, "revenue") == [
        {"city": "Bern", "orders": 3, "total": 180},
        {"city": "Lyon", "orders": 4, "total": 220},
        {"city": "Oslo", "orders": 3, "total": 150},
    ]
    more = pa.table(
        {
            "order_id": pa.array([11], pa.int64()),
            "city": ["Rome"],
            "amount": pa.array([5], pa.int64()),
        }
    )
    write_deltalake(str(shop / "data" / "orders"), more, mode="append")
    refreshed = json.loads(streamtables(shop / "tables", "refresh", "--json"))
    assert {item["mode"] for item in refreshed} <= {"differential", "no-change"}
    assert {"city": "Rome", "n": 1} in rows(shop, "per_city")
    assert [row["city"] for row in rows(shop, "large_cities")] == ["Bern", "Lyon", "Oslo"]
    streamtables(shop, "verify")
    assert json.loads(streamtables(shop, "--env", "prod", "status", "--json")) == []
