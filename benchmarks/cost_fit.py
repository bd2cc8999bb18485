"""Rates from refreshes that were measured: a fit that no single slow refresh moves.

Refreshes of the same work are first brought to their median.  Then the rates of a way are those
whose seconds differ least from the medians, each by its share; none is below 0.  What is the same
in all refreshes, as the one statement of a full refresh, cannot be told from what is fixed: its
rate stays as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from statistics import median

import numpy as np

from streamtables.refresh.cost_model import WAYS, Rates, Sample, Way, Work

_PARTS = tuple(item.name for item in fields(Rates))
_LOOKED_UP = ("lookup", "passed_row")
_OF_WAY: Mapping[Way, tuple[str, ...]] = {
    "changes": _PARTS,
    "merge": tuple(part for part in _PARTS if part not in _LOOKED_UP),
    "whole": tuple(part for part in _PARTS if part not in (*_LOOKED_UP, "changed_row")),
    "full": tuple(part for part in _PARTS if part not in (*_LOOKED_UP, "changed_row")),
}
"""What the time of each way can depend on: one looks rows up, two do not read changes."""


@dataclass(frozen=True)
class Fitted:
    """The rates of one way, and how well they and those in use tell what was measured."""

    way: Way
    rates: Rates
    works: int
    error: float
    """The median share by which the fit is off."""
    error_before: float
    """The same of the rates in use."""

    def line(self) -> str:
        """Return the line to paste."""
        return f'    "{self.way}": Rates({", ".join(_digits(x) for x in astuple(self.rates))}),'


def fit_all(samples: Iterable[Sample], in_use: Mapping[Way, Rates]) -> dict[Way, Fitted]:
    """Fit every way that enough refreshes went; first fills tell nothing of later ones."""
    found = [sample for sample in samples if not sample.cold]
    fitted = {}
    for way in WAYS:
        points = medians([sample for sample in found if sample.way == way])
        if len(points) > len(_OF_WAY[way]):
            rates = fit(way, points, in_use[way])
            errors = (off_by(points, rates), off_by(points, in_use[way]))
            fitted[way] = Fitted(way, rates, len(points), *errors)
    return fitted


def medians(samples: Sequence[Sample]) -> dict[Work, float]:
    """Return the median seconds of each piece of work."""
    seconds: dict[Work, list[float]] = defaultdict(list)
    for sample in samples:
        seconds[_about(sample.work)].append(sample.seconds)
    return {work: median(taken) for work, taken in seconds.items()}


def fit(way: Way, points: Mapping[Work, float], in_use: Rates) -> Rates:
    """Return the rates, none below 0, whose squared shares of error are least."""
    held = {part: float(getattr(in_use, part)) for part in _OF_WAY[way] if _is_same(part, points)}
    used = [part for part in _OF_WAY[way] if part not in held]
    while True:
        found = {**held, **_least_squares(used, points, held)}
        lowest = min(used, key=lambda part: found[part])
        if found[lowest] >= 0 or len(used) == 1:
            return Rates(**{part: max(0.0, found.get(part, 0.0)) for part in _PARTS})
        # What comes out below 0 has no share in these times, as far as they tell.
        used.remove(lowest)


def off_by(points: Mapping[Work, float], rates: Rates) -> float:
    """Return the median share by which rates are off."""
    return median(abs(rates.seconds(work) - taken) / taken for work, taken in points.items())


def _is_same(part: str, points: Mapping[Work, float]) -> bool:
    """Whether all refreshes have as much of something that is not fixed by its nature."""
    return part != "fixed" and len({_amount(work, part) for work in points}) == 1


def _least_squares(
    used: Sequence[str], points: Mapping[Work, float], held: Mapping[str, float]
) -> dict[str, float]:
    taken = np.array(list(points.values()))
    known = [sum(rate * _amount(work, part) for part, rate in held.items()) for work in points]
    columns = np.array([[_amount(work, part) for part in used] for work in points], float)
    scale = np.maximum(columns.max(axis=0), 1e-12)
    # Divided by its seconds, each row counts by its share and not by its size.
    shares = (taken - np.array(known)) / taken
    solved, *_ = np.linalg.lstsq(columns / scale / taken[:, None], shares, rcond=None)
    return {part: float(value) for part, value in zip(used, solved / scale, strict=True)}


def _amount(work: Work, part: str) -> float:
    if part == "fixed":
        return 1.0
    return float(getattr(work, "statements" if part == "statement" else f"{part}s"))


def _about(work: Work) -> Work:
    """Return the work to two digits: rounds differ by a few rows."""
    rounded = (int(float(f"{value:.1e}")) for value in astuple(work))
    return Work(*rounded)


def _digits(value: float) -> str:
    return f"{value:.2g}" if value else "0.0"
