"""The hands that refresh: how many, whose turn it is, and what they are doing now."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
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


def pool_size(setting: str) -> int:
    """Return how many threads stay; 0 is one per task.

    Much of a small refresh is planning and waiting, so two per core keep the cores busy.
    """
    return min(16, 2 * (os.cpu_count() or 1)) if setting == AUTO else int(setting)


@dataclass
class Workers:
    """Runs the tables of a round on a pool, fairly between namespaces."""

    settings: Settings
    jobs: Mapping[InputId, Job] = field(default_factory=dict)
    """What is known of the tables of the round; put here before it runs."""
    may_start: Callable[[InputId], bool] = lambda _: True
    """Asked right before each start, as people may say otherwise while a round runs."""
    no_more: NoMore = field(default_factory=NoMore)
    _pool: WorkerPool | None = None
    _queue: FairQueue = field(init=False)
    _waiting: Counter[str] = field(default_factory=Counter)
    _running: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
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
        pool = self._pool
        return {
            "worker_pool_size": self.settings.worker_pool_size,
            "slots": self._queue.slots,
            "running": sum(self._running.values()),
            "parallel_queue_depth": sum(self._waiting.values()),
            "worker_idle_seconds_total": round(pool.idle_seconds_total, 3) if pool else 0.0,
            "spawned_total": pool.spawned_total if pool else 0,
        }

    def close(self) -> None:
        """Wait for what runs, and let the threads go."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _opened(self) -> WorkerPool:
        if self._pool is None:
            self._pool = WorkerPool(pool_size(self.settings.worker_pool_size))
        return self._pool

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
