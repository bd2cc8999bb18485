"""The benchmark of calls runs, and finds starts and commits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import scheduler_wake

pytestmark = pytest.mark.postgres


def test_starts_are_timed_and_commits_counted(tmp_path: Path):
    arguments = ["--rounds", "2", "--seconds", "1", "--results", str(tmp_path)]
    assert scheduler_wake.main(arguments) == 0
    found = json.loads((tmp_path / "scheduler_wake-latest.json").read_text())
    assert len(found["starts"]) == 2
    assert all(0 <= seconds < 30 for seconds in found["starts"])
    assert all(rate > 0 for rates in found["commits"].values() for rate in rates)
