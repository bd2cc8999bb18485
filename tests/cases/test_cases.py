"""Every case that DuckDB can run, on DuckDB."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.duckdb_engine import DuckDbEngine
from tests.cases.reader import Case, read_cases
from tests.cases.runner import run_case

FOLDER = Path(__file__).parent
CASES = [
    case
    for path in sorted(FOLDER.rglob("*.case"))
    for case in read_cases(path)
    if not case.only_spark
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.source.stem}: {case.title}")
def test_case(case: Case):
    run_case(case, DuckDbEngine)
