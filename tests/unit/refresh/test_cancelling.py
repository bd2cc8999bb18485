"""Stopping a refresh that runs: who looks, when, and what it ends as."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from threading import Event

import pytest

from streamtables.catalog.cancellations import Cancellation
from streamtables.errors import (
    QueryFailedError,
    RefreshCancelledError,
    TableDamagedError,
    TransientError,
)
from streamtables.positions import RefreshId
from streamtables.refresh.cancelling import CancelWatch

PATIENCE = 20.0
ONE, TWO = RefreshId("one"), RefreshId("two")
ANN = Cancellation("user ann", datetime(2030, 1, 1, 12, tzinfo=UTC))


class Asked:
    """A catalog in which somebody asks for something, and which counts who looks."""

    def __init__(self, *wanted: RefreshId) -> None:
        self.wanted = wanted
        self.looks: list[tuple[RefreshId, ...]] = []
        self.looked = Event()
        self.away = False

    def __call__(self, running: Collection[RefreshId]) -> Mapping[RefreshId, Cancellation]:
        self.looks.append(tuple(running))
        self.looked.set()
        if self.away:
            self.away = False
            raise TransientError("the catalog is away")
        return {key: ANN for key in running if key in self.wanted}


def run_until_cancelled(watch: CancelWatch, error: Exception) -> None:
    cancelled = Event()
    with watch.watching(ONE, "revenue", cancelled.set):
        assert cancelled.wait(PATIENCE)
        raise error


@pytest.mark.parametrize("error", [TransientError("the Spark job was cancelled"), KeyError("x")])
def test_what_fails_after_it_was_asked_to_stop_was_cancelled(error: Exception):
    with pytest.raises(RefreshCancelledError) as caught:
        run_until_cancelled(CancelWatch(Asked(ONE), 0.01), error)
    assert caught.value.message == (
        'the refresh of "revenue" was cancelled by user ann at 2030-01-01 12:00:00 UTC'
    )


def test_damage_that_is_found_meanwhile_is_told():
    with pytest.raises(TableDamagedError):
        run_until_cancelled(CancelWatch(Asked(ONE), 0.01), TableDamagedError("damaged"))


def test_it_is_cancelled_again_until_it_ends_and_asked_for_once():
    asked, calls, third = Asked(ONE), [0], Event()

    def cancel() -> None:
        calls[0] += 1
        if calls[0] == 3:
            third.set()
        raise TransientError("Spark is away")

    with CancelWatch(asked, 0.01).watching(ONE, "revenue", cancel) as running:
        assert third.wait(PATIENCE)
        with pytest.raises(RefreshCancelledError):
            running.check()
    assert asked.looks == [(ONE,)]


def test_others_go_on_and_a_catalog_that_is_away_is_asked_again():
    asked = Asked(TWO)
    asked.away = True
    watch, cancelled = CancelWatch(asked, 0.01), Event()
    with (
        watch.watching(ONE, "revenue", pytest.fail) as one,
        watch.watching(TWO, "totals", cancelled.set),
    ):
        assert cancelled.wait(PATIENCE)
        one.check()
    with pytest.raises(QueryFailedError), watch.watching(ONE, "revenue", pytest.fail):
        raise QueryFailedError("a division by zero")


def test_what_is_short_asks_nothing_and_nobody_looks_while_nothing_runs():
    asked = Asked(ONE)
    watch = CancelWatch(asked, 0.05)
    for _ in range(100):
        with watch.watching(ONE, "revenue", pytest.fail):
            pass
    thread = watch._thread
    assert thread is not None
    thread.join(PATIENCE)
    assert watch._thread is None
    assert asked.looks == []
    # It looks again when something runs again.
    with watch.watching(TWO, "totals", pytest.fail):
        assert asked.looked.wait(PATIENCE)
