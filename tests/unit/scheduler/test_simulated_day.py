"""A day of ten thousand tables, second by second of a clock that only the test moves."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise

from streamtables.positions import InputId
from streamtables.scheduler.calculated import effective_schedules
from streamtables.scheduler.due import Timing, next_due
from streamtables.scheduler.schedule import Cron, Every, Manual, OnChange, Schedule, parse_schedule
from streamtables.scheduler.tiers import scaled
from streamtables.scheduler.windows import Window, ends_at, is_within, parse_windows

MIDNIGHT = datetime(2026, 6, 1, tzinfo=UTC)
DAY = 86_400
TABLES = 10_000
SCHEDULES = (
    "15 minutes",
    "30 minutes",
    "1 hour",
    "2 hours",
    "6 hours",
    "cron 0 * * * *",
    "cron 30 4,16 * * * Europe/Berlin",
    "on change at most every 20 minutes",
    "calculated",
    "manual",
)
TIERS = ("hot", "hot", "hot", "warm", "cold", "hot", "frozen")
OFFICE_HOURS = parse_windows("daily 08:00-18:00")
SOURCE_CHANGES = timedelta(minutes=50)


@dataclass
class Table:
    timing: Timing
    blackout: tuple[Window, ...] = ()
    starts: list[datetime] = field(default_factory=list)

    @property
    def interval(self) -> float | None:
        """The seconds between two starts, where they are evenly spaced."""
        said = self.timing.schedule
        return scaled(said.seconds, self.timing.tier) if isinstance(said, Every) else None


def tables_of_a_shop(count: int) -> dict[InputId, Table]:
    ids = [InputId(str(number)) for number in range(count)]
    said = {table: parsed(SCHEDULES[place % len(SCHEDULES)]) for place, table in enumerate(ids)}
    tiers = {table: TIERS[place // 3 % len(TIERS)] for place, table in enumerate(ids)}
    # Only later tables read earlier ones.  The readers of a calculated table are then a manual one,
    # one of each half hour, one of each second hour, and an hourly cron.
    consumers = {table: ids[place + 1 : place + 8 : 2] for place, table in enumerate(ids)}
    effective = effective_schedules(said, tiers, consumers)
    return {
        table: Table(
            # Spread over the first quarter of an hour, as definitions are.
            Timing(effective[table], tiers[table], None, MIDNIGHT + timedelta(seconds=place % 900)),
            OFFICE_HOURS if place % 10 in (1, 5) and place % 3 == 0 else (),
        )
        for place, table in enumerate(ids)
    }


@cache
def parsed(text: str) -> Schedule:
    return parse_schedule(text)


def run_a_day(
    tables: Mapping[InputId, Table], awake: Callable[[datetime], datetime] = lambda moment: moment
) -> None:
    """Start each table when it is due; `awake` gives the moment at which somebody looks."""
    heap = [
        (due, table)
        for table, entry in tables.items()
        if (due := next_due(entry.timing, MIDNIGHT)) is not None
    ]
    heapq.heapify(heap)
    end = MIDNIGHT + timedelta(seconds=DAY)
    while heap and heap[0][0] < end:
        due, table = heapq.heappop(heap)
        if (following := look_at(tables[table], awake(max(due, MIDNIGHT)))) is not None:
            heapq.heappush(heap, (following, table))


def look_at(table: Table, now: datetime) -> datetime | None:
    """Start a table or not, and return when to look at it again."""
    if is_within(table.blackout, now) is not None:
        return ends_at(table.blackout, now)
    if now < table.timing.created_at:
        return table.timing.created_at
    if isinstance(table.timing.schedule, OnChange) and not has_changed(table, now):
        return next_change(now)
    table.starts.append(now)
    table.timing = replace(table.timing, last_started=now)
    return next_due(table.timing, now)


def next_change(now: datetime) -> datetime:
    return MIDNIGHT + ((now - MIDNIGHT) // SOURCE_CHANGES + 1) * SOURCE_CHANGES


def has_changed(table: Table, now: datetime) -> bool:
    return not table.starts or next_change(table.starts[-1]) <= now


def test_ten_thousand_tables_run_as_often_as_they_should_for_a_day() -> None:
    tables = tables_of_a_shop(TABLES)
    run_a_day(tables)
    kinds = {type(table.timing.schedule) for table in tables.values()}
    assert kinds == {Every, Cron, OnChange, Manual}
    for table in tables.values():
        check(table)
    assert sum(len(table.starts) for table in tables.values()) > 10 * TABLES


def check(table: Table) -> None:
    said, starts = table.timing.schedule, table.starts
    if isinstance(said, Manual) or table.timing.tier == "frozen":
        assert not starts
        return
    if table.blackout:
        assert not any(8 <= start.hour < 18 for start in starts)
    match said:
        case Every():
            check_rhythm(table)
        case Cron("0 * * * *", _):
            # What fires during the window comes together with the fire at its end.
            hours = [hour for hour in range(1, 24) if not (table.blackout and 8 <= hour < 18)]
            assert [start.hour for start in starts] == hours
        case Cron():
            assert [f"{start:%H:%M}" for start in starts] == ["02:30", "14:30"]
        case OnChange():
            # Each change of the source is followed by one start; a cold table waits for its time.
            waits = max(scaled(1_200, table.timing.tier) or 0, SOURCE_CHANGES.total_seconds())
            assert abs(len(starts) - DAY / waits) <= 1


def check_rhythm(table: Table) -> None:
    interval, starts = table.interval, table.starts
    assert interval is not None
    assert starts
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(starts)]
    if table.blackout:
        # Held back once a day, and never longer than to the end of the window.
        assert all(interval <= gap <= max(interval, 36_000) + interval for gap in gaps)
    else:
        assert abs(len(starts) - DAY / interval) <= 1
        assert set(gaps) <= {interval}


def test_what_came_due_during_a_stop_starts_once_and_goes_on_from_there() -> None:
    stop, back = MIDNIGHT + timedelta(hours=10), MIDNIGHT + timedelta(hours=13)
    tables = tables_of_a_shop(500)
    run_a_day(tables, awake=lambda moment: back if stop <= moment < back else moment)
    for table in tables.values():
        if table.interval is not None and not table.blackout:
            assert not any(stop <= start < back for start in table.starts)
            at_return = [start for start in table.starts if start == back]
            due_meanwhile = next(
                start for start in reversed(table.starts) if start < stop
            ) + timedelta(seconds=table.interval)
            assert len(at_return) == (due_meanwhile < back)
            after = [start for start in table.starts if start >= back]
            gaps = {(later - earlier).total_seconds() for earlier, later in pairwise(after)}
            assert gaps <= {table.interval}
