"""`streamtables bench`, on a shop that is small enough for every change."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from streamtables.demo.tables import DEFINITIONS


@pytest.mark.spark
@pytest.mark.slow
def test_both_sides_of_every_table_are_measured() -> None:
    command = [sys.executable, "-m", "streamtables.cli", "bench", "--json"]
    sizes = ["--rows", "2000", "--changes", "10", "--rounds", "1"]
    done = subprocess.run([*command, *sizes], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [item["table"] for item in found] == [item.name for item in DEFINITIONS]
    for item in found:
        assert len(item["differential"]) == len(item["full"]) == 1
        assert item["ratio"] == round(item["full"][0] / item["differential"][0], 2)


def test_bounds_are_told_before_anything_starts() -> None:
    command = [sys.executable, "-m", "streamtables.cli", "bench", "--rows", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "1000" in done.stderr
