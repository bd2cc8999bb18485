"""Every case of `tests/cases`, on real Spark and Delta through the public API."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.engine.session import SparkSessions
from tests.cases.reader import Case, Refresh, read_cases
from tests.cases.runner import run_case
from tests.cases.spark_engine import SparkEngine

CASES = [
    case
    for path in sorted((Path(__file__).parents[2] / "cases").glob("*.case"))
    for case in read_cases(path)
    if any(isinstance(step, Refresh) for step in case.steps)
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_case(case: Case, spark_sessions: SparkSessions, tmp_path: Path) -> None:
    run_case(case, lambda opened: SparkEngine(opened, spark_sessions, tmp_path))
