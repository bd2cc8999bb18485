"""A round on several hands: inputs first, no more at a time than slots, nothing lost."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Event, Lock, current_thread, main_thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.errors import InternalError
from streamtables.positions import InputId
from streamtables.scheduler.dispatch import Hands, run_graph
from streamtables.scheduler.pool import WorkerPool

PATIENCE = 20.0

Edges = dict[InputId, tuple[InputId, ...]]


def ids(names: str) -> tuple[InputId, ...]:
    return tuple(map(InputId, names))


def graph(**edges: str) -> Edges:
    return {InputId(name): ids(inputs) for name, inputs in edges.items()}


E = InputId("e")
DIAMOND = graph(a="x", b="a", c="a", d="bc", e="y")


@st.composite
def rounds(draw: st.DrawFn) -> Edges:
    """Tables in an order in which each reads earlier ones, or what takes no part."""
    edges: Edges = {}
    for at in range(draw(st.integers(0, 10))):
        earlier = (InputId("outside"), *edges)
        edges[InputId(f"t{at}")] = tuple(draw(st.sets(st.sampled_from(earlier), max_size=3)))
    return edges


class Watched:
    """Work that notes what was done when it started, and how much ran beside it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.began: list[InputId] = []
        self.seen: dict[InputId, frozenset[InputId]] = {}
        self.most = 0
        self._running = 0
        self._done: set[InputId] = set()

    def __call__(self, node: InputId) -> str:
        with self._lock:
            self.began.append(node)
            self.seen[node] = frozenset(self._done)
            self._running += 1
            self.most = max(self.most, self._running)
        with self._lock:
            self._running -= 1
            self._done.add(node)
        return f"did {node}"


@given(edges=rounds(), slots=st.integers(1, 4), size=st.sampled_from([0, 2]), picks=st.randoms())
def test_each_node_runs_once_after_its_inputs_and_slots_hold(edges, slots, size, picks):
    work = Watched()

    def choose(ready, running):
        assert len(running) < slots
        return picks.choice(ready)

    with WorkerPool(size) as pool:
        hands = Hands(slots, pool.submit, choose)
        done = run_graph(tuple(edges), edges, work=work, hands=hands)
    assert list(done.items()) == [(node, f"did {node}") for node in edges]
    assert sorted(work.began) == sorted(edges)
    assert work.most <= slots
    for node, inputs in edges.items():
        assert set(inputs) - {"outside"} <= work.seen[node]


def test_one_slot_works_in_the_callers_thread_in_the_given_order():
    threads = []

    def work(node: InputId) -> InputId:
        threads.append(current_thread())
        return node

    order = ids("eabcd")
    assert list(run_graph(order, DIAMOND, work=work, hands=Hands())) == list(order)
    assert threads == [main_thread()] * 5


def test_what_does_not_depend_on_each_other_runs_at_once():
    met = {InputId("a"): Event(), InputId("e"): Event()}

    def work(node: InputId) -> bool:
        if node not in met:
            return True
        met[node].set()
        return all(event.wait(PATIENCE) for event in met.values())

    with WorkerPool(2) as pool:
        done = run_graph(ids("abcde"), DIAMOND, work=work, hands=Hands(2, pool.submit))
    assert done == dict.fromkeys(ids("abcde"), True)


class AtOnce:
    """Runs each task when it is submitted, so that a test knows what the chooser is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[tuple[InputId, ...], tuple[InputId, ...]]] = []

    def submit(self, task: Any, /) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(task())
        except Exception as error:
            future.set_exception(error)
        return future

    def choose(self, ready, running):
        self.asked.append((ready, running))
        return ready[-1]


def test_the_chooser_sees_ready_nodes_in_order_and_what_runs():
    hand = AtOnce()
    hands = Hands(2, hand.submit, hand.choose)
    run_graph(ids("abcde"), DIAMOND, work=str, hands=hands)
    assert hand.asked[:2] == [(ids("ae"), ()), (ids("a"), ids("e"))]
    assert hand.asked[2] == (ids("bc"), ())


def test_a_chooser_may_let_ready_nodes_wait_for_what_runs():
    """Only one of the namespace at a time, though there are four slots."""
    work = Watched()
    with WorkerPool(4) as pool:
        hands = Hands(4, pool.submit, lambda ready, running: None if running else ready[0])
        done = run_graph(ids("abcde"), DIAMOND, work=work, hands=hands)
    assert list(done) == list("abcde")
    assert work.most == 1


def test_what_a_chooser_leaves_while_nothing_runs_is_missing():
    hand = AtOnce()
    hands = Hands(2, hand.submit, lambda ready, running: E if E in ready else None)
    assert run_graph(ids("abcde"), DIAMOND, work=str, hands=hands) == {"e": "e"}


def test_a_chooser_cannot_pick_what_is_not_ready():
    hand = AtOnce()
    hands = Hands(2, hand.submit, lambda ready, running: InputId("d"))
    with pytest.raises(InternalError, match='"d" was chosen'):
        run_graph(ids("abcde"), DIAMOND, work=str, hands=hands)


@pytest.mark.parametrize("slots", [1, 3])
def test_after_a_stop_nothing_starts_and_the_rest_is_missing(slots: int):
    stop = Event()

    def work(node: InputId) -> InputId:
        if node == "a":
            stop.set()
        return node

    with WorkerPool(3) as pool:
        done = run_graph(
            ids("abcd"), DIAMOND, work=work, hands=Hands(slots, pool.submit), stop=stop
        )
    assert done == {"a": "a"}


@pytest.mark.parametrize("slots", [1, 3])
def test_what_may_not_start_is_left_out_with_all_that_reads_it(slots: int):
    asked: list[InputId] = []

    def may_start(node: InputId) -> bool:
        asked.append(node)
        return node != "b"

    with WorkerPool(3) as pool:
        hands = Hands(slots, pool.submit, may_start=may_start)
        done = run_graph(ids("abcde"), DIAMOND, work=str, hands=hands)
    assert list(done) == list("ace")
    assert sorted(asked) == list("abce")


@pytest.mark.parametrize("slots", [1, 2])
def test_it_is_asked_right_before_each_start(slots: int):
    """What is said while a node runs holds for the next one."""
    paused: set[InputId] = set()

    def work(node: InputId) -> InputId:
        if node == "a":
            paused.update(ids("bcd"))
        return node

    with WorkerPool(2) as pool:
        hands = Hands(slots, pool.submit, may_start=lambda node: node not in paused)
        assert list(run_graph(ids("abcde"), DIAMOND, work=work, hands=hands)) == list("ae")


def test_what_runs_when_the_stop_comes_is_in_the_answer():
    stop, release = Event(), Event()

    def work(node: InputId) -> InputId:
        if node == "a":
            assert release.wait(PATIENCE)
        else:
            stop.set()
            release.set()
        return node

    with WorkerPool(2) as pool:
        done = run_graph(ids("aebcd"), DIAMOND, work=work, hands=Hands(2, pool.submit), stop=stop)
    assert done == {"a": "a", "e": "e"}


def test_what_work_raises_is_raised_once_nothing_runs():
    began, ended = Event(), Event()

    def work(node: InputId) -> InputId:
        if node == "a":
            assert began.wait(PATIENCE)
            raise ValueError("a bug")
        began.set()
        # Long enough for a dispatcher that does not wait to be caught.
        Event().wait(0.05)
        ended.set()
        return node

    with WorkerPool(2) as pool:
        with pytest.raises(ValueError, match="a bug"):
            run_graph(ids("aebcd"), DIAMOND, work=work, hands=Hands(2, pool.submit))
        assert ended.is_set()


def test_what_work_raises_ends_a_round_on_one_hand():
    began = []

    def work(node: InputId) -> None:
        began.append(node)
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        run_graph(ids("abcde"), DIAMOND, work=work, hands=Hands())
    assert began == ["a"]


def test_an_input_that_failed_is_done_all_the_same():
    failed: dict[InputId, bool] = {}

    def work(node: InputId) -> bool:
        failed[node] = node == "a" or any(failed.get(name, False) for name in DIAMOND[node])
        return not failed[node]

    with WorkerPool(2) as pool:
        done = run_graph(ids("abcde"), DIAMOND, work=work, hands=Hands(2, pool.submit))
    assert done == {"a": False, "b": False, "c": False, "d": False, "e": True}


@pytest.mark.parametrize("order", ["ba", "aa"])
def test_an_order_that_cannot_be_kept_is_refused(order: str):
    with pytest.raises(InternalError):
        run_graph(ids(order), graph(a="x", b="a"), work=str, hands=Hands())


@pytest.mark.parametrize("slots", [0, 2])
def test_slots_need_something_to_run_on(slots: int):
    with pytest.raises(InternalError):
        Hands(slots)
