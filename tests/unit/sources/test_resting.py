"""What failed after taking long rests for a while."""

from __future__ import annotations

from streamtables.errors import TransientError
from streamtables.sources.postgres.resting import Resting

AWAY = TransientError("the server does not answer")


def test_what_failed_at_once_is_tried_at_once():
    resting: Resting[str] = Resting(lambda: 100.0)
    resting.failed("shop", AWAY, 0.1)
    assert resting.error_of("shop") is None


def test_what_took_long_to_fail_rests_for_several_times_as_long():
    now = [100.0]
    resting: Resting[str] = Resting(lambda: now[0])
    resting.failed("shop", AWAY, 10)
    assert resting.error_of("shop") is AWAY
    assert resting.error_of("other") is None
    now[0] += 39
    assert resting.error_of("shop") is AWAY
    now[0] += 2
    assert resting.error_of("shop") is None


def test_nothing_rests_for_longer_than_ten_minutes_and_what_works_does_not():
    now = [100.0]
    resting: Resting[str] = Resting(lambda: now[0])
    resting.failed("shop", AWAY, 7_200)
    now[0] += 601
    assert resting.error_of("shop") is None
    resting.failed("shop", AWAY, 7_200)
    resting.worked("shop")
    assert resting.error_of("shop") is None
