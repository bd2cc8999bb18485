"""The simulation of shared reads counts every row once, and reads no more often than needed."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.broker_simulation import Cost, Costs, Load, brokered, direct, refreshes

FREE = Cost(0, 0)
PER_ROW = Cost(0, 1e6)
LOAD = Load(rows_per_second=1.0, tolerance=30.0)


def test_one_catalog_alone_reads_as_often_and_pays_for_publishing():
    day = refreshes(1, Random(1))
    costs = Costs(Cost(1, 0), Cost(1, 0), FREE, lease=0.5)
    assert direct(day, LOAD, costs).seconds == len(day)
    assert brokered(day, LOAD, costs).seconds == 2.5 * len(day)


def test_every_changed_row_is_read_once_for_all():
    day = refreshes(6, Random(1))
    costs = Costs(PER_ROW, FREE, FREE, lease=0.0)
    last = {catalog: moment for moment, catalog in day}
    assert direct(day, LOAD, costs).seconds == pytest.approx(sum(last.values()))
    assert brokered(day, LOAD, costs).seconds <= max(last.values()) + 1e-6


def test_without_an_age_that_is_allowed_every_refresh_reads():
    day = refreshes(6, Random(1))
    costs = Costs(FREE, FREE, FREE, lease=0.0)
    total = brokered(day, Load(1.0, tolerance=0.0), costs)
    assert (total.reads, total.age) == (len(day), 0.0)


def test_no_refresh_is_older_than_allowed():
    day = refreshes(20, Random(1))
    total = brokered(day, LOAD, Costs(FREE, FREE, FREE, lease=0.0))
    assert 0 < total.age <= LOAD.tolerance
    assert total.reads < len(day)
