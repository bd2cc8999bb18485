"""What becomes of the reports of the rooms."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from streamtables.catalog.models import CHOICE, RefreshRecord, Step, new_id
from streamtables.catalog.scheduler_models import Event
from streamtables.observe import declared as metric
from streamtables.observe.exposition import exposition
from streamtables.observe.notices import KINDS
from streamtables.observe.observer import Observer, Poll
from tests.unit.catalog.builders import START, record
from tests.unit.observe.scraped import scraped

TABLE = new_id()


def ended(state: str = "applied", **changes: Any) -> RefreshRecord:
    values = {"state": state, "mode": "differential", "seconds": 0.5, "finished_at": START}
    return record(TABLE, **{**values, **changes})


def counted(observer: Observer) -> dict[str, float]:
    """Return what was counted, without the zeroes that are there from the start."""
    return {name: value for name, value in scraped(exposition(observer.counts)).items() if value}


def test_what_has_few_values_is_there_from_the_start_at_zero():
    """A counter that first shows up above 0 has not grown to those who compute its increase."""
    found = scraped(exposition(Observer().counts))
    for name, values in {
        "ivm_lock_mode_total{mode=%s}": (
            "key",
            "table",
            "exclusive",
            "exclusive_due_to_parse_error",
        ),
        "verify_total{result=%s}": ("equal", "different"),
        "refresh_unfinished_total{outcome=%s}": ("superseded", "deferred", "cancelled"),
        "events_total{kind=%s}": (*KINDS, "other"),
    }.items():
        assert [found[name % value] for value in values] == [0] * len(values)


def test_refreshes_count_by_mode_rows_by_action_and_failures_by_code():
    observer = Observer()
    observer.refresh_ended("t", ended(rows_inserted=3, rows_deleted=1))
    observer.refresh_ended("t", ended(rows_inserted=2))
    observer.refresh_ended("t", ended("no-change", mode="no-change"))
    observer.refresh_ended("t", ended("failed", error_code="ST-1401"))
    observer.refresh_ended("t", ended("deferred", mode="no-change"))
    found = counted(observer)
    assert found["refresh_total{mode=differential,stream_table=t}"] == 2
    assert found["refresh_total{mode=no-change,stream_table=t}"] == 1
    assert found["refresh_seconds_count{mode=differential}"] == 2
    assert found["rows_changed_total{action=inserted,stream_table=t}"] == 5
    assert found["rows_changed_total{action=deleted,stream_table=t}"] == 1
    assert found["refresh_failures_total{code=ST-1401,stream_table=t}"] == 1
    assert found["refresh_unfinished_total{outcome=deferred}"] == 1
    assert observer.ended_at == {TABLE: START}


@pytest.mark.parametrize(
    ("reason", "falls_back"),
    [("rebuild", True), ("large-change", True), ("full-was-faster", True)]
    + [(code, False) for code in ("first-fill", "forced", "mode-full", "not-incremental")],
)
def test_only_what_nobody_asked_for_is_a_fall_back(reason: str, falls_back: bool):
    observer = Observer()
    full = ended(mode="full", reason_code=reason)
    observer.refresh_ended("t", full)
    assert observer.counts.value(metric.FULL_FALLBACKS, "t", reason) == falls_back
    assert observer.newly_fell_back(full) == falls_back
    assert not observer.newly_fell_back(full)
    observer.newly_fell_back(ended())
    assert observer.newly_fell_back(full) == falls_back


def test_a_prediction_is_compared_with_what_the_refresh_took():
    observer = Observer()
    choice = Step(CHOICE, 0.0, {"way": "merge", "predicted_merge": 1.5, "predicted_full": 9.0})
    observer.refresh_ended("t", ended(steps=(choice,), seconds=0.5))
    observer.refresh_ended("t", ended(steps=(Step(CHOICE, 0.0, {"way": "merge"}),)))
    found = counted(observer)
    assert found["cost_model_ratio_count{way=merge}"] == 1
    assert found["cost_model_ratio_sum{way=merge}"] == 3.0


def test_a_look_at_a_server_tells_what_waited_there():
    observer = Observer()
    observer.polled(Poll("db:5432/shop", 0.2, {"orders": 7, "bag": 0}, 12_000, 4_096))
    assert counted(observer)["capture_waiting_rows{source=orders}"] == 7
    observer.polled(Poll("db:5432/shop", 0.1))
    assert "capture_waiting_rows{source=orders}" not in counted(observer)
    found = counted(observer)
    assert found["wal_decoder_pending_records{server=db:5432/shop}"] == 12_000
    assert found["wal_lag_bytes{server=db:5432/shop}"] == 4_096
    assert found["wal_poll_rows_total{server=db:5432/shop}"] == 7
    assert found["wal_poll_seconds_count{server=db:5432/shop}"] == 2
    observer.polled(Poll("db:5432/shop", 0.1, pending=0))
    assert "wal_decoder_pending_records{server=db:5432/shop}" not in counted(observer)


def test_a_source_has_one_reason_for_its_triggers_at_a_time():
    observer = Observer()
    observer.captured("orders", "blocked")
    observer.captured("orders", "moving")
    assert counted(observer) == {"wal_fallback{reason=moving,source=orders}": 1}
    observer.captured("orders", None)
    assert counted(observer) == {}


def test_events_are_counted_by_kind_and_unknown_ones_together(caplog: pytest.LogCaptureFixture):
    observer = Observer()
    happened = [Event(START, "held", "it waits", "id", "t"), Event(START, "news", "what is it")]
    with caplog.at_level(logging.INFO, "streamtables"):
        observer.happened(happened)
    texts = [getattr(line, "fields", {})["text"] for line in caplog.records]
    assert texts == ["it waits", "`streamtables events` says more"]
    assert counted(observer)["events_total{kind=held}"] == 1
    assert counted(observer)["events_total{kind=other}"] == 1


def test_what_spark_or_a_server_said_stays_out_of_the_log(caplog: pytest.LogCaptureFixture):
    """Errors may quote a value of a row, so their texts stay in the catalog."""
    observer, canary = Observer(), "CANARY-4711"
    with caplog.at_level(logging.DEBUG, "streamtables"):
        said = f"Spark cannot run the query (ST-1401). The value {canary} cannot be cast."
        for kind in ("failed", "suspended", "resnapshot", "tick-failed", "notify"):
            observer.happened([Event(START, kind, said, "id", "t")])
        failed = ended("failed", error_code="ST-1401", error_text=said, reason_text=said)
        observer.refresh_ended("t", failed)
    fields = [getattr(line, "fields", {}) for line in caplog.records]
    assert len(fields) == 6
    assert canary not in str(fields)
    assert canary not in caplog.text
    assert fields[0]["text"] == "a refresh failed and is tried again (ST-1401)"
    assert fields[-1]["error"] == "ST-1401"


def test_every_event_that_the_code_records_has_a_kind():
    """A new kind of event has to say how loudly it is told."""
    import re
    from pathlib import Path

    import streamtables

    package = Path(streamtables.__file__).parent
    found = set()
    for path in package.rglob("*.py"):
        found |= set(re.findall(r'Event\([^()]*(?:\(\))?[^()]*?, "([a-z_-]+)"', path.read_text()))
    assert {"leader", "tick-failed", "slot-lost", "resnapshot", "suspended"} <= found
    # Steps of a capture are events of their own kind, in another table.
    assert found - {"added"} <= KINDS.keys()
