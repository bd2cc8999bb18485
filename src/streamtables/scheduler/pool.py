"""The threads that refresh: a few that stay, or one for each task.

Threads that stay save the start of one per task, and whatever `on_thread_start` sets up in it; what
that is worth is measured by `benchmarks/scheduler_pool.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock, Thread, current_thread, local
from types import TracebackType
from typing import TypeVar

from streamtables.errors import ConfigError, EnvironmentFaultError, InternalError
from streamtables.scheduler.pool_counts import PoolCounts

T = TypeVar("T")


class WorkerPool:
    """Runs tasks on up to `size` threads that stay, or on a thread per task when `size` is 0.

    What a task raises lands in its future, and so does what `on_thread_start` raises; that is then
    tried again with the thread's next task.
    """

    def __init__(self, size: int, *, on_thread_start: Callable[[], None] | None = None) -> None:
        if size < 0:
            raise ConfigError(
                f"a pool cannot have {size} workers", detail="Permitted: 0, or a number of threads."
            )
        self._executor = ThreadPoolExecutor(size) if size else None
        self._on_thread_start = on_thread_start
        self._counts = PoolCounts()
        self._here = local()
        self._lock = Lock()
        self._closed = False
        self._threads: set[Thread] = set()

    def submit(self, task: Callable[[], T]) -> Future[T]:
        """Run `task` as soon as a thread is free for it."""
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise InternalError("the worker pool is closed")
            self._counts.submitted(future)
            try:
                self._hand_over(future, task)
            except RuntimeError as exc:
                future.cancel()
                self._counts.ended(future, thread_stays=False)
                raise EnvironmentFaultError(
                    "a worker thread cannot be started", detail=f"{exc}."
                ) from exc
        return future

    @property
    def queue_depth(self) -> int:
        """How many tasks wait for a thread."""
        return self._counts.queued

    @property
    def running(self) -> int:
        """How many tasks run now."""
        return self._counts.running

    @property
    def spawned_total(self) -> int:
        """How many threads have run tasks so far."""
        return self._counts.spawned

    @property
    def idle_seconds_total(self) -> float:
        """How long threads that stay have had nothing to do, summed over all, up to now."""
        return self._counts.idle_seconds()

    def drain(self) -> None:
        """Wait until every task that was submitted has ended; more may be submitted."""
        self._counts.wait_until_none()

    def close(self) -> None:
        """Take no more tasks, and wait for those that were submitted."""
        with self._lock:
            self._closed = True
            threads = list(self._threads)
        if self._executor is not None:
            self._executor.shutdown()
        for thread in threads:
            thread.join()
        self._counts.threads_ended()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _hand_over(self, future: Future[T], task: Callable[[], T]) -> None:
        if self._executor is not None:
            self._executor.submit(self._run, future, task)
            return
        thread = Thread(target=self._run_alone, args=(future, task), name="streamtables-worker")
        thread.start()
        self._threads.add(thread)

    def _run_alone(self, future: Future[T], task: Callable[[], T]) -> None:
        self._run(future, task)
        with self._lock:
            self._threads.discard(current_thread())

    def _run(self, future: Future[T], task: Callable[[], T]) -> None:
        """Run one task in this thread, and put what comes of it into its future."""
        self._name_thread()
        if future.set_running_or_notify_cancel():
            self._counts.began(future)
            try:
                self._prepare_thread()
                result = task()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
        self._counts.ended(future, thread_stays=self._executor is not None)

    def _name_thread(self) -> None:
        # The executor would number its threads from 0, and in another form.
        if not hasattr(self._here, "named"):
            current_thread().name = f"streamtables-worker-{self._counts.next_thread()}"
            self._here.named = True

    def _prepare_thread(self) -> None:
        # An initializer of the executor that fails would break the whole pool.
        if self._on_thread_start is not None and not hasattr(self._here, "prepared"):
            self._on_thread_start()
            self._here.prepared = True
