"""The page of faults names tests that are there, are marked, and run every time."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.marks import KINDS, marked_faults
from tests.faults.page import GAPS, faults_page
from tests.faults.recording import FILE, left_out, not_shown

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "faults.md"
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE.read_text())))
MARKED = {fault.test for fault in marked_faults(ROOT)}
TEST = """
import pytest
pytestmark = []
@pytest.mark.fault("clock", "back", step="a", seen="b", recovery="c")
def test_x(): {body}
"""


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_a_test_that_is_named_is_there_and_marked(file: str, test: str) -> None:
    assert f"def {test}(" in (ROOT / file).read_text()
    assert f"{file}::{test}" in MARKED


def test_the_page_is_what_the_marks_say() -> None:
    assert PAGE.read_text() == faults_page()
    assert {f"{file}::{test}" for file, test in NAMED} == MARKED
    assert {fault.kind for fault in marked_faults(ROOT)} == set(KINDS)
    assert all(len(why) > 10 for _, why in GAPS)


def test_the_codes_on_the_page_are_codes_of_errors() -> None:
    known = re.findall(r'code = "(ST-\d{4})"', (ROOT / "src/streamtables/errors.py").read_text())
    found = re.findall(r"ST-\d{4}", PAGE.read_text())
    assert found
    assert set(found) <= set(known)


@pytest.mark.parametrize("test", sorted(MARKED))
def test_a_marked_test_is_one_that_every_whole_run_runs(test: str) -> None:
    file, name = test.split("::")
    tree = ast.parse((ROOT / file).read_text())
    module = [ast.unparse(n) for n in tree.body if isinstance(n, ast.Assign)]
    own = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
    marks = [ast.unparse(mark) for mark in own.decorator_list]
    marks += [text for text in module if text.startswith("pytestmark")]
    left_out = re.compile(r"mark\.(long|bench|skip|skipif|xfail)\b")
    assert not [mark for mark in marks if left_out.search(mark)]


@pytest.mark.parametrize(
    "mark",
    ['"clocks", "back", step="", seen="", recovery=""', '"clock", step="", seen="", recovery=""',
     '"clock", "back", seen="", recovery=""'],
)  # fmt: skip
def test_a_mark_that_says_too_little_is_refused(tmp_path: Path, mark: str) -> None:
    (tmp_path / "tests").mkdir()
    text = f"@pytest.mark.fault({mark})\ndef test_x(): pass\n"
    (tmp_path / "tests" / "test_it.py").write_text(text)
    with pytest.raises(ValueError, match="test_x"):
        marked_faults(tmp_path)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [("pass", "passed"), ("assert 0", "failed"), ("pytest.skip()", "skipped")],
)
def test_a_run_writes_down_how_a_marked_test_ended(tmp_path: Path, body: str, outcome: str) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    fault: a\n")
    hook = "from tests.faults.recording import pytest_runtest_makereport"
    (tmp_path / "conftest.py").write_text(f"import sys\nsys.path[:0] = [{str(ROOT)!r}]\n{hook}\n")
    (tmp_path / "tests" / "test_it.py").write_text(TEST.format(body=body))
    ran = tmp_path / "ran"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, FILE: str(ran)}, check=False)
    assert [json.loads(line)["outcome"] for line in ran.read_text().splitlines()] == [outcome]
    [marked] = marked_faults(tmp_path)
    assert not_shown({marked.test}, ran) == ([marked.test] if outcome == "failed" else [])
    assert left_out({marked.test}, ran) == ([marked.test] if outcome == "skipped" else [])


def test_a_test_that_did_not_run_or_failed_in_one_case_is_not_shown(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    assert not_shown({"a"}, ran) == ["a"]
    said = [("a", "passed"), ("a", "skipped"), ("b", "passed"), ("b", "failed")]
    ran.write_text("".join(json.dumps({"test": t, "outcome": o}) + "\n" for t, o in said))
    assert not_shown({"a", "b", "c"}, ran) == ["b", "c"]
    assert left_out({"a", "b", "c"}, ran) == ["a"]
