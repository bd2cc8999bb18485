"""What a refresh will take, by each way it could go: a pure prediction from facts known before it.

    expected     seconds of a piece of work by the rates of this release, on its reference machine
    correction   what the table's own refreshes took against that, and those of its neighbours

A prediction is the one times the other.  The correction is a weighted median: the newest refreshes
weigh most, and those of about the same size.  So one slow refresh changes nothing, four in a row
change it, and a table that was refreshed with ten rows tells little of ten million.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import exp, log
from typing import Literal

Way = Literal["full", "changes", "merge", "whole"]
"""`merge` is how Spark follows changes that are too many for the driver."""

WAYS: tuple[Way, ...] = ("full", "changes", "merge", "whole")

_FADING = 0.8
"""What each later refresh leaves of the weight of those before it."""
_LIKE_FROM = 0.3
"""From this weight on a past refresh is one of about the same size."""
_COLD = 0.5
"""The share of a first refresh that the same work takes later."""
_KIN: Mapping[Way, Way] = {"whole": "full", "full": "whole"}
"""Ways that compute the same query, and differ only in what they write."""
_BOUNDS = (0.5, 4.0)
"""Between which shares of a full refresh a guess without a like refresh has to lie."""


@dataclass(frozen=True)
class Work:
    """What one way has to do, as far as it is known beforehand."""

    statements: int = 1
    changed_rows: int = 0
    """Rows of change that are read."""
    scanned_rows: int = 0
    """Rows of tables that the statements read, each as often as they read it."""
    stored_rows: int = 0
    """Rows of the stream table itself."""
    lookups: int = 0
    """Sets of rows that are found and handed to Spark before it computes."""
    passed_rows: int = 0
    """Rows of tables that are passed over to find them."""
    scans: int = 0
    """Tables that the statements read, each as often as they read it: each is a job of Spark."""


@dataclass(frozen=True)
class Rates:
    """Seconds that work takes by one way."""

    fixed: float
    statement: float
    changed_row: float
    scanned_row: float
    stored_row: float
    lookup: float = 0.0
    passed_row: float = 0.0
    scan: float = 0.0

    def seconds(self, work: Work) -> float:
        """Return what some work takes."""
        return (
            self.fixed
            + self.statement * work.statements
            + self.changed_row * work.changed_rows
            + self.scanned_row * work.scanned_rows
            + self.stored_row * work.stored_rows
            + self.lookup * work.lookups
            + self.passed_row * work.passed_rows
            + self.scan * work.scans
        )


@dataclass(frozen=True)
class Sample:
    """A refresh that was done: its way, its work, and what it took against the expected."""

    way: Way
    work: Work
    seconds: float
    cold: bool = False
    """Whether it was the first of its way in its process: Spark plans and compiles it anew."""
    first_fill: bool = False
    """Whether it filled the table, which also makes it and reads what nobody has read."""


@dataclass(frozen=True)
class Prediction:
    """What a refresh would take, and from how many refreshes of about its size that is known."""

    seconds: float
    like: int = 0
    spread: float = 0.0
    """The median deviation of what like refreshes took, as a share."""


def predict(
    way: Way,
    work: Work,
    past: Sequence[Sample],
    rates: Mapping[Way, Rates],
    machine: float = 1.0,
) -> Prediction:
    """Predict one way from the refreshes of a table, the newest first.

    `machine` is what refreshes of any table took here against the rates.
    """
    expected = rates[way].seconds(work)
    weighed = _weighed(way, work, past, rates)
    if not weighed:
        # Both compute the query itself, so each tells more of the other than other tables do.
        alike = _weighed(_KIN[way], work, past, rates) if way in _KIN else []
        kin = weighted_median((ratio, weight) for ratio, weight, _ in alike) if alike else machine
        return Prediction(expected * kin)
    ratio = weighted_median((ratio, weight) for ratio, weight, _ in weighed)
    spread = weighted_median((abs(ratio - item) / ratio, weight) for item, weight, _ in weighed)
    like = sum(alike >= _LIKE_FROM for _, _, alike in weighed)
    return Prediction(expected * ratio, like, spread)


def _weighed(
    way: Way, work: Work, past: Sequence[Sample], rates: Mapping[Way, Rates]
) -> list[tuple[float, float, float]]:
    """Return what each refresh of a way took against the expected, its weight, how alike it is."""
    expected = rates[way].seconds(work)
    weighed = []
    for age, sample in enumerate(item for item in past if item.way == way):
        then = rates[way].seconds(sample.work)
        alike = exp(-abs(log(expected / then))) * (_COLD if sample.cold else 1.0)
        took = sample.seconds * (_COLD if sample.cold else 1.0)
        weighed.append((took / then, alike * _FADING**age, alike))
    return weighed


def bounded(guess: Prediction, full: Prediction) -> Prediction:
    """Keep a guess that no like refresh supports within sight of what a full refresh takes."""
    if guess.like or not full.like:
        return guess
    low, high = (share * full.seconds for share in _BOUNDS)
    return Prediction(min(max(guess.seconds, low), high))


def weighted_median(weighed: Iterable[tuple[float, float]]) -> float:
    """Return the value on both sides of which there is as much weight."""
    ordered = sorted(weighed)
    half = sum(weight for _, weight in ordered) / 2
    reached = accumulate(weight for _, weight in ordered)
    return next(
        value for (value, _), weight in zip(ordered, reached, strict=True) if weight >= half
    )
