"""Random queries and histories with Spark as the judge, on real Delta tables.

`python -m tests.properties.run_spark_seeds` tries more of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.engine.session import SparkSessions
from tests.properties.spark_trials import Wanted, groups, try_group

# As users' queries are.
pytestmark = pytest.mark.usefixtures("compiled_queries")

SEEDS = 20
MORE_SEEDS = 120
WANTED = Wanted(depth=1)


def _parts() -> Iterator[object]:
    for seeds in groups(0, MORE_SEEDS):
        marks = [pytest.mark.long] if seeds[0] >= SEEDS else []
        yield pytest.param(seeds, id=f"{seeds[0]}-{seeds[-1]}", marks=marks)


@pytest.mark.parametrize("seeds", list(_parts()))
def test_incremental_equals_full_on_spark(
    seeds: range, spark_sessions: SparkSessions, tmp_path: Path
) -> None:
    outcomes = [case.outcome for case in try_group(seeds, spark_sessions, tmp_path, WANTED)]
    assert len(outcomes) == len(seeds)
    assert not [outcome.report() for outcome in outcomes if outcome.failed]
