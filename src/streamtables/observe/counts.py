"""Numbers of one process, by metric and labels; safe between threads."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from threading import Lock

from streamtables.observe.declared import Metric

Labels = tuple[str, ...]
Sample = tuple[Metric, Labels, float]
"""One number: of which metric, under which labels."""


class Counts:
    """Counters, gauges and histograms, each set or added to by what it measures."""

    def __init__(self) -> None:
        self._values: dict[Metric, dict[Labels, float]] = {}
        self._buckets: dict[Metric, dict[Labels, list[float]]] = {}
        self._lock = Lock()

    def add(self, metric: Metric, *labels: str, by: float = 1.0) -> None:
        """Count something."""
        with self._lock:
            values = self._values.setdefault(metric, {})
            values[labels] = values.get(labels, 0.0) + by

    def set(self, metric: Metric, *labels: str, to: float) -> None:
        """Say how large something is now."""
        with self._lock:
            self._values.setdefault(metric, {})[labels] = to

    def drop(self, metric: Metric, first_label: str) -> None:
        """Forget what a metric says of one table, source or server."""
        with self._lock:
            values = self._values.get(metric, {})
            for labels in [labels for labels in values if labels[0] == first_label]:
                del values[labels]

    def observe(self, metric: Metric, *labels: str, value: float) -> None:
        """Put a value into its bucket."""
        with self._lock:
            known = self._buckets.setdefault(metric, {})
            if labels not in known:
                # One for each bound, one beyond them, and the sum.
                known[labels] = [0.0] * (len(metric.buckets) + 2)
            known[labels][bisect_left(metric.buckets, value)] += 1
            known[labels][-1] += value

    def keep(self, label: str, names: Collection[str]) -> None:
        """Forget all that is said of tables or sources that are no longer there."""
        with self._lock:
            for held in (self._values, self._buckets):
                for metric, values in held.items():
                    if label in metric.labels:
                        at = metric.labels.index(label)
                        for labels in [key for key in values if key[at] not in names]:
                            del values[labels]

    def value(self, metric: Metric, *labels: str) -> float:
        """Return one number; 0 for what was never counted."""
        with self._lock:
            return self._values.get(metric, {}).get(labels, 0.0)

    def total(self, metric: Metric, by: str) -> Mapping[str, float]:
        """Return the sums of a counter for each value of one label."""
        at = metric.labels.index(by)
        found: dict[str, float] = {}
        with self._lock:
            for labels, value in self._values.get(metric, {}).items():
                found[labels[at]] = found.get(labels[at], 0.0) + value
        return found

    def samples(self) -> Iterator[Sample]:
        """Give every counter and gauge."""
        with self._lock:
            held = [
                (metric, labels, value)
                for metric, values in self._values.items()
                for labels, value in values.items()
            ]
        yield from held

    def histograms(self) -> Iterator[tuple[Metric, Labels, tuple[float, ...]]]:
        """Give every histogram: how many in each bucket, how many beyond, and the sum."""
        with self._lock:
            held = [
                (metric, labels, tuple(numbers))
                for metric, known in self._buckets.items()
                for labels, numbers in known.items()
            ]
        yield from held
