"""How many threads there are, and whether they stay."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from streamtables.positions import InputId
from streamtables.refresh.results import Refresh
from streamtables.scheduler.queue import Job
from streamtables.scheduler.workers import (
    CROSSOVER_SECONDS,
    Workers,
    auto_slots,
    pool_size,
    typical_seconds,
)
from tests.support.settings import settings_with
from tests.unit.catalog.builders import START, record


def jobs(*seconds: float) -> list[Job]:
    return [Job(InputId(f"t{n}"), "default", "hot", s, START) for n, s in enumerate(seconds)]


def test_a_number_means_what_it_says_however_long_refreshes_are():
    assert [pool_size(text, seconds) for text in "04" for seconds in (None, 9.0)] == [0, 0, 4, 4]


@pytest.mark.parametrize(
    ("seconds", "stay"),
    [(None, True), (0.001, True), (CROSSOVER_SECONDS, False), (60.0, False)],
)
def test_auto_keeps_threads_for_refreshes_shorter_than_the_crossover(
    seconds: float | None, stay: bool
):
    assert pool_size("auto", seconds) == (auto_slots() if stay else 0)


def test_typical_is_the_middle_of_what_is_known():
    assert typical_seconds(jobs(0.0, 0.0)) is None
    assert typical_seconds(jobs(0.0, 0.01, 0.02, 9.0)) == 0.02


def test_one_worker_takes_hot_tables_first_and_says_how_many_wait():
    workers = Workers(settings_with(worker_pool_size="1"))
    tiers = {"cold1": "cold", "cold2": "cold", "warm1": "warm", "hot1": "hot"}
    workers.jobs = {
        InputId(name): Job(InputId(name), "default", tier, 0.1, START)
        for name, tier in tiers.items()
    }
    done: list[tuple[InputId, object]] = []

    def work(key: InputId) -> Refresh:
        done.append((key, workers.summary()["parallel_queue_depth"]))
        return Refresh.of(key, record(key), None, None)

    workers(list(workers.jobs), {}, work)
    assert done == [("hot1", 3), ("warm1", 2), ("cold1", 1), ("cold2", 0)]
    assert workers.summary()["parallel_queue_depth"] == 0


def test_auto_decides_for_each_round_and_counts_all_threads():
    workers = Workers(settings_with(worker_pool_size="auto"))

    def run(made: Iterable[Job]) -> int:
        before = workers.summary()["spawned_total"]
        assert isinstance(before, int)
        workers.jobs = {job.table_id: job for job in made}
        workers(list(workers.jobs), {}, lambda key: Refresh.of(key, record(key), None, None))
        after = workers.summary()["spawned_total"]
        assert isinstance(after, int)
        return after - before

    count = 3 * auto_slots()
    assert 1 <= run(jobs(*[0.01] * count)) <= auto_slots()
    assert run(jobs(*[1.0] * count)) == count
    assert run(jobs(*[0.01] * count)) <= auto_slots()
    assert workers.summary()["slots"] == auto_slots()
    workers.close()
    assert workers.summary()["spawned_total"] == 0
