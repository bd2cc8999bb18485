"""Threads that stay and threads per task run every task once, and outlive what tasks raise."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import CancelledError, Future
from threading import Barrier, Event, Thread, current_thread
from typing import Any

import pytest

from streamtables.errors import ConfigError, EnvironmentFaultError, InternalError
from streamtables.scheduler.pool import WorkerPool

PATIENCE = 20.0
"""Seconds after which a test that hangs fails; none of them takes as long."""

SIZES = pytest.mark.parametrize("size", [0, 1, 3])


def name() -> str:
    return current_thread().name


def held(pool: WorkerPool, release: Event) -> Future[bool]:
    """Occupy a thread until `release`; return when it is occupied."""
    began = Event()

    def hold() -> bool:
        began.set()
        return release.wait(PATIENCE)

    future = pool.submit(hold)
    assert began.wait(PATIENCE)
    return future


@SIZES
def test_every_task_runs_once_and_its_result_is_in_its_future(size: int):
    ran: Counter[int] = Counter()

    def task(number: int) -> int:
        ran[number] += 1
        return number * number

    with WorkerPool(size) as pool:
        futures = [pool.submit(lambda number=number: task(number)) for number in range(50)]  # type: ignore[misc]
        assert [future.result(PATIENCE) for future in futures] == [n * n for n in range(50)]
    assert ran == Counter(range(50))


@SIZES
def test_what_a_task_raises_lands_in_its_future_and_the_worker_lives_on(size: int):
    with WorkerPool(size) as pool:
        for error in (ValueError("wrong"), SystemExit(3), KeyboardInterrupt()):

            def fail(error: BaseException = error) -> None:
                raise error

            assert pool.submit(fail).exception(PATIENCE) is error
        assert pool.submit(lambda: 7).result(PATIENCE) == 7


def test_threads_that_stay_are_named_and_used_again():
    with WorkerPool(2) as pool:
        names = {pool.submit(name).result(PATIENCE) for _ in range(20)}
        assert names <= {"streamtables-worker-1", "streamtables-worker-2"}
        assert pool.spawned_total == len(names)


def test_as_many_tasks_run_at_once_as_there_are_threads():
    together = Barrier(3)
    with WorkerPool(3) as pool:
        futures = [pool.submit(lambda: together.wait(PATIENCE)) for _ in range(3)]
        assert sorted(future.result(PATIENCE) for future in futures) == [0, 1, 2]
        assert pool.spawned_total == 3


def test_a_thread_per_task_ends_with_it():
    with WorkerPool(0) as pool:
        names = [pool.submit(name).result(PATIENCE) for _ in range(3)]
        assert names == [f"streamtables-worker-{number}" for number in (1, 2, 3)]
        assert pool.spawned_total == 3
        pool.drain()
        assert pool.idle_seconds_total == 0.0
    assert not pool._threads


def test_tasks_that_wait_and_run_are_counted():
    release = Event()
    with WorkerPool(1) as pool:
        first = held(pool, release)
        second = pool.submit(name)
        assert (pool.running, pool.queue_depth) == (1, 1)
        release.set()
        pool.drain()
        assert first.done()
        assert second.done()
        assert (pool.running, pool.queue_depth) == (0, 0)


def test_a_task_that_was_cancelled_does_not_run_and_is_not_waited_for():
    release = Event()
    with WorkerPool(1) as pool:
        held(pool, release)
        cancelled = pool.submit(lambda: pytest.fail("it ran"))
        assert cancelled.cancel()
        release.set()
        pool.drain()
        assert (pool.running, pool.queue_depth) == (0, 0)
    with pytest.raises(CancelledError):
        cancelled.result(PATIENCE)


def test_idle_time_grows_between_tasks_and_not_after_the_end():
    with WorkerPool(1) as pool:
        assert pool.idle_seconds_total == 0.0
        pool.submit(name).result(PATIENCE)
        pool.drain()
        first = pool.idle_seconds_total
        Event().wait(0.02)
        grown = pool.idle_seconds_total
        assert grown >= first + 0.02
        pool.submit(name).result(PATIENCE)
        pool.drain()
        assert pool.idle_seconds_total >= grown
    ended = pool.idle_seconds_total
    assert ended == pool.idle_seconds_total


@pytest.mark.parametrize(("size", "times"), [(1, 1), (0, 5)])
def test_each_thread_is_prepared_once(size: int, times: int):
    prepared: list[str] = []
    with WorkerPool(size, on_thread_start=lambda: prepared.append(name())) as pool:
        for _ in range(5):
            assert pool.submit(name).result(PATIENCE) in prepared
    assert len(prepared) == times


def test_a_thread_that_could_not_be_prepared_is_tried_again():
    answers = iter([RuntimeError("no session"), None])

    def prepare() -> None:
        if (error := next(answers)) is not None:
            raise error

    with WorkerPool(1, on_thread_start=prepare) as pool:
        with pytest.raises(RuntimeError, match="no session"):
            pool.submit(name).result(PATIENCE)
        assert pool.submit(lambda: 7).result(PATIENCE) == 7


@SIZES
def test_close_waits_for_what_was_submitted_and_takes_no_more(size: int):
    release = Event()
    pool = WorkerPool(size)
    futures: list[Future[Any]] = [held(pool, release), *(pool.submit(name) for _ in range(5))]
    closing = Thread(target=pool.close)
    closing.start()
    release.set()
    closing.join(PATIENCE)
    assert all(future.done() for future in futures)
    with pytest.raises(InternalError):
        pool.submit(name)


@SIZES
def test_tasks_come_from_many_threads(size: int):
    with WorkerPool(size) as pool:
        futures: list[Future[str]] = []

        def give() -> None:
            for _ in range(20):
                futures.append(pool.submit(name))

        givers = [Thread(target=give) for _ in range(4)]
        for giver in givers:
            giver.start()
        for giver in givers:
            giver.join(PATIENCE)
        pool.drain()
        assert len(futures) == 80
        assert all(future.done() for future in futures)
        assert (pool.running, pool.queue_depth) == (0, 0)


def test_a_machine_without_threads_to_spare_says_so(monkeypatch: pytest.MonkeyPatch):
    def no_thread(self: Thread) -> None:
        raise RuntimeError("can't start new thread")

    pool = WorkerPool(0)
    with monkeypatch.context() as patched:
        patched.setattr(Thread, "start", no_thread)
        with pytest.raises(EnvironmentFaultError, match="cannot be started"):
            pool.submit(name)
    pool.drain()
    assert pool.submit(lambda: 7).result(PATIENCE) == 7
    pool.close()


def test_a_negative_size_is_refused():
    with pytest.raises(ConfigError, match="-1 workers"):
        WorkerPool(-1)
