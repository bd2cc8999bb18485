"""Namespaces get their quotas, lend what they do not use, and nobody starves."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.errors import ConfigError
from streamtables.positions import InputId
from streamtables.scheduler.queue import FairQueue, Job, check_quotas

START = datetime(2026, 1, 1, tzinfo=UTC)
NAMESPACES = ("finance", "sales", "web")


def job(
    table: str, namespace: str = "sales", tier: str = "hot", *, cost: float = 1.0, since: float = 0
) -> Job:
    return Job(InputId(table), namespace, tier, cost, START + timedelta(seconds=since))


@dataclass
class Shop:
    """A queue at work: jobs come, start and end; every rule is checked at every start."""

    queue: FairQueue
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    started: list[Job] = field(default_factory=list)
    passed: Counter[InputId] = field(default_factory=Counter)
    bounds: dict[InputId, int] = field(default_factory=dict)

    def arrive(self, namespace: str, tier: str, cost: float) -> Job:
        at = len(self.waiting) + len(self.running) + len(self.started)
        new = job(f"t{at:06}", namespace, tier, cost=cost, since=at)
        self.waiting.append(new)
        self.bounds[new.table_id] = self.queue.most_choices(new, self.waiting, NAMESPACES)
        return new

    def finish(self, place: int) -> None:
        if self.running:
            self.running.pop(place % len(self.running))

    def fill(self) -> None:
        while (chosen := self.queue.choose(self.waiting, self.running)) is not None:
            self._check(chosen)
            self.waiting.remove(chosen)
            self.running.append(chosen)
            self.started.append(chosen)
            self.queue = self.queue.with_started(chosen)

    def _check(self, chosen: Job) -> None:
        used = Counter(other.namespace for other in self.running)
        below = {
            w.namespace for w in self.waiting if used[w.namespace] < self.queue.quota(w.namespace)
        }
        assert len(self.running) < self.queue.slots
        assert not below or chosen.namespace in below, "a slot was lent while its owner waits"
        for other in self.waiting:
            if other.namespace in (below or {w.namespace for w in self.waiting}):
                self.passed[other.table_id] += 1
                assert self.passed[other.table_id] <= self.bounds[other.table_id]


quotas = st.dictionaries(st.sampled_from(NAMESPACES), st.integers(1, 4))
arrivals = st.tuples(
    st.sampled_from(NAMESPACES),
    st.sampled_from(("hot", "warm", "cold", "frozen")),
    st.sampled_from((0.0, 1.0, 7.0, 500.0)),
)
steps = st.lists(arrivals | st.integers(0, 9), max_size=120)


@given(slots=st.integers(1, 6), quotas=quotas, steps=steps)
def test_quotas_hold_and_every_job_starts_within_its_bound(slots, quotas, steps):
    shop = Shop(FairQueue(slots, quotas))
    for step in steps:
        if isinstance(step, int):
            shop.finish(step)
        else:
            shop.arrive(*step)
        shop.fill()
        assert len(shop.running) == slots or not shop.waiting, "a slot is idle while a job waits"
    while shop.running:
        shop.finish(0)
        shop.fill()
    assert not shop.waiting


@given(
    quotas=quotas,
    flood=st.lists(arrivals, min_size=1, max_size=6),
    victim=st.sampled_from(NAMESPACES),
)
def test_a_cold_job_starts_while_hot_ones_never_end(quotas, flood, victim):
    shop = Shop(FairQueue(1, quotas))
    shop.arrive(victim, "hot", 500.0)
    shop.fill()
    for namespace in NAMESPACES:
        shop.arrive(namespace, "hot", 1.0)
    cold = shop.arrive(victim, "cold", 1.0)
    for _ in range(shop.bounds[cold.table_id] + 1):
        for namespace, _, cost in flood:
            shop.arrive(namespace, "hot", cost)
        shop.finish(0)
        shop.fill()
        if cold in shop.started:
            break
    assert cold in shop.started


@given(waiting=st.lists(arrivals, min_size=1, max_size=8), quotas=quotas)
def test_a_choice_depends_on_what_waits_not_on_how_it_is_listed(waiting, quotas):
    jobs = [job(f"t{at}", *given[:2], cost=given[2], since=at) for at, given in enumerate(waiting)]
    queue = FairQueue(3, quotas)
    assert queue.choose(jobs, []) == queue.choose(jobs[::-1], [])


def test_nothing_is_chosen_when_nothing_waits_or_all_slots_are_taken():
    queue = FairQueue(1)
    assert queue.choose([], []) is None
    assert queue.choose([job("a")], [job("b")]) is None


def test_hot_goes_before_warm_before_cold_then_the_longest_waiting():
    jobs = [
        job("cold", tier="cold", since=0),
        job("warm", tier="warm", since=1),
        job("young", since=3),
        job("old", since=2),
    ]
    queue = FairQueue(9)
    order = []
    for _ in range(3):
        chosen = queue.choose(jobs, [])
        assert chosen is not None
        order.append(chosen.table_id)
        jobs.remove(chosen)
        queue = queue.with_started(chosen)
    assert order == ["old", "young", "warm"]


def test_every_fourth_start_goes_to_the_longest_waiting():
    shop = Shop(FairQueue(1))
    shop.arrive("sales", "hot", 1.0)
    shop.arrive("sales", "cold", 1.0)
    for _ in range(6):
        shop.arrive("sales", "hot", 1.0)
    for _ in range(4):
        shop.fill()
        shop.finish(0)
    assert [started.tier for started in shop.started] == ["hot", "hot", "hot", "cold"]


def test_a_namespace_borrows_what_the_owner_does_not_use():
    queue = FairQueue(3, {"finance": 2, "sales": 1})
    running = [job("s1"), job("s2")]
    assert queue.choose([job("s3")], running) == job("s3")


def test_a_borrowed_slot_goes_back_to_the_owner_once_it_is_free():
    queue = FairQueue(3, {"finance": 2, "sales": 1})
    running = [job("s1"), job("s2")]
    owner = job("f1", "finance", "cold", since=9)
    assert queue.choose([job("s3"), owner], running) == owner


def test_a_namespace_without_a_quota_owns_what_the_others_leave():
    queue = FairQueue(5, {"finance": 2, "sales": 1})
    assert queue.quota("web") == 2
    assert FairQueue(3, {"finance": 2, "sales": 1}).quota("web") == 1


def test_a_greater_quota_gets_more_of_the_time():
    starts = _starts_of_two(FairQueue(1, {"finance": 3, "sales": 1}), {"finance": 1, "sales": 1})
    assert starts == {"finance": 90, "sales": 30}


def test_long_refreshes_start_less_often_than_short_ones():
    starts = _starts_of_two(FairQueue(1), {"finance": 5, "sales": 1})
    assert starts == {"finance": 20, "sales": 100}


def _starts_of_two(queue: FairQueue, costs: dict[str, float]) -> Counter[str]:
    """Both always have a job; no job runs on, so that quotas weigh and do not bar."""
    starts: Counter[str] = Counter()
    jobs = [job(name, name, cost=cost) for name, cost in costs.items()]
    for _ in range(120):
        chosen = queue.choose(jobs, [])
        assert chosen is not None
        starts[chosen.namespace] += 1
        queue = queue.with_started(chosen)
    return starts


def test_an_idle_namespace_saves_no_time_up():
    queue = FairQueue(1)
    for _ in range(50):
        queue = queue.with_started(job("s"))
    starts = _starts_of_two(queue, {"finance": 1, "sales": 1})
    assert abs(starts["finance"] - starts["sales"]) <= 2


@pytest.mark.parametrize(
    ("given", "quotas"),
    [
        ("", {}),
        ("finance=2, sales=1", {"finance": 2, "sales": 1}),
        (" finance = 2 ,, ", {"finance": 2}),
        ({"finance": 2}, {"finance": 2}),
    ],
)
def test_quotas_are_read(given, quotas):
    assert check_quotas(given) == quotas


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ("finance", '"finance" is not a quota'),
        ("=2", '"=2" is not a quota'),
        ("finance=two", '"finance=two" is not a quota'),
        ("finance=1.5", '"finance=1.5" is not a quota'),
        ("finance=1=2", '"finance=1=2" is not a quota'),
        ("finance=²", "is not a quota"),
        ("finance=0", "is 0, which is out of bounds"),
        ("finance=-1", "is -1, which is out of bounds"),
        ("finance=1, finance=2", '"finance" has two quotas'),
        ({"finance": 0}, "is 0, which is out of bounds"),
        ({"finance": True}, "is True, which is out of bounds"),
        ({"finance": "2"}, "is '2', which is out of bounds"),
        ({"": 2}, "is 2, which is out of bounds"),
    ],
)
def test_wrong_quotas_are_refused(given, part):
    with pytest.raises(ConfigError) as refused:
        check_quotas(given)
    assert part in refused.value.message
