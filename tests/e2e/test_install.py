"""The wheel, installed into an environment that has nothing else, does what the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.test_readme import expected_output, quick_start

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.long, pytest.mark.spark]


def run(*words: str | Path, cwd: Path, **variables: str) -> str:
    """Run a program outside of the repository, and return what it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=kept | variables,
        capture_output=True,
        text=True,
        timeout=1_800,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel, and with the versions that are pinned."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    [wheel] = folder.glob("*.whl")
    # Pins without their hashes: the wheel that was just made has none in the list.
    pins = re.findall(r"^[^\s#]+==[^\\\n]+", (ROOT / "constraints.txt").read_text("utf-8"), re.M)
    (folder / "constraints.txt").write_text("\n".join(pins), encoding="utf-8")
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    programs = folder / "venv" / "bin"
    pip = (programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--constraint", folder / "constraints.txt", wheel, cwd=folder)
    return programs


def test_the_package_is_the_one_of_the_wheel(installed: Path, tmp_path: Path):
    code = "import streamtables; print(streamtables.__file__, streamtables.__version__)"
    place, version = run(installed / "python", "-c", code, cwd=tmp_path).split()
    assert Path(place).is_relative_to(installed.parent)
    assert run(installed / "streamtables", "--version", cwd=tmp_path) == f"streamtables {version}\n"


def test_the_quick_start_runs_with_what_the_wheel_brings(installed: Path, tmp_path: Path):
    printed = run(installed / "python", "-c", quick_start(), cwd=tmp_path).splitlines()
    assert [line for line in expected_output() if line not in printed] == []


def test_the_command_line_helps_and_works(installed: Path, tmp_path: Path):
    command = installed / "streamtables"
    assert "refresh" in run(command, "--help", cwd=tmp_path)
    assert "Java" in run(command, "doctor", cwd=tmp_path)
    run(command, "init", "shop", cwd=tmp_path)
    plan = run(command, "plan", cwd=tmp_path / "shop")
    assert re.search(r"create +revenue", plan)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete_commands(installed: Path, tmp_path: Path, shell: str):
    command = installed / "streamtables"
    # Typer asks which shell called it; a test run may have none above it.
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    script = run(command, f"--show-completion={shell}", cwd=tmp_path, **named)
    assert f"_STREAMTABLES_COMPLETE=complete_{shell}" in script
    asked = {
        "_STREAMTABLES_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "streamtables ref",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "COMP_WORDS": "streamtables ref",
        "COMP_CWORD": "1",
    }
    assert "refresh" in run(command, cwd=tmp_path, **asked)


def test_what_an_extra_brings_is_named_where_it_is_missing(installed: Path, tmp_path: Path):
    done = subprocess.run(
        [installed / "streamtables", "serve"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode != 0
    assert "streamtables[web]" in done.stderr
