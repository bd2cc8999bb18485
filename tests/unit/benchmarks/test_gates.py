"""Gates: a slower head fails, an equal one passes, what the base lacks is new."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gates.__main__ import main
from benchmarks.gates.catalogue import GATES
from benchmarks.gates.child import Bench, exact_metrics
from benchmarks.gates.gate import Benchmark, Gate, Samples, Verdict, judge
from benchmarks.gates.sides import BASE, HEAD, Ask, base_commit, compare

GATE = Gate("g", lambda: Benchmark(lambda _: None), {"cpu": 2.0})


def samples(*cpu: float, **exact: float) -> Samples:
    return Samples(list(cpu), dict(exact))


def test_sides_that_are_equal_pass():
    verdict = judge(GATE, samples(1.0, 1.1, calls=10), samples(1.1, 1.0, calls=10))
    assert verdict.status == "passed"
    assert [item.ratio for item in verdict.compared] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("head", "status"),
    [((1.0, 9.0, 9.0), "passed"), ((9.0, 9.0, 9.0), "exceeded"), ((2.0, 2.0), "passed")],
)
def test_time_exceeds_only_when_the_best_and_the_usual_one_do(head: tuple[float, ...], status: str):
    assert judge(GATE, samples(1.0, 1.0, 1.0), samples(*head)).status == status


def test_a_count_may_not_grow_at_all_while_calls_may_a_little():
    base = samples(1.0, reads=1, calls=100)
    assert judge(GATE, base, samples(1.0, reads=2, calls=100)).status == "exceeded"
    assert judge(GATE, base, samples(1.0, reads=1, calls=110)).status == "passed"
    verdict = judge(GATE, base, samples(1.0, reads=1, calls=500))
    assert verdict.sentence() == (
        "g got slower: calls is 5.00 times the base, where 1.1 is allowed"
    )


def test_nothing_against_something_is_beyond_every_bound():
    verdict = judge(GATE, samples(1.0, reads=0), samples(1.0, reads=1))
    assert verdict.status == "exceeded"
    assert judge(GATE, samples(1.0, reads=0), samples(1.0, reads=0)).status == "passed"


def test_what_the_base_lacks_is_new_and_what_the_head_breaks_fails():
    missing = Samples(error="ImportError: no x")
    assert judge(GATE, missing, samples(1.0)) == Verdict("g", "new", error="ImportError: no x")
    broken = judge(GATE, samples(1.0), missing)
    assert broken.status == "failed"
    assert broken.sentence() == "g cannot be measured: ImportError: no x"


def answers(head: list[float]) -> tuple[list[str], Any]:
    """Return processes that answer from a list, and the order in which they were asked."""
    asked: list[str] = []

    @contextmanager
    def opened(side: str) -> Iterator[Ask]:
        def ask(gate: str, exact: bool) -> dict[str, Any]:
            asked.append(f"{side} {gate}{' exact' if exact else ''}")
            cpu = head.pop(0) if side == HEAD else 1.0
            return {"cpu": [cpu], **({"exact": {"calls": 5}} if exact else {})}

        yield ask

    return asked, opened


def test_sides_take_turns_and_exact_metrics_are_taken_once():
    asked, opened = answers([1.0, 1.0])
    (verdict,) = compare([GATE], opened, 2)
    assert verdict.status == "passed"
    assert asked == [f"{HEAD} g exact", f"{BASE} g exact", f"{BASE} g", f"{HEAD} g"]


def test_a_gate_that_exceeds_by_time_is_measured_for_longer_before_it_fails():
    asked, opened = answers([9.0, *[1.0] * 3])
    (verdict,) = compare([GATE], opened, 1)
    assert verdict.status == "passed"
    assert len(asked) == 2 + 2 * 3
    _, opened = answers([9.0] * 4)
    assert compare([GATE], opened, 1)[0].status == "exceeded"


def test_calls_and_bytes_follow_the_work():
    def work(size: int) -> list[int]:
        return [abs(number) for number in range(size)]

    small = exact_metrics(Benchmark(work, lambda: 1_000))
    large = exact_metrics(Benchmark(work, lambda: 10_000))
    assert large["calls"] > 5 * small["calls"]
    assert large["bytes"] > 5 * small["bytes"]
    assert exact_metrics(Benchmark(work, lambda: 1_000))["calls"] == small["calls"]


def test_what_a_benchmark_raises_is_told():
    def broken() -> Benchmark:
        raise ImportError("no such room")

    assert Bench([replace(GATE, make=broken)]).answer("g", exact=True) == {
        "error": "ImportError: no such room"
    }


def test_every_gate_of_the_project_can_be_made_and_called():
    assert len({gate.name for gate in GATES}) == len(GATES)
    counted = {}
    for gate in GATES:
        benchmark = gate.make()
        counted[gate.name] = benchmark.counts(benchmark.work(benchmark.fresh()))
    assert counted["reads-coalesced"] == {"reads": 1}
    assert counted["reads-single"] == {"reads": 10}


TINY_GATES = """
from benchmarks.gates.gate import Benchmark, Gate

def made():
    from tiny import work
    return Benchmark(lambda _: work())

def made_later():
    from tiny import later
    return Benchmark(lambda _: later())

# Equal sides must pass on the busiest machine; the slower one does twenty times the work.
GATES = [Gate("tiny", made, {"cpu": 8.0, "bytes": 8.0}), Gate("later", made_later)]
"""
TINY = """
def work():
    return [abs(number) for number in range({size})]

{later}
"""


def git(root: Path, *arguments: str) -> None:
    own = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *own, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    root = tmp_path / "repository"
    (root / "src").mkdir(parents=True)
    (root / "tiny_gates.py").write_text(TINY_GATES, encoding="utf-8")
    written(root, 2_000)
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "base")
    monkeypatch.syspath_prepend(root)
    yield root
    sys.modules.pop("tiny_gates", None)


def written(root: Path, size: int, later: str = "") -> None:
    text = TINY.format(size=size, later=later)
    (root / "src" / "tiny.py").write_text(text, encoding="utf-8")


def run(root: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    results = root.parent / "results"
    given = ["--rounds", "1", "--only", "tiny", "--results", str(results), *arguments]
    code = main(given, root, "tiny_gates")
    latest = results / "gates-latest.json"
    return code, json.loads(latest.read_text("utf-8")) if latest.exists() else {}


def test_a_slower_head_fails_with_a_sentence(repository: Path, capsys: pytest.CaptureFixture[str]):
    written(repository, 40_000)
    code, found = run(repository)
    assert code == 1
    (gate,) = found["gates"]
    assert gate["status"] == "exceeded"
    assert gate["metrics"]["calls"]["ratio"] > 5
    assert gate["metrics"]["cpu"]["ratio"] > 8
    assert "error: tiny got slower: cpu is" in capsys.readouterr().err


def test_an_equal_head_passes_and_leaves_no_worktree(
    repository: Path, capsys: pytest.CaptureFixture[str]
):
    written(repository, 2_000, "unused = 1")
    code, found = run(repository)
    assert code == 0
    assert found["gates"][0]["metrics"]["calls"]["ratio"] == 1
    assert "tiny calls" in capsys.readouterr().out
    listed = subprocess.run(
        ["git", "worktree", "list"], cwd=repository, check=True, capture_output=True, text=True
    )
    assert len(listed.stdout.splitlines()) == 1


def test_a_benchmark_that_the_base_lacks_is_new(
    repository: Path, capsys: pytest.CaptureFixture[str]
):
    written(repository, 2_000, "def later(): return 1")
    code, found = run(repository, "--only", "later", "--json")
    assert code == 0
    assert [gate["status"] for gate in found["gates"]] == ["new"]
    assert "ImportError" in found["gates"][0]["error"]
    assert json.loads(capsys.readouterr().out)["gates"] == found["gates"]


def test_a_benchmark_that_the_head_lacks_fails(repository: Path):
    code, found = run(repository, "--only", "later", "--base", "HEAD")
    assert code == 1
    assert found["gates"][0]["status"] == "failed"


@pytest.mark.parametrize("wrong", [["--base", "no-such-commit"], ["--only", "no-such-gate"]])
def test_a_wrong_request_is_refused(
    repository: Path, wrong: list[str], capsys: pytest.CaptureFixture[str]
):
    code, found = run(repository, *wrong)
    assert (code, found) == (2, {})
    assert capsys.readouterr().err.startswith("error: ")


def test_the_base_is_where_the_branch_left_main(repository: Path):
    written(repository, 2_000, "dirty = 1")
    first = base_commit(repository, "HEAD")
    assert base_commit(repository, None) == first, "uncommitted changes are held to HEAD"
    git(repository, "commit", "--quiet", "-am", "second")
    assert base_commit(repository, None) == first, "on main, the commit before"
    second = base_commit(repository, "HEAD")
    git(repository, "checkout", "--quiet", "-b", "topic")
    for number in range(2):
        written(repository, 2_000, f"number = {number}")
        git(repository, "commit", "--quiet", "-am", "topic")
    assert base_commit(repository, None) == second
