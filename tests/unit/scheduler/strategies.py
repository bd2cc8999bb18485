"""Schedules, moments and windows at random, with a taste for days on which clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from streamtables.scheduler.durations import MOST_SECONDS
from streamtables.scheduler.schedule import Calculated, Cron, Every, Manual, OnChange
from streamtables.scheduler.windows import Window

START = datetime(2026, 1, 1, tzinfo=UTC)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu")
CHANGES_OF_CLOCKS = (
    datetime(2026, 3, 29, 1, tzinfo=UTC),
    datetime(2026, 10, 25, 1, tzinfo=UTC),
    datetime(2026, 3, 8, 7, tzinfo=UTC),
    datetime(2026, 11, 1, 6, tzinfo=UTC),
)

moments = st.one_of(
    st.builds(
        lambda change, seconds: change + timedelta(seconds=seconds),
        st.sampled_from(CHANGES_OF_CLOCKS),
        st.integers(-90_000, 90_000),
    ),
    st.builds(lambda seconds: START + timedelta(seconds=seconds), st.integers(0, MOST_SECONDS)),
)
durations = st.integers(1, MOST_SECONDS).map(float)
short_durations = st.sampled_from([1.0, 7.0, 60.0, 300.0, 3_600.0, 86_400.0])
crons = st.builds(
    Cron,
    st.builds(
        "{} {} {} * {}".format,
        st.sampled_from(["0", "30", "*", "*/7", "5,35", "0-10"]),
        st.sampled_from(["*", "*/2", "2", "1-3", "0", "23", "2,3"]),
        st.sampled_from(["*", "*", "1-7", "29"]),
        st.sampled_from(["*", "*", "sun", "mon-fri"]),
    ),
    st.sampled_from(ZONES),
)
timed = st.one_of(st.builds(Every, short_durations), crons)
schedules = st.one_of(
    st.builds(Every, durations),
    crons,
    st.builds(OnChange, st.one_of(st.just(0.0), durations)),
    st.just(Calculated()),
    st.just(Manual()),
)
windows = st.builds(
    Window,
    st.sets(st.integers(0, 6), min_size=1, max_size=6).map(lambda days: tuple(sorted(days))),
    st.integers(0, 719),
    st.integers(720, 1_440),
    st.sampled_from(ZONES),
) | st.builds(
    Window,
    st.sets(st.integers(0, 6), min_size=1).map(lambda days: tuple(sorted(days))),
    st.integers(720, 1_439),
    st.integers(1, 719),
    st.sampled_from(ZONES),
)
