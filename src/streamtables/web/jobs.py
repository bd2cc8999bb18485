"""What was started from here: one piece of work per table at a time, each in a thread."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Lock
from typing import Literal
from uuid import uuid4

from streamtables.web.faults import RefusedError, fault_of

AT_A_TIME = 2
KEPT = 200
WAITING_AT_MOST = 50

Result = dict[str, object]


@dataclass(frozen=True)
class Job:
    """A refresh, repair or proof of one table."""

    id: str
    kind: str
    table: str
    state: Literal["running", "done", "failed"]
    started_at: datetime
    finished_at: datetime | None = None
    result: Result | None = field(default=None, hash=False)
    error: dict[str, str] | None = field(default=None, hash=False)
    """What went wrong, with code, message, detail and hint."""


@dataclass
class Jobs:
    """Starts work, and remembers what became of it."""

    changed: Callable[[], None] = lambda: None
    """Called when a job has ended."""
    _jobs: OrderedDict[str, Job] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)
    _pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(AT_A_TIME, "streamtables-web")
    )

    def start(self, kind: str, table: str, work: Callable[[], Result]) -> Job:
        """Begin something with a table, unless something is already done with it."""
        job = Job(str(uuid4()), kind, table, "running", datetime.now(UTC))
        with self._lock:
            running = [other for other in self._jobs.values() if other.state == "running"]
            for other in running:
                if other.table.lower() == table.lower():
                    raise RefusedError(
                        409,
                        f'a {other.kind} of "{table}" is running',
                        hint="Wait for its end; /api/jobs shows it.",
                    )
            if len(running) >= WAITING_AT_MOST:
                raise RefusedError(429, "too much is waiting already", hint="Try again later.")
            self._jobs[job.id] = job
            while len(self._jobs) > KEPT:
                self._jobs.popitem(last=False)
        # In the context of whoever asked, so that the audit knows them.
        self._pool.submit(copy_context().run, self._run, job, work)
        return job

    def of(self, table: str | None = None) -> list[Job]:
        """Return the jobs of all tables or of one, newest first."""
        with self._lock:
            jobs = list(reversed(self._jobs.values()))
        return [job for job in jobs if table is None or job.table.lower() == table.lower()]

    def get(self, job_id: str) -> Job:
        """Return one job."""
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None:
            raise RefusedError(404, "there is no job of this id", hint="See /api/jobs.")
        return job

    def close(self) -> None:
        """Begin nothing more, and wait for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, job: Job, work: Callable[[], Result]) -> None:
        try:
            ended = replace(job, state="done", result=work())
        except Exception as error:  # the edge of this thread: what went wrong is the answer
            ended = replace(job, state="failed", error=fault_of(error).body())
        with self._lock:
            if job.id in self._jobs:
                self._jobs[job.id] = replace(ended, finished_at=datetime.now(UTC))
        self.changed()
