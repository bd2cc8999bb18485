"""The marks by which a test says which fault it causes.

    @pytest.mark.fault(
        "process", "kill -9", step="…", seen="…", recovery="by itself"
    )

They are read from the text of the tests, so that a page can be written without running any.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KINDS = {
    "process": "A process dies",
    "rivals": "A process stalls, or there are two",
    "files": "Disk and files",
    "clock": "The clock",
    "postgres": "PostgreSQL",
    "catalog": "The catalog",
    "receivers": "Receivers of changes",
}
_MARK = "pytest.mark.fault"
_PARTS = {"step", "seen", "recovery"}


@dataclass(frozen=True)
class Fault:
    """One row of the page: what goes wrong, where, and the test that does it."""

    kind: str
    fault: str
    step: str
    seen: str
    recovery: str
    test: str


def marked_faults(root: Path) -> list[Fault]:
    """Return every fault that a test below `root`/tests is marked with, by file and place."""
    files = sorted((root / "tests").rglob("test_*.py"))
    return [fault for file in files for fault in _of_file(file, root)]


def _of_file(file: Path, root: Path) -> Iterator[Fault]:
    text = file.read_text(encoding="utf-8")
    if _MARK not in text:
        return
    name = file.relative_to(root).as_posix()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == _MARK:
                    yield _of_mark(mark, f"{name}::{node.name}")


def _of_mark(mark: ast.Call, test: str) -> Fault:
    """Return what a mark says; one that says too little is refused with the name of its test."""
    words = [ast.literal_eval(argument) for argument in mark.args]
    parts = {item.arg: ast.literal_eval(item.value) for item in mark.keywords}
    if len(words) != 2 or words[0] not in KINDS or parts.keys() != _PARTS:
        raise ValueError(f"{test}: a fault has a kind of {list(KINDS)}, a name and {_PARTS}")
    return Fault(words[0], words[1], parts["step"], parts["seen"], parts["recovery"], test)
