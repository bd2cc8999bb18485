"""The heartbeat: while it is open and no longer, from one thread."""

from __future__ import annotations

from threading import Event, Lock, current_thread
from time import monotonic, sleep

from streamtables.scheduler.heartbeat import Heartbeat


def wait_until(holds) -> None:
    end = monotonic() + 2
    while not holds() and monotonic() < end:
        sleep(0.001)
    assert holds()


def test_it_beats_while_it_is_open_and_from_one_thread():
    threads: list[object] = []

    def beat() -> bool:
        threads.append(current_thread())
        return True

    heartbeat = Heartbeat(beat, 0.002)
    for opening in (1, 2):
        with heartbeat:
            wait_until(lambda opening=opening: len(threads) > 2 * opening)
        beats = len(threads)
    sleep(0.01)
    assert len(threads) == beats
    assert len({id(thread) for thread in threads}) == 1


def test_what_says_no_is_asked_again_only_when_it_is_opened_again():
    asked: list[int] = []

    def beat() -> bool:
        asked.append(1)
        return False

    heartbeat = Heartbeat(beat, 0.002)
    for opening in (1, 2):
        with heartbeat:
            wait_until(lambda opening=opening: len(asked) == opening)
            sleep(0.01)
        assert len(asked) == opening


def test_no_beat_is_under_way_once_it_is_closed():
    begun, going = Event(), Lock()

    def beat() -> bool:
        with going:
            begun.set()
            sleep(0.02)
        return True

    heartbeat = Heartbeat(beat, 0.001)
    with heartbeat:
        assert begun.wait(2)
    assert not going.locked()


def test_its_thread_ends_when_nobody_opens_it_any_more():
    heartbeat = Heartbeat(lambda: True, 0.002)
    with heartbeat:
        thread = heartbeat._thread
    assert thread is not None
    thread.join(2)
    assert not thread.is_alive()
    with heartbeat:
        assert heartbeat._thread is not thread


def test_a_beat_that_fails_is_followed_by_the_next_one(caplog):
    beats: list[int] = []

    def beat() -> bool:
        beats.append(1)
        if len(beats) == 1:
            raise RuntimeError("the pool of connections is empty")
        return True

    with Heartbeat(beat, 0.002):
        wait_until(lambda: len(beats) > 2)
    assert "a beat failed" in caplog.text
