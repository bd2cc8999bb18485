"""Comparisons that the scheduler makes by itself: when, of what, and what is told of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from streamtables.catalog.models import StreamTable
from streamtables.catalog.scheduler_models import Event
from streamtables.errors import QueryFailedError
from streamtables.refresh.verify import Verification
from streamtables.scheduler import proofs as room
from streamtables.scheduler.proofs import NOT_VERIFIED, VERIFIED, Proofs

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def table(name: str, **options: Any) -> StreamTable:
    return StreamTable(
        id=name,  # type: ignore[arg-type]
        name=name,
        query="",
        defining_query_hash="",
        location="",
        columns=(),
        created_at=START,
        altered_at=START,
        options=options,
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []

    def verify(table: StreamTable, *_: object, share: float, draw: int) -> Verification:
        found.append((table.name, share))
        if table.name == "broken":
            raise QueryFailedError("no")
        equal = table.name != "wrong"
        return Verification(table.name, equal, 0, 0, pa.table({}), 1, share)

    monkeypatch.setattr(room, "verify", verify)
    return found


def proofs(last: dict[str, Event] | None = None, *tables: StreamTable) -> Proofs:
    known = {item.id: item for item in tables}
    definitions = SimpleNamespace(stream_table=lambda key: known[key])
    catalog = SimpleNamespace(
        last_events=lambda kinds: last or {},
        snapshot=lambda: SimpleNamespace(definitions=definitions),
    )
    around: Any = SimpleNamespace(catalog=catalog, clock=lambda: START)
    return Proofs(around, _pool=ThreadPoolExecutor(1))


def told(made: Proofs, tables: list[StreamTable], now: datetime) -> list[Event]:
    """Begin what is due, wait for it, and return what is told."""
    events = made.prove(1, tables, now)
    if made._running is not None:
        made._running.exception()
        events += made.prove(1, tables, now)
    return events


def test_only_tables_that_ask_for_it_and_when_it_is_time(asked: list[tuple[str, float]]) -> None:
    tables = [table("never"), table("hourly", verify_every="1h", verify_share=0.25)]
    made = proofs(None, *tables)
    assert told(made, tables, START + HOUR / 2) == []
    assert asked == []
    events = told(made, tables, START + HOUR)
    assert [(event.kind, event.subject) for event in events] == [(VERIFIED, "hourly")]
    assert "25.0%" in events[0].text
    assert told(made, tables, START + HOUR) == []
    told(made, tables, START + 2 * HOUR)
    assert asked == [("hourly", 0.25)] * 2


def test_what_another_process_compared_counts(asked: list[tuple[str, float]]) -> None:
    item = table("t", verify_every="1h")
    done = Event(START + HOUR, VERIFIED, "", "t", "t")
    made = proofs({"t": done}, item)
    told(made, [item], START + 1.5 * HOUR)
    assert asked == []
    told(made, [item], START + 2 * HOUR)
    assert asked == [("t", 1.0)]


def test_the_most_overdue_comes_first_and_paused_ones_wait(asked: list[tuple[str, float]]) -> None:
    tables = [
        table("daily", verify_every="24h"),
        table("hourly", verify_every="1h"),
        replace(table("paused", verify_every="1m"), state="paused"),
    ]
    told(proofs(None, *tables), tables, START + 25 * HOUR)
    assert asked == [("hourly", 1.0)]


def test_a_difference_and_an_error(asked: list[tuple[str, float]]) -> None:
    wrong, broken = table("wrong", verify_every="1h"), table("broken", verify_every="1h")
    # The comparison itself records a difference.
    assert told(proofs(None, wrong), [wrong], START + HOUR) == []
    (event,) = told(proofs(None, broken), [broken], START + HOUR)
    assert event.kind == NOT_VERIFIED
    assert "ST-1407" in event.text


def test_a_long_comparison_is_followed_by_a_longer_rest(asked: list[tuple[str, float]]) -> None:
    item = table("t", verify_every="1s")
    made = proofs(None, item)
    told(made, [item], START + HOUR)
    made._rest_until = START + 2 * HOUR
    told(made, [item], START + 1.5 * HOUR)
    assert len(asked) == 1
    told(made, [item], START + 2 * HOUR)
    assert len(asked) == 2
