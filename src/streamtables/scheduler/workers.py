"""The hands that refresh: how many, whose turn it is, and what they are doing now."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from threading import Lock

from streamtables.positions import InputId
from streamtables.refresh.results import Refresh
from streamtables.refresh.round import Work
from streamtables.scheduler.dispatch import Hands, run_graph
from streamtables.scheduler.permission import NoMore
from streamtables.scheduler.pool import WorkerPool
from streamtables.scheduler.queue import FairQueue, Job, check_quotas
from streamtables.settings import Settings

AUTO = "auto"
PER_TASK = 16
"""How many refreshes run at a time where each has a thread of its own."""


CROSSOVER_SECONDS = 0.085
"""From this length of a refresh on, `auto` starts a thread for each.

`python -m benchmarks.scheduler_pool --setup-ms 2` found that from here on a new thread per task
costs less than 5 % of the time.  Two milliseconds is what a new thread waits for its first call to
Spark.  Both were taken on two cores with other work beside it; a quiet machine finds less.
"""


def auto_slots() -> int:
    """Return how many refreshes run at a time where nobody says.

    Much of a small refresh is planning and waiting, so two per core keep the cores busy.
    """
    return min(16, 2 * (os.cpu_count() or 1))


def pool_size(setting: str, typical_seconds: float | None = None) -> int:
    """Return how many threads stay; 0 is one per task.

    `typical_seconds` is what a refresh of the round takes; None where that is not known yet.
    """
    if setting != AUTO:
        return int(setting)
    is_long = typical_seconds is not None and typical_seconds >= CROSSOVER_SECONDS
    return 0 if is_long else auto_slots()


def typical_seconds(jobs: Iterable[Job]) -> float | None:
    """Return what half of the tables take longer than, of those that were refreshed before."""
    known = [job.cost_seconds for job in jobs if job.cost_seconds > 0]
    return median(known) if known else None


@dataclass
class Workers:
    """Runs the tables of a round on a pool, fairly between namespaces."""

    settings: Settings
    jobs: Mapping[InputId, Job] = field(default_factory=dict)
    """What is known of the tables of the round; put here before it runs."""
    may_start: Callable[[InputId], bool] = lambda _: True
    """Asked right before each start, as people may say otherwise while a round runs."""
    no_more: NoMore = field(default_factory=NoMore)
    _pools: dict[int, WorkerPool] = field(default_factory=dict)
    """By the number of threads that stay."""
    _queue: FairQueue = field(init=False)
    _waiting: Counter[str] = field(default_factory=Counter)
    _running: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        # Unknown tables stay below the crossover: with `auto` as many run at a time either way.
        size = pool_size(self.settings.worker_pool_size)
        self._queue = FairQueue(size or PER_TASK, check_quotas(self.settings.worker_quotas))

    def __call__(
        self, tables: Sequence[InputId], inputs: Mapping[InputId, Collection[InputId]], work: Work
    ) -> Mapping[InputId, Refresh]:
        """Refresh some tables, each after those of its inputs that are among them."""
        slots = min(self._queue.slots, len(tables))
        submit = self._opened().submit if slots > 1 else None
        hands = Hands(slots, submit, self._choose, self.may_start)
        try:
            return run_graph(
                tables, inputs, work=self._counted(work), hands=hands, stop=self.no_more
            )
        finally:
            with self._lock:
                self._waiting.clear()

    def allocation(self) -> list[dict[str, object]]:
        """Return for each namespace what it uses, may use and waits for."""
        with self._lock:
            waiting, running = dict(self._waiting), dict(self._running)
        names = {
            *self._queue.quotas,
            *waiting,
            *running,
            *(j.namespace for j in self.jobs.values()),
        }
        return [
            {
                "namespace": name,
                "used": running.get(name, 0),
                "quota": self._queue.quota(name),
                "queued": waiting.get(name, 0),
            }
            for name in sorted(names or {"default"})
        ]

    def summary(self) -> dict[str, object]:
        """Return how many workers there are and how busy they are."""
        pools = list(self._pools.values())
        idle = sum(pool.idle_seconds_total for pool in pools)
        return {
            "worker_pool_size": self.settings.worker_pool_size,
            "slots": self._queue.slots,
            "running": sum(self._running.values()),
            "parallel_queue_depth": sum(self._waiting.values()),
            "worker_idle_seconds_total": round(idle, 3) if pools else 0.0,
            "spawned_total": sum(pool.spawned_total for pool in pools),
        }

    def close(self) -> None:
        """Wait for what runs, and let the threads go."""
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()

    def _opened(self) -> WorkerPool:
        size = pool_size(self.settings.worker_pool_size, typical_seconds(self.jobs.values()))
        if size not in self._pools:
            self._pools[size] = WorkerPool(size)
        return self._pools[size]

    def _choose(self, ready: Sequence[InputId], running: Collection[InputId]) -> InputId | None:
        waiting = [self.jobs[key] for key in ready]
        with self._lock:
            self._waiting = Counter(job.namespace for job in waiting)
        job = self._queue.choose(waiting, [self.jobs[key] for key in running])
        if job is None:
            return None
        self._queue = self._queue.with_started(job)
        with self._lock:
            self._waiting[job.namespace] -= 1
        return job.table_id

    def _counted(self, work: Work) -> Work:
        def counted(key: InputId) -> Refresh:
            namespace = self.jobs[key].namespace
            with self._lock:
                self._running[namespace] += 1
            try:
                return work(key)
            finally:
                with self._lock:
                    self._running[namespace] -= 1

        return counted
