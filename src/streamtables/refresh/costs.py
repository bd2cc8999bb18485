"""What past refreshes tell about the cost of the next one, shared by all workers of a process.

A table's refreshes are read from the catalog once, and from then on kept here; a refresh that a
worker has just ended is known to all others, without a word to the catalog.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from statistics import median
from threading import Lock
from typing import cast

from streamtables.catalog.models import CHOICE, RefreshRecord
from streamtables.positions import InputId
from streamtables.refresh.cost_model import Prediction, Rates, Sample, Way, Work, predict
from streamtables.refresh.cost_rates import RATES

REMEMBERED = 30
"""How many refreshes of a table count."""
_NEIGHBOURS = 64
"""How many refreshes of any table tell what this machine takes."""


_BEGINNINGS = ("first-fill", "query-changed")


@dataclass
class CostBook:
    """Refreshes that were done, by table, those unused for longest forgotten first."""

    capacity: int
    rates: Mapping[Way, Rates] = field(default_factory=lambda: RATES)
    hits: int = 0
    misses: int = 0
    evictions: int = 0
    _past: OrderedDict[InputId, deque[Sample]] = field(default_factory=OrderedDict)
    _machine: dict[Way, deque[float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def past(
        self, table: InputId, load: Callable[[], Sequence[RefreshRecord]]
    ) -> tuple[Sample, ...]:
        """Return the refreshes of a table, the newest first; `load` reads them where they are not.

        The catalog is asked without the lock: two workers may both ask, and none waits.
        """
        with self._lock:
            if (known := self._past.get(table)) is not None:
                self._past.move_to_end(table)
                self.hits += 1
                return tuple(known)
            self.misses += 1
        found = deque(samples_of(load()), maxlen=REMEMBERED)
        with self._lock:
            kept = self._past.setdefault(table, found)
            self._note_machine(kept)
            self._evict()
            return tuple(kept)

    def note(self, record: RefreshRecord) -> None:
        """Take in a refresh that ended."""
        for sample in samples_of([record]):
            with self._lock:
                if (known := self._past.get(record.stream_table_id)) is not None:
                    if record.reason_code in _BEGINNINGS:
                        known.clear()
                    known.appendleft(sample)
                self._note_machine([sample])

    def predict(self, way: Way, work: Work, past: Sequence[Sample]) -> Prediction:
        """Predict one way of a refresh."""
        return predict(way, work, past, self.rates, self.machine(way))

    def machine(self, way: Way) -> float:
        """Return what refreshes take here against the rates; 1 while nobody knows."""
        with self._lock:
            known = self._machine.get(way) or [
                ratio for ratios in self._machine.values() for ratio in ratios
            ]
            return median(known) if known else 1.0

    def counts(self) -> dict[str, int]:
        """Return how often a table's past was at hand, and how often it was forgotten."""
        with self._lock:
            tables = len(self._past)
        return {
            "tables": tables,
            "capacity": self.capacity,
            "hits": self.hits,
            "misses": self.misses,
            "evictions": self.evictions,
        }

    def _note_machine(self, samples: Sequence[Sample] | deque[Sample]) -> None:
        for sample in samples:
            if not sample.cold:
                ratios = self._machine.setdefault(sample.way, deque(maxlen=_NEIGHBOURS))
                ratios.append(sample.seconds / self.rates[sample.way].seconds(sample.work))

    def _evict(self) -> None:
        while len(self._past) > self.capacity:
            self._past.popitem(last=False)
            self.evictions += 1


def is_computed(record: RefreshRecord) -> bool:
    """Whether a refresh did its work to the end, even if the result stayed as it was."""
    if record.state == "applied":
        return True
    return record.state == "no-change" and any(step.name == CHOICE for step in record.steps)


def last_of_each_way(history: Sequence[RefreshRecord]) -> dict[Way, Sample]:
    """Return the newest refresh of each way; the newest record comes first."""
    found: dict[Way, Sample] = {}
    for sample in samples_of(history):
        found.setdefault(sample.way, sample)
    return found


def samples_of(history: Sequence[RefreshRecord]) -> list[Sample]:
    """Return what records tell, the newest first; nothing from before the query was altered.

    Those that did no work, or do not say which, are passed over.
    """
    found = []
    for record in history:
        if (sample := _sample_of(record)) is not None:
            found.append(sample)
        if record.state == "applied" and record.reason_code in _BEGINNINGS:
            break
    return found


def choice_facts(
    way: Way, work: Work, predictions: Mapping[Way, Prediction]
) -> dict[str, str | int | float | bool | None]:
    """Return what a record keeps of a choice: the work, and what each way was expected to take."""
    expected = {f"predicted_{name}": round(p.seconds, 3) for name, p in predictions.items()}
    return {"way": way, **asdict(work), **expected}


def _sample_of(record: RefreshRecord) -> Sample | None:
    """Return what a refresh took, if it did its work to the end, even without an effect."""
    facts = next((step.facts for step in record.steps if step.name == CHOICE), None)
    if facts is None or record.state not in ("applied", "no-change"):
        return None
    work = Work(*(int(cast("int", facts[item.name])) for item in fields(Work)))
    cold = record.reason_code == "first-fill"
    return Sample(cast("Way", facts["way"]), work, record.seconds, cold)
