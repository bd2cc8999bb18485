"""The parts of the suite, and the one line that sums them up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "scripts" / "run_tests.py"
SUITE = """
import pytest
@pytest.mark.spark
def test_with(): pass
@pytest.mark.browser
def test_seen(): pass
@pytest.mark.spark
@pytest.mark.apart
def test_apart(): pass
def test_without(): assert {outcome}
"""
MARKERS = (
    "[pytest]\nmarkers =\n    spark: a\n    bench: b\n    long: c\n    browser: d\n    apart: e\n"
)


def run(
    folder: Path, outcome: bool, *options: str, markers: str = MARKERS
) -> tuple[int, list[str]]:
    (folder / "pytest.ini").write_text(markers)
    (folder / "test_both.py").write_text(SUITE.format(outcome=outcome))
    command = [sys.executable, str(SCRIPT), "--override-ini=cache_dir=.cache", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def test_both_halves_run_and_are_counted_together(tmp_path: Path) -> None:
    code, lines = run(tmp_path, True)
    assert (code, lines[-1].split(" in ")[0]) == (0, "4 passed")


def test_a_failure_of_either_half_fails_the_run_and_is_counted(tmp_path: Path) -> None:
    code, lines = run(tmp_path, False)
    assert (code, lines[-1].split(" in ")[0]) == (1, "3 passed, 1 failed")


def test_a_half_without_tests_is_no_failure_but_nothing_at_all_is(tmp_path: Path) -> None:
    assert run(tmp_path, True, "-k", "test_without")[0] == 0
    code, lines = run(tmp_path, True, "-k", "nothing_like_this")
    assert (code, lines[-1].split(" in ")[0]) == (1, "no tests ran")


def test_a_run_that_leaves_out_a_test_that_shows_a_fault_fails_and_names_it(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    mark = '@pytest.mark.fault("clock", "back", step="a", seen="b", recovery="c")'
    file = tmp_path / "tests" / "test_fault.py"
    file.write_text(f"import pytest\n{mark}\n@pytest.mark.long\ndef test_it(): pass\n")
    markers = f"{MARKERS}    fault: e\n"
    code, lines = run(tmp_path, True, markers=markers)
    assert (code, lines[-1].split(" in ")[0]) == (1, "4 passed")
    assert lines[-2].endswith("tests/test_fault.py::test_it")
    assert run(tmp_path, True, "-k", "test_without", markers=markers)[0] == 0


def test_two_runs_from_both_ends_run_every_test_once_and_keep_files_together(
    tmp_path: Path,
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    note = "from pathlib import Path\nimport os, pytest\n"
    note += "def note(name): Path('ran').open('a').write(f'{os.getpid()} {name}\\n')\n"
    (tmp_path / "test_a.py").write_text(
        f"{note}@pytest.mark.parametrize('n', range(40))\ndef test_a(n): note(f'a{{n}}')\n"
    )
    (tmp_path / "test_b.py").write_text(
        f"{note}@pytest.fixture(scope='module')\ndef one(): note('b')\n"
        "@pytest.mark.parametrize('n', range(40))\ndef test_b(one, n): note(f'b{n}')\n"
    )
    (tmp_path / "claims").mkdir()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.support.two_ends"]
    command += ["--claims=claims"]
    paths = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])}
    runs = [
        subprocess.Popen([*command, *more], cwd=tmp_path, env=paths, stdout=subprocess.DEVNULL)
        for more in ((), ("--backwards",))
    ]
    assert [run.wait() for run in runs] == [0, 0]
    ran = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    names = [f"{file}{n}" for file in "ab" for n in range(40)]
    assert sorted(name for _, name in ran) == sorted([*names, "b"])
    assert len({process for process, name in ran if name.startswith("b")}) == 1
