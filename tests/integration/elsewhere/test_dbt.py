"""The example project in dbt itself, from the first run to queries that were altered."""

from __future__ import annotations

import shutil
import subprocess
from os import environ
from pathlib import Path

import pytest

from tests.support.spark_servers import ROOT

PYTHON = ROOT / ".venv" / "dbt" / "bin" / "python"
LIFE = """\
revenue|success:full +2 -0 (first-fill)
rich_regions|success:full +1 -0 (first-fill)
revenue|success:no-change +0 -0 (current)
rich_regions|success:no-change +0 -0 (current)
revenue|success:differential +1 -1 (changes)
rich_regions|success:differential +1 -0 (changes)
not_null_revenue_region|pass:None
not_null_rich_regions_total|pass:None
unique_revenue_region|pass:None
documented|orders,region,total
revenue|error:Runtime Error in model revenue (models/revenue.sql)
revenue|success:full +2 -0 (query-changed)
revenue|success:full +2 -0 (query-changed)
rich_regions|success:no-change +0 -0 (no-effect)
rich_regions|success:full +2 -0 (forced)
shop.revenue|1 minute|equal
shop.rich_regions|calculated|equal
"""


@pytest.mark.spark
@pytest.mark.long
def test_a_project_of_dbt_lives_with_stream_tables(tmp_path: Path) -> None:
    assert PYTHON.exists(), "dbt has an environment of its own: scripts/setup.sh dbt"
    shutil.copytree(ROOT / "examples" / "dbt", tmp_path / "shop")
    warehouse = str(tmp_path / "warehouse")
    more = {
        "SHOP_WAREHOUSE": warehouse,
        "STREAMTABLES_SPARK_DRIVER_MEMORY": "1g",
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
    }
    done = subprocess.run(
        [str(PYTHON), "-m", "tests.support.dbt_life", str(tmp_path / "shop"), warehouse],
        cwd=ROOT,
        env={**environ, **more},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    assert "New: largest. Gone: none." in done.stdout
    said = [line for line in done.stdout.splitlines() if "|" in line]
    assert said == LIFE.splitlines()
