"""Who runs next: namespaces share the slots by their quotas, and lend what they do not use.

Three rules, in this order:

1. A namespace below its quota goes before one at its quota.  So a slot is lent only while its owner
   has nothing ready; it is not taken back from a running refresh, but not lent again either.
2. Among equals, the namespace with the earliest virtual time.  A start moves it on by the cost of
   the refresh over the quota, so a quota of 2 gets twice the time of a quota of 1.  Who had nothing
   to do saves no time up: virtual time never lies before that of the last start.
3. In a namespace hot before warm before cold, then the longest waiting.  Every fourth start goes to
   the longest waiting, whatever its tier.

Invariant: nobody starves.  Count the choices at which rule 1 lets a job's namespace take part; the
job starts within `FairQueue.most_choices` of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import ceil

from streamtables.errors import ConfigError
from streamtables.positions import InputId

_TIERS = ("hot", "warm", "cold")
_LEAST_COST, _MOST_COST = 1.0, 60.0
"""Costs are held between these, so that one long refresh does not shut its namespace out."""
_OLDEST_EVERY = 4
"""One start in so many goes to the job that waits longest."""


@dataclass(frozen=True)
class Job:
    """A stream table that may be refreshed now."""

    table_id: InputId
    namespace: str
    tier: str
    cost_seconds: float
    """How long its refresh takes, as far as is known."""
    ready_since: datetime


@dataclass(frozen=True)
class Served:
    """What a namespace has had."""

    until: float = 0.0
    """Its virtual time: when all it had would be done, at its share of the slots."""
    starts: int = 0


@dataclass(frozen=True)
class FairQueue:
    """The slots, the quotas, and what each namespace has had; a start gives the next queue."""

    slots: int
    quotas: Mapping[str, int] = field(default_factory=dict)
    now: float = 0.0
    """The virtual time of the last start."""
    served: Mapping[str, Served] = field(default_factory=dict)

    def quota(self, namespace: str) -> int:
        """Return how many slots a namespace owns; one that is not named has what others leave."""
        return self.quotas.get(namespace) or max(1, self.slots - sum(self.quotas.values()))

    def choose(self, waiting: Collection[Job], running: Collection[Job]) -> Job | None:
        """Return the job to start next; None when nothing waits or every slot is taken."""
        if not waiting or len(running) >= self.slots:
            return None
        contenders = self.contenders(waiting, running)
        namespace = min(contenders, key=self._turn)
        return self._first(job for job in waiting if job.namespace == namespace)

    def contenders(self, waiting: Iterable[Job], running: Iterable[Job]) -> set[str]:
        """Return the namespaces that may have the next slot."""
        used: dict[str, int] = {}
        for job in running:
            used[job.namespace] = used.get(job.namespace, 0) + 1
        ready = {job.namespace for job in waiting}
        return {name for name in ready if used.get(name, 0) < self.quota(name)} or ready

    def with_started(self, job: Job) -> FairQueue:
        """Return the queue after the start of a job that was chosen."""
        had = self._had(job.namespace)
        start = max(self.now, had.until)
        cost = min(max(job.cost_seconds, _LEAST_COST), _MOST_COST)
        now_has = Served(start + cost / self.quota(job.namespace), had.starts + 1)
        return replace(self, now=start, served={**self.served, job.namespace: now_has})

    def most_choices(self, job: Job, waiting: Iterable[Job], namespaces: Iterable[str]) -> int:
        """Return within how many choices `job` starts, if only `namespaces` ever have jobs.

        A namespace waits at most while each other one is served for the longest cost at the
        smallest; and a job at most for four starts per job that was ready before it.
        """
        own = self.quota(job.namespace)
        others = set(namespaces) - {job.namespace}
        turn = 1 + sum(
            ceil(_MOST_COST / _LEAST_COST * self.quota(name) / own) + 1 for name in others
        )
        older = sum(_age(other) <= _age(job) for other in waiting if self._is_mate(other, job))
        return turn * _OLDEST_EVERY * max(1, older)

    def _turn(self, namespace: str) -> tuple[float, str]:
        return self._had(namespace).until, namespace

    def _had(self, namespace: str) -> Served:
        return self.served.get(namespace, Served())

    def _first(self, mates: Iterable[Job]) -> Job:
        jobs = list(mates)
        oldest_first = (self._had(jobs[0].namespace).starts + 1) % _OLDEST_EVERY == 0
        return min(jobs, key=_age if oldest_first else _rank)

    @staticmethod
    def _is_mate(one: Job, other: Job) -> bool:
        return one.namespace == other.namespace


def _age(job: Job) -> tuple[datetime, InputId]:
    return job.ready_since, job.table_id


def _rank(job: Job) -> tuple[int, datetime, InputId]:
    tier = _TIERS.index(job.tier) if job.tier in _TIERS else len(_TIERS)
    return tier, *_age(job)


def check_quotas(given: str | Mapping[str, int]) -> dict[str, int]:
    """Return the quotas of a setting such as `finance=2, sales=1`; nothing for an empty one."""
    parts = _parts(given) if isinstance(given, str) else given.items()
    quotas: dict[str, int] = {}
    for said, count in parts:
        # Names of tables, and so their namespaces, are the same in any case.
        name = said.lower()
        if name in quotas:
            raise ConfigError(f'the namespace "{name}" has two quotas', hint="Name it once.")
        quotas[name] = _checked(name, count)
    return quotas


def _parts(text: str) -> Iterator[tuple[str, int]]:
    return map(_name_and_count, filter(None, (part.strip() for part in text.split(","))))


def _name_and_count(part: str) -> tuple[str, int]:
    name, _, count = (piece.strip() for piece in part.partition("="))
    if not name or not count.removeprefix("-").isdecimal():
        raise ConfigError(
            f'"{part}" is not a quota',
            hint='Write a namespace and a whole number: worker_quotas = "finance=2, sales=1".',
        )
    return name, int(count)


def _checked(name: str, count: object) -> int:
    # A bool is an int to Python, and "true" is no number of slots to anyone.
    if isinstance(count, int) and not isinstance(count, bool) and name.strip() and count >= 1:
        return count
    raise ConfigError(
        f'the quota of namespace "{name}" is {count!r}, which is out of bounds',
        detail="Permitted: whole numbers from 1.",
        hint="Leave the namespace out to give it no slots of its own.",
    )
