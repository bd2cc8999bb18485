"""What must be reached, and whether this run reached it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Results = dict[str, Any]


class Bar(NamedTuple):
    """One bar: what was found, what is asked, and the goal beyond it."""

    what: str
    found: str
    bar: str
    goal: str
    verdict: str


def bars(results: Results) -> Iterator[Bar]:
    """Yield every bar; what this run did not measure is marked so."""
    yield from _no_change(results)
    yield from _against_merge(results)
    yield _growth(results)
    yield from _against_full(results)
    yield _commits(results)
    yield _compile(results)


def _no_change(results: Results) -> Iterator[Bar]:
    found = results.get("no_change")
    what = "no-change refresh, warm"
    if not found:
        yield _missing(what, "< 10 ms, 0 jobs", "< 3 ms")
        return
    took, jobs = 1_000 * found["refresh"]["median_seconds"], found["refresh"]["jobs"]
    met = _verdict(took < 10 and jobs == 0, took < 3 and jobs == 0)
    yield Bar(what, f"{took:.2f} ms, {jobs:g} jobs", "< 10 ms, 0 jobs", "< 3 ms", met)


def _against_merge(results: Results) -> Iterator[Bar]:
    found = _one(results, rows=1_000_000, changes=10)
    for kind, bar, goal in (("merge default", 0.4, 0.2), ("merge tuned", 0.5, 0.25)):
        settings = kind.removeprefix("merge ")
        what = f"10 changes, join + aggregate, 1M rows, against a bare MERGE ({settings})"
        if found is None:
            yield _missing(what, f"≤ {bar}×", f"≤ {goal}×")
            continue
        ratio = _seconds(found, "differential") / _seconds(found, kind)
        verdict = _verdict(ratio <= bar, ratio <= goal)
        yield Bar(what, f"{ratio:.3f}×", f"≤ {bar}×", f"≤ {goal}×", verdict)


def _growth(results: Results) -> Bar:
    what = "the same when the base is ten times larger"
    small, large = (_one(results, rows=n, changes=10) for n in (1_000_000, 10_000_000))
    if small is None or large is None:
        return _missing(what, "≤ 1.5×", "≤ 1.1×")
    ratio = _seconds(large, "differential") / _seconds(small, "differential")
    return Bar(what, f"{ratio:.2f}×", "≤ 1.5×", "≤ 1.1×", _verdict(ratio <= 1.5, ratio <= 1.1))


def _against_full(results: Results) -> Iterator[Bar]:
    for rows, shown, bar, goal in ((1_000_000, "1M", 3, 6), (10_000_000, "10M", 5, 10)):
        what = f"1,000 changes, join + aggregate, {shown} rows, against full"
        found = _one(results, rows=rows, changes=1_000)
        if found is None:
            yield _missing(what, f"≥ {bar}× faster", f"≥ {goal}×")
            continue
        ratio = _seconds(found, "full") / _seconds(found, "differential")
        verdict = _verdict(ratio >= bar, ratio >= goal)
        yield Bar(what, f"{ratio:.1f}× faster", f"≥ {bar}× faster", f"≥ {goal}×", verdict)


def _commits(results: Results) -> Bar:
    what = "Spark jobs and Delta commits of a small refresh, join + aggregate"
    found = _one(results, changes=10)
    if found is None:
        return _missing(what, "1 commit", "")
    jobs, commits = found["differential"]["jobs"], found["differential"]["commits"]
    text = f"{jobs:g} jobs, {commits:g} commit"
    return Bar(what, text, "1 commit", "", "met" if commits == 1 else "missed")


def _compile(results: Results) -> Bar:
    what = "compile to delta SQL, 10-way join"
    found = next((item for item in results.get("compile", ()) if item["depth"] == 10), None)
    if found is None:
        return _missing(what, "< 100 ms", "< 30 ms")
    took = found["compile_ms"] + found["delta_sql_ms"]
    return Bar(what, f"{took:.0f} ms", "< 100 ms", "< 30 ms", _verdict(took < 100, took < 30))


def _one(results: Results, *, changes: int, rows: int | None = None) -> Results | None:
    for item in results.get("changes", ()):
        asked = item["query"] == "join-aggregate" and item["changes"] == changes
        if asked and rows in (None, item["rows"]):
            return dict(item)
    return None


def _seconds(item: Results, kind: str) -> float:
    return float(item[kind]["median_seconds"])


def _verdict(bar: bool, goal: bool) -> str:
    return "goal met" if goal else "met" if bar else "missed"


def _missing(what: str, bar: str, goal: str) -> Bar:
    return Bar(what, "–", bar, goal, "not measured")
