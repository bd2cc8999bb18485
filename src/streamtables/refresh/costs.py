"""What past refreshes tell about the cost of the next one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from statistics import median
from threading import Lock
from typing import cast

from streamtables.catalog.models import CHOICE, OWN_SHARE, Options, RefreshRecord
from streamtables.positions import InputId
from streamtables.refresh.cost_model import WAYS, Prediction, Rates, Sample, Way, Work, predict
from streamtables.refresh.cost_rates import RATES
from streamtables.refresh.past_book import History, PastBook, told

_FILLED = "first-fill"
_ENDED = ("applied", "no-change")
"""The states of a refresh that did its work to the end, even without an effect."""
_NEIGHBOURS = 64
"""How many refreshes of any table tell what this machine takes."""


@dataclass
class CostBook:
    """Refreshes that were done, by table and over all tables."""

    capacity: int
    rates: Mapping[Way, Rates] = field(default_factory=lambda: RATES)
    _tables: PastBook[Sample] = field(init=False)
    _machine: dict[Way, deque[float]] = field(default_factory=dict)
    _taken: set[tuple[InputId, Way]] = field(default_factory=set)
    _last: dict[InputId, Way] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._tables = PastBook(self.capacity, _sample_of)

    def past(self, table: InputId, history: History) -> tuple[Sample, ...]:
        """Return the refreshes of a table, the newest first."""
        known = self._tables.find(table)
        if known is None:
            known = self._tables.load(table, history())
            self._note_machine(known)
        return known

    def note(self, record: RefreshRecord) -> None:
        """Take in a refresh that ended."""
        self._tables.note(record)
        samples = samples_of([record])
        self._note_machine(samples)
        with self._lock:
            if (way := _way_of(record)) is None or record.state not in _ENDED:
                return
            # Also where it tells nothing of its time: what it needs is compiled now.
            self._taken.add((record.stream_table_id, way))
            if record.reason_code != _FILLED:
                self._last[record.stream_table_id] = way

    def last_way(self, table: InputId) -> Way | None:
        """Return the way that a table took last in this process, its first fill apart."""
        with self._lock:
            return self._last.get(table)

    def is_first(self, table: InputId, way: Way) -> bool:
        """Whether this process has not taken a way of a table yet."""
        with self._lock:
            return (table, way) not in self._taken

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
        return self._tables.counts()

    def _note_machine(self, samples: Iterable[Sample]) -> None:
        with self._lock:
            for sample in samples:
                if not sample.cold:
                    ratios = self._machine.setdefault(sample.way, deque(maxlen=_NEIGHBOURS))
                    ratios.append(sample.seconds / self.rates[sample.way].seconds(sample.work))


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
    return told(history, _sample_of)


def choice_facts(
    way: Way,
    work: Work,
    predictions: Mapping[Way, Prediction],
    *,
    cold: bool = False,
    own_share: float = 1.0,
) -> dict[str, str | int | float | bool | None]:
    """Return what a record keeps of a choice: the work, and what each way was expected to take."""
    expected = {f"predicted_{name}": round(p.seconds, 3) for name, p in predictions.items()}
    facts = {"way": way, **asdict(work), **expected}
    if cold:
        facts["cold"] = True
    if own_share < 1:
        facts[OWN_SHARE] = round(own_share, 4)
    return facts


def _way_of(record: RefreshRecord) -> Way | None:
    taken = _choice_of(record).get("way")
    return next((way for way in WAYS if way == taken), None)


def _choice_of(record: RefreshRecord) -> Options:
    return next((step.facts for step in record.steps if step.name == CHOICE), {})


def _sample_of(record: RefreshRecord) -> Sample | None:
    """Return what a refresh took, if it did its work to the end, even without an effect."""
    facts = _choice_of(record)
    if not facts or record.state not in _ENDED or record.computed_together:
        return None
    # Records of earlier releases tell less.
    work = Work(*(int(cast("int", facts.get(item.name, 0))) for item in fields(Work)))
    first_fill = record.reason_code == _FILLED
    cold = first_fill or bool(facts.get("cold"))
    seconds = record.alone_seconds
    return Sample(cast("Way", facts["way"]), work, seconds, cold, first_fill)
