"""The README's quick start runs as it is printed, and prints what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    text = README.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def quick_start() -> str:
    return blocks("python")[0]


def expected_output() -> list[str]:
    shown = next(block for block in blocks("text") if block.startswith("differential"))
    return [line for line in shown.splitlines() if line]


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


def test_every_linked_file_exists():
    text = README.read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    missing = [target for target in targets if not (README.parent / target).exists()]
    assert not missing


def test_every_python_block_can_be_compiled():
    for block in blocks("python"):
        compile(block, "README.md", "exec")


@pytest.mark.spark
@pytest.mark.slow
def test_the_quick_start_runs_and_prints_what_it_says(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", quick_start()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    assert [line for line in expected_output() if line not in printed] == []
    assert "delta SQL" in done.stdout
    assert "__st_weight" in done.stdout
