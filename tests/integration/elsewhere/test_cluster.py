"""A standalone cluster: the same table by a master's address, and from `spark-submit`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.spark_servers import ROOT, output_of, standalone_cluster, submitted

LIFE = ["differential/replace-keys"] * 2 + ["differential/merge"] * 2


@pytest.mark.spark
@pytest.mark.long
def test_the_same_table_runs_on_two_workers(tmp_path: Path) -> None:
    with standalone_cluster() as master:
        ours = {
            "STREAMTABLES_SPARK_MASTER": master,
            "STREAMTABLES_SPARK_DRIVER_MEMORY": "1g",
            "STREAMTABLES_SPARK_CONF": "spark.executor.memory=1g",
        }
        script = "tests/support/table_life.py"
        assert output_of([script, str(tmp_path / "ours")], more=ours) == LIFE
        theirs = submitted(master, ROOT / script, str(tmp_path / "theirs"))
        assert theirs == LIFE
