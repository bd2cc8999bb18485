"""A limit to the time of a refresh."""

from __future__ import annotations

from threading import Event

import pytest

from streamtables.errors import QueryFailedError, RefreshTimeoutError, TransientError
from streamtables.refresh import deadline as room
from streamtables.refresh.deadline import deadline


def test_what_is_cancelled_failed_because_of_its_time():
    cancelled = Event()

    def refresh() -> None:
        with deadline(0.01, cancelled.set, "revenue"):
            assert cancelled.wait(5)
            raise TransientError("Spark could not finish")

    with pytest.raises(RefreshTimeoutError, match=r"\"revenue\" took longer than 0.01 s"):
        refresh()


def test_it_is_cancelled_again_until_it_ends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(room, "AGAIN_SECONDS", 0.01)
    calls: list[int] = []
    third = Event()

    def cancel() -> None:
        calls.append(1)
        if len(calls) == 3:
            third.set()

    with deadline(0.01, cancel, "revenue"):
        assert third.wait(5)


def test_what_fails_in_time_fails_as_it_does_and_what_ends_in_time_is_left_alone():
    with pytest.raises(QueryFailedError), deadline(60, pytest.fail, "revenue"):
        raise QueryFailedError("a division by zero")
    with deadline(0, pytest.fail, "revenue"):
        pass
