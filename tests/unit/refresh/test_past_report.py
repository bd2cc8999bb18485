"""What the last refreshes say about a table."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from streamtables.catalog.models import CHOICE, RefreshRecord, Step
from streamtables.positions import InputId, RefreshId, Sequence
from streamtables.refresh.cost_model import Work
from streamtables.refresh.costs import choice_facts
from streamtables.refresh.past_report import changed_rows, past_data, past_lines, told_by

CHANGES = RefreshRecord(
    id=RefreshId("r"),
    stream_table_id=InputId("t"),
    sequence=Sequence(2),
    process="host:1",
    started_at=datetime(2026, 1, 1, tzinfo=UTC),
    state="applied",
    mode="differential",
    reason_code="changes",
    reason_text="3 changed rows since the last refresh",
    strategy="merge",
    rows_in=3,
    rows_inserted=2,
    rows_deleted=1,
    seconds=0.5,
    steps=(
        Step("changes", 0.1, {"rows of orders": 3}),
        Step(CHOICE, 0.0, choice_facts("changes", Work(changed_rows=3), {})),
        Step("compute", 0.4),
    ),
    notes=("a note",),
)
FULL = replace(
    CHANGES,
    mode="full",
    reason_code="first-fill",
    rows_in=0,
    seconds=4.0,
    steps=(Step(CHOICE, 0.0, choice_facts("full", Work(), {})),),
    notes=(),
)
IDLE = replace(
    FULL, state="no-change", mode="no-change", reason_code="current", seconds=0.001, steps=()
)


def test_a_table_that_was_never_refreshed_has_no_past():
    assert past_data([]) is None
    assert past_lines([]) == []
    assert told_by([replace(CHANGES, state="running")]) is None


def test_the_last_refresh_that_computed_something_tells():
    assert told_by([IDLE, CHANGES, FULL]) is CHANGES
    assert told_by([IDLE]) is IDLE


def test_the_lines_say_choice_reason_rows_and_seconds_of_each_step():
    assert past_lines([IDLE, CHANGES, FULL]) == [
        "choice     differential by merge, applied",
        "reason     3 changed rows since the last refresh",
        "rows       3 changed rows read, 2 inserted, 1 deleted",
        "seconds    0.500: changes 0.100, choose 0.000, compute 0.400",
        "last of    changes 0.500 s for 3 rows, full 4.000 s (first fill)",
        "note       a note",
    ]


def test_the_data_says_the_same():
    data = past_data([CHANGES, FULL])
    assert data is not None
    last, timings = data["last"], data["timings"]
    assert isinstance(last, dict)
    assert isinstance(timings, dict)
    assert last["reason"] == {"code": "changes", "text": CHANGES.reason_text}
    assert last["changed_rows"] == {"orders": 3}
    assert last["seconds"] == {"actual": 0.5, "predicted": None}
    assert timings["full"] == {"seconds": 4.0, "rows_in": 0, "first_fill": True}
    assert "whole" not in timings


def test_a_prediction_stands_beside_what_it_took():
    step = Step("decide", 0.0, {"predicted_full": 3.0, "predicted_changes": 0.4})
    predicted = replace(CHANGES, steps=(*CHANGES.steps, step))
    data = past_data([predicted])
    assert data is not None
    assert isinstance(data["last"], dict)
    assert data["last"]["seconds"] == {
        "actual": 0.5,
        "predicted": {"full": 3.0, "changes": 0.4},
    }
    assert "predicted  full 3.000, changes 0.400" in past_lines([predicted])


def test_rows_that_spark_read_are_not_counted():
    large = replace(CHANGES, rows_in=0, steps=())
    assert changed_rows(large) == {}
    assert "rows       2 inserted, 1 deleted" in past_lines([large])
