"""The demonstration, through the command line in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from streamtables.demo.folder import MARKER, clear
from streamtables.demo.tables import DEFINITIONS
from streamtables.errors import ConfigError


def demo(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "streamtables.cli", "demo", "--folder", str(folder), *more],
        cwd=folder.parent,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.mark.spark
@pytest.mark.slow
def test_the_demo_shows_three_rounds_and_every_table_equal(tmp_path: Path):
    done = demo(tmp_path / "shop", "--rows", "2000")
    assert done.returncode == 0, done.stderr
    assert [f"Round {n}" in done.stdout for n in (1, 2, 3)] == [True] * 3
    lines = [line.split() for line in done.stdout.splitlines()]
    proof = lines[lines.index(["The", "proof"]) :]
    for definition in DEFINITIONS:
        assert [definition.name, "equal", "0", "0"] in proof
    refreshes = [line for line in lines if line[1:2] == ["differential"]]
    assert len(refreshes) >= 12
    live = lines[lines.index(["Live", "from", "PostgreSQL"]) :]
    assert [line[0] for line in live if line[2:3] == ["differential"]] == list("123456")
    assert any(line[-2:] == ["verify:", "equal."] for line in live)
    assert "\x1b" not in done.stdout, "a pipe gets plain text"
    assert (tmp_path / "shop" / MARKER).is_file()


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path: Path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "to_ann.txt").write_text("dear Ann", encoding="utf-8")
    done = demo(tmp_path / "letters")
    assert done.returncode == 2
    assert "not a demonstration" in done.stderr
    assert [path.name for path in (tmp_path / "letters").iterdir()] == ["to_ann.txt"]


def test_an_earlier_demo_is_replaced_and_what_else_is_there_stays(tmp_path: Path):
    clear(tmp_path)
    (tmp_path / "warehouse").mkdir()
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    clear(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [MARKER, "notes.txt"]


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path):
    (tmp_path / "demo").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError):
        clear(tmp_path / "demo")
