"""The parts of the suite, and the one line that sums them up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "run_tests.py"
SUITE = """
import pytest
@pytest.mark.spark
def test_with(): pass
@pytest.mark.browser
def test_seen(): pass
def test_without(): assert {outcome}
"""
MARKERS = "[pytest]\nmarkers =\n    spark: a\n    bench: b\n    long: c\n    browser: d\n"


def run(folder: Path, outcome: bool, *options: str) -> tuple[int, list[str]]:
    (folder / "pytest.ini").write_text(MARKERS)
    (folder / "test_both.py").write_text(SUITE.format(outcome=outcome))
    command = [sys.executable, str(SCRIPT), "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def test_both_halves_run_and_are_counted_together(tmp_path: Path) -> None:
    code, lines = run(tmp_path, True)
    assert (code, lines[-1].split(" in ")[0]) == (0, "3 passed")


def test_a_failure_of_either_half_fails_the_run_and_is_counted(tmp_path: Path) -> None:
    code, lines = run(tmp_path, False)
    assert (code, lines[-1].split(" in ")[0]) == (1, "2 passed, 1 failed")


def test_a_half_without_tests_is_no_failure_but_nothing_at_all_is(tmp_path: Path) -> None:
    assert run(tmp_path, True, "-k", "test_without")[0] == 0
    code, lines = run(tmp_path, True, "-k", "nothing_like_this")
    assert (code, lines[-1].split(" in ")[0]) == (1, "no tests ran")
