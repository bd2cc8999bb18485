"""What became of the marked tests in a run, so that the run can say which faults were not shown.

`scripts/run_tests.py` names a file in the environment; each marked test adds a line to it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest

FILE = "STREAMTABLES_TEST_FAULTS"
GOOD = {"passed", "skipped"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write down how a marked test ended."""
    report = yield
    asked = os.environ.get(FILE)
    # A test that never came to its call failed or was left out before it.
    ended = report.when == "call" or report.outcome != "passed"
    if asked and ended and item.get_closest_marker("fault") is not None:
        _add(Path(asked), item, report.outcome)
    return report


def _add(file: Path, item: pytest.Item, outcome: str) -> None:
    test = f"{item.path.relative_to(item.config.rootpath).as_posix()}::{_name(item)}"
    line = json.dumps({"test": test, "outcome": outcome})
    # One short write at the end of the file: parts of a run that go side by side do not mix.
    with file.open("a", encoding="utf-8") as opened:
        opened.write(f"{line}\n")


def _name(item: pytest.Item) -> str:
    return str(getattr(item, "originalname", item.name))


def not_shown(tests: set[str], file: Path) -> list[str]:
    """Return the marked tests that did not run, or of which a case failed."""
    outcomes = _outcomes(file)
    return sorted(test for test in tests if not outcomes.get(test, {"failed"}) <= GOOD)


def left_out(tests: set[str], file: Path) -> list[str]:
    """Return the marked tests of which the machine could not run a case."""
    outcomes = _outcomes(file)
    return sorted(test for test in tests if "skipped" in outcomes.get(test, ()))


def _outcomes(file: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        said = json.loads(line)
        found.setdefault(said["test"], set()).add(said["outcome"])
    return found
