"""One gate: a piece of work, and how much more of it a change may cost than its base.

cpu     processor seconds of one call; other programs disturb them, so they are measured again
        before a gate fails
calls   Python and C functions that one call enters, which no other program can disturb
bytes   the most memory that one call holds at once, as Python's allocator sees it
others  whatever a benchmark counts by itself; it may not grow at all
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal

CPU = "cpu"
BOUNDS: Mapping[str, float] = {CPU: 1.2, "calls": 1.1, "bytes": 1.1}
COUNTS_BOUND = 1.0
"""What a benchmark counts depends on nothing, so that any more is a regression."""

Status = Literal["passed", "exceeded", "new", "failed"]


def _nothing() -> None:
    return None


def _no_counts(_result: Any) -> Mapping[str, float]:
    return {}


@dataclass(frozen=True)
class Benchmark:
    """The work of a gate, ready to be called."""

    work: Callable[[Any], object]
    fresh: Callable[[], Any] = _nothing
    """Makes what one call works on; not measured."""
    counts: Callable[[Any], Mapping[str, float]] = _no_counts
    """Counts something in the result of one call."""


@dataclass(frozen=True)
class Gate:
    """A benchmark by name, and its bounds where they are not those of all."""

    name: str
    make: Callable[[], Benchmark]
    """Imports what it measures, so that a base that lacks it is told apart."""
    bounds: Mapping[str, float] = field(default_factory=dict)

    def bound(self, metric: str) -> float:
        """Return how many times the base a metric may reach."""
        return self.bounds.get(metric, BOUNDS.get(metric, COUNTS_BOUND))


@dataclass
class Samples:
    """What one side gave for one gate over all rounds."""

    cpu: list[float] = field(default_factory=list)
    exact: dict[str, float] = field(default_factory=dict)
    error: str = ""
    """Why there is nothing: what is measured does not exist there, or raised."""


@dataclass(frozen=True)
class Compared:
    """One metric on both sides."""

    metric: str
    base: float
    head: float
    ratio: float
    bound: float

    @property
    def exceeded(self) -> bool:
        """Whether the head is beyond its bound."""
        return self.ratio > self.bound


@dataclass(frozen=True)
class Verdict:
    """What became of one gate."""

    gate: str
    status: Status
    compared: Sequence[Compared] = ()
    error: str = ""

    @property
    def doubtful(self) -> bool:
        """Whether more rounds could tell otherwise: it is processor time that exceeds."""
        return any(item.metric == CPU and item.exceeded for item in self.compared)

    def sentence(self) -> str:
        """Say what went wrong."""
        if self.status == "failed":
            return f"{self.gate} cannot be measured: {self.error}"
        told = (
            f"{item.metric} is {item.ratio:.2f} times the base, where {item.bound:g} is allowed"
            for item in self.compared
            if item.exceeded
        )
        return f"{self.gate} got slower: {'; '.join(told)}"


def judge(gate: Gate, base: Samples, head: Samples) -> Verdict:
    """Compare both sides of a gate."""
    if head.error:
        return Verdict(gate.name, "failed", error=head.error)
    if base.error:
        return Verdict(gate.name, "new", error=base.error)
    found = [_cpu(gate, base.cpu, head.cpu)]
    for metric, value in head.exact.items():
        before = base.exact[metric]
        found.append(Compared(metric, before, value, _ratio(value, before), gate.bound(metric)))
    status: Status = "exceeded" if any(item.exceeded for item in found) else "passed"
    return Verdict(gate.name, status, found)


def _cpu(gate: Gate, base: Sequence[float], head: Sequence[float]) -> Compared:
    """Compare the best and the usual time; noise moves one of them, a slower program both."""
    ratio = min(_ratio(min(head), min(base)), _ratio(median(head), median(base)))
    return Compared(CPU, min(base), min(head), ratio, gate.bound(CPU))


def _ratio(head: float, base: float) -> float:
    if base == 0:
        return 1.0 if head == 0 else float("inf")
    return head / base
