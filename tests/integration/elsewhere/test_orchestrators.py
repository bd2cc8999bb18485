"""Stream tables in Airflow and in Dagster, each in the framework itself."""

from __future__ import annotations

import subprocess
from os import environ
from pathlib import Path

import pytest

from tests.support.spark_servers import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.long]

DAGSTER = """\
orders False []
shop/revenue True ['orders']
shop/rich True ['shop/revenue']
revenue True full 2 first-fill True
rich True full 1 first-fill True
revenue True differential 1 changes True
rich True differential 1 changes True
False [ST-1407]
"""
AIRFLOW = """\
| fresh success 1 []
| here success 1 []
| late skipped 1 []
| refresh success 1 [('full', 1)]
| unknown failed 1 []
| fresh success 1 []
| here success 1 []
| late skipped 1 []
| refresh success 1 [('differential', 1)]
| unknown failed 1 []
| fresh upstream_failed 0 []
| here upstream_failed 0 []
| late upstream_failed 0 []
| refresh failed 1 []
| unknown upstream_failed 0 []
"""


def _lived(name: str, folder: Path) -> list[str]:
    python = ROOT / ".venv" / name / "bin" / "python"
    assert python.exists(), f"{name} has an environment of its own: scripts/setup.sh {name}"
    (folder / "shop").mkdir()
    more = {
        "PYTHONPATH": str(ROOT),
        "STREAMTABLES_SPARK_DRIVER_MEMORY": "1g",
        "AIRFLOW_HOME": str(folder / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "DAGSTER_DISABLE_TELEMETRY": "yes",
    }
    done = subprocess.run(
        [str(python), "-m", f"tests.support.{name}_life", str(folder / "shop")],
        cwd=ROOT,
        env={**environ, **more},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    return done.stdout.splitlines()


def test_stream_tables_are_assets_of_dagster(tmp_path: Path) -> None:
    assert _lived("dagster", tmp_path) == DAGSTER.splitlines()


def test_airflow_refreshes_and_waits(tmp_path: Path) -> None:
    said = [line for line in _lived("airflow", tmp_path) if line.startswith("|")]
    assert said == AIRFLOW.splitlines()
