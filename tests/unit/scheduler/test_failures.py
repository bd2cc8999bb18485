"""The family of an error decides what becomes of the table; reasons are sentences."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables import errors
from streamtables.errors import (
    CatalogUnreadableError,
    CommitConflictError,
    EnvironmentFaultError,
    FullForbiddenError,
    FunctionMissingError,
    HistoryGoneError,
    InternalError,
    QueryFailedError,
    SchemaChangedError,
    SqlTypeError,
    StreamTablesError,
    TableDamagedError,
    TransientError,
    UserError,
)
from streamtables.scheduler.failures import Failures, Retry, Stop, Suspend, after_failure

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def unexpected(failures: int) -> Failures:
    """As many failures in a row, none of them of a kind that comes and goes."""
    return Failures(failures, failures)


def delay(error: StreamTablesError, failures: int, random_unit: float = 1.0) -> float:
    decision = after_failure(error, unexpected(failures), NOW, random_unit)
    assert isinstance(decision, Retry)
    return (decision.at - NOW).total_seconds()


def every_error() -> list[type[StreamTablesError]]:
    found = [value for value in vars(errors).values() if isinstance(value, type)]
    return [value for value in found if issubclass(value, StreamTablesError)]


@pytest.mark.parametrize("kind", [TransientError, CommitConflictError, HistoryGoneError])
def test_what_may_pass_is_tried_again_after_doubling_delays(kind):
    delays = [delay(kind("gone"), failures) for failures in range(1, 11)]
    assert delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]


@pytest.mark.parametrize(
    "kind", [EnvironmentFaultError, CatalogUnreadableError, FunctionMissingError]
)
def test_what_the_machine_lacks_is_tried_again_slowly(kind):
    assert [delay(kind("disk full"), n) for n in range(1, 6)] == [30, 60, 120, 240, 300]


@given(failures=st.integers(0, 10**9), random_unit=st.floats(0, 1))
def test_a_delay_lies_between_the_half_and_the_whole(failures, random_unit):
    error = TransientError("lost")
    whole = delay(error, failures)
    assert whole / 2 - 1e-5 <= delay(error, failures, random_unit) <= whole <= 300


@pytest.mark.parametrize("kind", [UserError, SqlTypeError, QueryFailedError, FullForbiddenError])
def test_a_wrong_request_stops_the_table_at_once(kind):
    decision = after_failure(kind("wrong"), unexpected(1), NOW, 0.5)
    assert isinstance(decision, Stop)
    assert decision.reason.startswith(f"Wrong ({kind.code}).")
    assert decision.reason.endswith("Then run resume.")


def test_a_reason_takes_over_detail_and_hint():
    error = QueryFailedError("division by zero", detail="In column b.", hint="Alter the query.")
    decision = after_failure(error, unexpected(1), NOW, 0.5)
    assert decision == Stop(
        "Division by zero (ST-1407). In column b. Alter the query. Then run resume."
    )


def test_a_damaged_table_stops_and_asks_for_a_repair():
    decision = after_failure(TableDamagedError("rows were changed"), unexpected(1), NOW, 0.5)
    assert isinstance(decision, Stop)
    assert "Run repair to rebuild it. Then run resume." in decision.reason


def test_a_changed_source_stops_a_table_that_must_not_be_rebuilt():
    error = SchemaChangedError("a column is gone")
    assert isinstance(after_failure(error, unexpected(9), NOW, 0.5), Retry)
    decision = after_failure(error, unexpected(1), NOW, 0.5, full_forbidden=True)
    assert isinstance(decision, Stop)
    assert "full='allow'" in decision.reason


def test_other_failures_do_not_care_whether_full_is_forbidden():
    decision = after_failure(TransientError("lost"), unexpected(1), NOW, 0.5, full_forbidden=True)
    assert isinstance(decision, Retry)


@pytest.mark.parametrize("kind", [InternalError, StreamTablesError])
def test_the_third_unexpected_failure_suspends_the_table(kind):
    assert [delay(kind("a bug"), failures) for failures in (1, 2)] == [1, 2]
    for failures in (3, 4):
        decision = after_failure(kind("a bug"), unexpected(failures), NOW, 0.5)
        assert isinstance(decision, Suspend)
        assert f"It failed like that {failures} times since it last went well" in decision.reason
        assert "run resume" in decision.reason


def test_failures_that_come_and_go_do_not_make_one_more_a_bug():
    decision = after_failure(InternalError("a bug"), Failures(5, 2), NOW, 1.0)
    assert decision == Retry(NOW + timedelta(seconds=16), decision.reason)


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_every_error_leads_to_a_decision_with_a_reason(kind):
    decision = after_failure(kind("it went wrong"), unexpected(3), NOW, 0.0)
    assert decision.reason.startswith("It went wrong (ST-")
    assert decision.reason.endswith(".")
    assert not isinstance(decision, Retry) or decision.at >= NOW + timedelta(seconds=0.5)
