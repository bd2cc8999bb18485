"""Every case of `tests/cases`, on real Spark and Delta through the public API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.engine.session import SparkSessions
from tests.cases.reader import Case, Refresh, read_cases
from tests.cases.runner import run_case
from tests.cases.spark_engine import SparkEngine

# A case takes seconds on Spark, and one with a recursion a job for every level.  All run on DuckDB
# each time; here the traps do, and the first few of each file.
EACH_TIME = {"traps": 100, "readings": 100, "recursion": 1}
OF_OTHERS_EACH_TIME = 3


def _cases() -> Iterator[object]:
    for path in sorted((Path(__file__).parents[2] / "cases").glob("*.case")):
        for number, case in enumerate(read_cases(path)):
            long = number >= EACH_TIME.get(path.stem, OF_OTHERS_EACH_TIME)
            if any(isinstance(step, Refresh) for step in case.steps):
                marks = [pytest.mark.long] if long else []
                yield pytest.param(case, id=case.title, marks=marks)


@pytest.mark.parametrize("case", list(_cases()))
def test_case(case: Case, spark_sessions: SparkSessions, tmp_path: Path) -> None:
    run_case(case, lambda opened: SparkEngine(opened, spark_sessions, tmp_path))
