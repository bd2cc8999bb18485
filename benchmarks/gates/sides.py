"""Base and head side by side: a worktree of the base, and child processes that measure in turn.

The benchmarks themselves are those of the head on both sides; only the source differs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.gates.gate import Gate, Samples, Verdict, judge

PROJECT = Path(__file__).resolve().parents[2]
BASE, HEAD = "base", "head"
MORE_ROUNDS = 3
"""How many times the rounds a gate is measured again before it fails."""

Ask = Callable[[str, bool], dict[str, Any]]
"""Measures a gate by name; the flag asks for the exact metrics too."""
Open = Callable[[str], AbstractContextManager[Ask]]
"""Starts the process of a side."""


class NoSuchBaseError(Exception):
    """The base cannot be found or checked out; the text says why."""


@dataclass(frozen=True)
class Sides:
    """How to start a process for each side."""

    base: Path
    root: Path
    module: str

    @contextmanager
    def opened(self, side: str) -> Iterator[Ask]:
        """Start the process of one side; it ends with the block."""
        source = (self.base if side == BASE else self.root) / "src"
        paths = dict.fromkeys([str(source), str(self.root), str(PROJECT)])
        # Without chance in hashing, sets have one order and counts are the same each time.
        own = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "benchmarks.gates.child", self.module]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.root,
            env={**os.environ, **own},
        ) as process:
            assert process.stdin is not None
            yield lambda gate, exact: _answer(process, gate, exact)
            process.stdin.close()


def _answer(process: subprocess.Popen[str], gate: str, exact: bool) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps({"gate": gate, "exact": exact}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except BrokenPipeError:
        line = ""
    if not line:
        return {"error": f"the process ended with {process.wait()}"}
    answer: dict[str, Any] = json.loads(line)
    return answer


def compare(gates: Sequence[Gate], opened: Open, rounds: int) -> list[Verdict]:
    """Measure every gate on both sides; what exceeds by its time is measured for longer."""
    found = {gate.name: (Samples(), Samples()) for gate in gates}
    _measure(gates, opened, rounds, found)
    doubtful = [gate for gate in gates if judge(gate, *found[gate.name]).doubtful]
    if doubtful:
        names = ", ".join(gate.name for gate in doubtful)
        print(f"· measured again, {MORE_ROUNDS}× as long: {names}", file=sys.stderr, flush=True)
        _measure(doubtful, opened, MORE_ROUNDS * rounds, found)
    return [judge(gate, *found[gate.name]) for gate in gates]


def _measure(
    gates: Sequence[Gate], opened: Open, rounds: int, found: dict[str, tuple[Samples, Samples]]
) -> None:
    """Give each round two new processes, and each gate of it one after the other."""
    for number in range(rounds):
        with ExitStack() as stack:
            asks = [stack.enter_context(opened(side)) for side in (BASE, HEAD)]
            for place, gate in enumerate(gates):
                sides = list(zip(asks, found[gate.name], strict=True))
                for ask, samples in sides if (number + place) % 2 else reversed(sides):
                    if not samples.error:
                        _take(samples, ask(gate.name, not samples.exact))


def _take(samples: Samples, answer: dict[str, Any]) -> None:
    samples.error = answer.get("error", "")
    samples.cpu += answer.get("cpu", [])
    samples.exact |= answer.get("exact", {})


@contextmanager
def checked_out(root: Path, commit: str) -> Iterator[Path]:
    """Give a folder with the files of a commit, as a worktree that goes with the block."""
    with tempfile.TemporaryDirectory(prefix="streamtables-gates-") as folder:
        path = Path(folder) / "base"
        git(root, "worktree", "add", "--detach", "--quiet", str(path), commit)
        try:
            yield path
        finally:
            git(root, "worktree", "remove", "--force", str(path))


def base_commit(root: Path, wanted: str | None) -> str:
    """Return the commit to compare with: as wanted, or where this branch left the main one.

    On the main branch itself that is the last commit while there are changes, else the one before.
    """
    if wanted is not None:
        return git(root, "rev-parse", "--verify", "--quiet", f"{wanted}^{{commit}}")
    head = git(root, "rev-parse", "HEAD")
    for branch in ("main", "origin/main"):
        try:
            left = git(root, "merge-base", "HEAD", branch)
        except NoSuchBaseError:
            continue
        if left != head:
            return left
    if git(root, "status", "--porcelain", "--untracked-files=no"):
        return head
    return git(root, "rev-parse", "--verify", "--quiet", "HEAD~1^{commit}")


def git(root: Path, *arguments: str) -> str:
    """Run git in a folder and return what it prints."""
    done = subprocess.run(
        ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    if done.returncode:
        told = done.stderr.strip() or "no such commit"
        raise NoSuchBaseError(f"git {' '.join(arguments[:2])}: {told}")
    return done.stdout.strip()
