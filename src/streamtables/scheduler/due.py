"""From which moment on a stream table is due.

    Every      the last start + the interval, stretched by the tier; at once if it never started
    Cron       the first fire after the last start, or after the definition
    OnChange   the first moment at which a change may start it

Time is counted from the last start, so what was missed comes together: after a long stop a table is
due once, and then follows its rhythm from there.

Invariant: a table that is due stays due until it is started.  Only a last start that lies in the
future, by a clock that went back, can turn true while the table waits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias, assert_never

from streamtables.scheduler.cron import next_fire
from streamtables.scheduler.schedule import Calculated, Cron, Every, Manual, OnChange, Schedule
from streamtables.scheduler.tiers import TIER_FACTOR, scaled

Following: TypeAlias = Callable[[datetime], datetime | None]
"""From a start to the moment at which the next one is due."""


@dataclass(frozen=True)
class Timing:
    """What it depends on when a table is due; all times are in UTC."""

    schedule: Schedule
    tier: str
    last_started: datetime | None
    created_at: datetime
    not_before: datetime | None = None
    """A back-off or a gate: nothing starts earlier, whatever the schedule says."""


def next_due(timing: Timing, now: datetime) -> datetime | None:
    """Return the moment from which the table is due: now or earlier means at once.

    None means that no time makes it due: it is manual or frozen.  For `OnChange` it is the first
    moment at which a change may start it; whether there is one, the caller knows.
    """
    if TIER_FACTOR[timing.tier] is None:
        return None
    due = _by_schedule(timing, now)
    if due is None or timing.not_before is None:
        return due
    return max(due, timing.not_before)


def passed_over(timing: Timing, upto: datetime) -> datetime | None:
    """Return the last start of a table that was due and lacked nothing, time after time.

    It is the last moment of its rhythm that is not after `upto`, as if it had been looked at in
    each of them.
    """
    last = timing.last_started
    if last is None or last >= upto:
        return last
    match timing.schedule:
        case Every(seconds) if interval := scaled(seconds, timing.tier):
            step = timedelta(seconds=interval)
            return last + (upto - last) // step * step
        case Cron():
            return upto
        case _:
            return last


def came_together(timing: Timing, now: datetime) -> datetime | None:
    """Return since when a table is due, if a second of its times came while it waited.

    None where it starts in time, or follows changes, which have no times to miss.
    """
    if timing.last_started is None or isinstance(timing.schedule, OnChange):
        return None
    due = _by_schedule(timing, now)
    if due is None:
        return None
    again = _by_schedule(replace(timing, last_started=due), now)
    return due if again is not None and due < again <= now else None


def _by_schedule(timing: Timing, now: datetime) -> datetime | None:
    match timing.schedule:
        case Manual() | Calculated():
            return None
        case Every() | OnChange() if timing.last_started is None:
            return min(timing.created_at, now)
        case Every(seconds) | OnChange(seconds):
            interval = timedelta(seconds=scaled(seconds, timing.tier) or 0)
            return _after_last_start(timing, now, lambda start: start + interval)
        case Cron(expression, zone):
            return _after_last_start(timing, now, partial(next_fire, expression, zone))
        case _:
            assert_never(timing.schedule)


def _after_last_start(timing: Timing, now: datetime, following: Following) -> datetime | None:
    last = timing.last_started or timing.created_at
    if last > now and (normal := following(now)) is not None and last > normal:
        # A start that lies ahead of the next one was never made: the clock went back.  Waiting for
        # it to come true could take years, so the table starts once and counts from there.  A
        # clock that went back by less only makes it wait longer.
        return now
    return following(last)
