"""What past refreshes tell."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from streamtables.catalog.models import RefreshRecord, Step
from streamtables.positions import InputId, RefreshId, Sequence
from streamtables.refresh.costs import past_of
from streamtables.refresh.decide import Past, Timing


def _record(seconds: float, mode: str, way: str = "", state: str = "applied") -> RefreshRecord:
    steps = (Step("compute", seconds, {"way": way}),) if way else ()
    return RefreshRecord(
        id=RefreshId("r"),
        stream_table_id=InputId("t"),
        sequence=Sequence(1),
        process="host:1",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        state=state,  # type: ignore[arg-type]  # one of the ends
        mode=mode,
        rows_in=7,
        seconds=seconds,
        steps=steps,
    )


def test_no_history_tells_nothing() -> None:
    assert past_of(()) == Past()


def test_the_newest_record_of_each_way_counts() -> None:
    history = (
        _record(1.0, "differential", "whole"),
        _record(9.0, "differential", "changes", state="failed"),
        _record(2.0, "differential", "whole"),
        _record(3.0, "differential", "changes"),
        _record(4.0, "full"),
        _record(5.0, "full"),
    )
    assert past_of(history) == Past(Timing(4.0, 7), Timing(3.0, 7), Timing(1.0, 7), 2)


def test_a_first_fill_is_told_from_a_later_full_refresh() -> None:
    first = replace(_record(4.0, "full"), reason_code="first-fill")
    assert past_of([first]).full == Timing(4.0, 7, cold=True)
    assert past_of([_record(1.0, "full"), first]).full == Timing(1.0, 7)


def test_a_refresh_that_changed_nothing_took_its_time_all_the_same() -> None:
    idle = _record(4.0, "no-change", way="changes", state="no-change")
    looked = _record(0.001, "no-change", state="no-change")
    past = past_of([looked, idle, _record(2.0, "full")])
    assert past.changes == Timing(4.0, 7)
    assert past.whole is None
