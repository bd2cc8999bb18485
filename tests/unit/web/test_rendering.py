"""How numbers, durations and charts are written."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from streamtables.web.drawing.charts import (
    Point,
    _round_up,
    _round_up_seconds,
    line_chart,
    stacked_bars,
)
from streamtables.web.rendering import moment, number, seconds

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0, "0 s"), (0.0341, "34 ms"), (2.54, "2.5 s"), (59.94, "59.9 s"), (60, "1 min"),
        (0.9996, "1.0 s"), (59.96, "1 min"),
        (75, "1 min 15 s"), (3600, "1 h"), (7_260, "2 h 1 min"), (86_400, "1 d 0 h"), (200_000, "2 d 7 h"),
    ],
)  # fmt: skip
def test_durations_are_in_the_unit_that_reads_best(value: float | None, text: str):
    assert seconds(value) == text


def test_numbers_have_their_thousands_apart():
    assert number(1_234_567) == "1,234,567"
    assert number(None) == "–"


def test_a_moment_is_utc_whatever_its_zone():
    shown = moment(NOW.astimezone(tz=None))
    assert 'datetime="2030-01-01T12:00:00+00:00"' in shown
    assert ">2030-01-01 12:00:00 UTC</time>" in shown


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1), (7, 10), (0.31, 0.5), (42, 50), (100, 100), (101, 200)]
)
def test_the_top_of_a_chart_is_a_round_number(value: float, top: float):
    assert _round_up(value) == pytest.approx(top)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "1.0 s"), (0.3, "500 ms"), (11, "20.0 s"), (42, "1 min"), (101, "2 min"), (180, "3 min"),
     (4_000, "2 h"), (40_000, "12 h"), (100_000, "2 d 0 h"), (900_000, "20 d 0 h")],
)  # fmt: skip
def test_the_top_of_a_chart_of_durations_reads_well(value: float, text: str):
    assert seconds(_round_up_seconds(value)) == text


def test_bars_are_as_high_as_their_counts():
    chart = stacked_bars([[("applied", 3), ("failed", 1)], [("applied", 0), ("failed", 0)]], "x")
    bars = re.findall(
        r'class="(\w+)" x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"', chart.svg
    )
    assert chart.top == 5
    assert [(kind, float(height)) for kind, _, height in bars] == [
        ("applied", 55.2),
        ("failed", 18.4),
    ]


def test_a_line_leaves_out_what_is_not_in_its_hour():
    points = [Point(NOW - timedelta(hours=2), 900.0), Point(NOW - timedelta(minutes=30), 40.0)]
    chart = line_chart(points, NOW - timedelta(hours=1), NOW, "lag", [NOW - timedelta(minutes=15)])
    assert chart.top == 60
    assert 'x1="450.0"' in chart.svg
    assert not chart.empty
    assert line_chart([], NOW - timedelta(hours=1), NOW, "lag").empty


def test_a_label_is_escaped():
    assert 'aria-label="&lt;b&gt;"' in stacked_bars([], "<b>").svg
