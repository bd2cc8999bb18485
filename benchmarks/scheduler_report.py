"""Bars that the benchmarks of the scheduler share, and those that two of them only print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from statistics import median, quantiles

from benchmarks.bars import Bar
from benchmarks.postgres_report import only_shown
from benchmarks.scheduler_dag import MAX_BUILD_SECONDS, MIN_RATIO

_NODES = re.compile(r"^([\d,]+) nodes", re.MULTILINE)
_EDIT = re.compile(r"^ +(\w+) +edit .* full build +([\d.]+) ms +ratio +([\d,]+) ", re.MULTILINE)
_LOOKS = re.compile(
    r"looks +([\d.]+) ms alone +([\d.]+) ms beside full builds \(the slowest +([\d.]+)\)"
)
_THREAD = re.compile(r"A thread per task costs (-?[\d.]+) ms more per task")


def below(what: str, seconds: float, bar: float) -> Bar:
    """Return a bar that a time has to stay below."""
    verdict = "met" if seconds < bar else "missed"
    return Bar(what, f"{1e3 * seconds:.2f} ms", f"< {1e3 * bar:g} ms", "", verdict)


def exactly(what: str, found: float, bar: float) -> Bar:
    """Return a bar for a count that depends on nothing, so that any other is wrong."""
    return Bar(what, f"{found:g}", f"{bar:g}", "", "met" if found == bar else "WRONG")


def at_least_times(what: str, ratio: float, bar: float) -> Bar:
    """Return a bar that a ratio must reach."""
    verdict = "met" if ratio >= bar else "missed"
    return Bar(what, f"{ratio:.2f}×", f"≥ {bar:g}×", "", verdict)


def one_in_twenty(seconds: Sequence[float]) -> float:
    """Return the time that one in twenty is longer than."""
    return quantiles(seconds, n=20)[-1] if len(seconds) > 1 else median(seconds)


def dag_bars(text: str) -> Iterator[Bar]:
    """Read the bars out of what `scheduler_dag` prints."""
    sizes = _NODES.split(text)[1:]
    if not sizes:
        raise ValueError("the benchmark of the dag printed no result")
    for size, part in zip(sizes[::2], sizes[1::2], strict=True):
        found = {kind: (float(ms) / 1e3, _number(ratio)) for kind, ms, ratio in _EDIT.findall(part)}
        worst = min(found, key=lambda kind: found[kind][1])
        what = f"an edit of the dag against a full build, {size} nodes ({worst}, the worst)"
        yield at_least_times(what, found[worst][1], MIN_RATIO)
        slowest = max(seconds for seconds, _ in found.values())
        yield below(f"… a full build of {size} nodes", slowest, MAX_BUILD_SECONDS)
        if looks := _LOOKS.search(part):
            alone, beside, longest = looks.groups()
            text = f"{alone} ms, {beside} ms (at most {longest} ms)"
            yield only_shown("… a look of a tick, alone and beside full builds", text)


def pool_bars(text: str) -> Iterator[Bar]:
    """Read the figure out of what `scheduler_pool` prints."""
    extra = _THREAD.search(text)
    if extra is None:
        raise ValueError("the benchmark of threads printed no result")
    yield only_shown("a thread per task against threads that stay", f"+{extra.group(1)} ms a task")


def _number(text: str) -> float:
    return float(text.replace(",", ""))
