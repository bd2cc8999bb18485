"""Gates that are closed, and watermarks that are too far apart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from streamtables.positions import InputId
from streamtables.scheduler.gates import (
    Blocked,
    Gate,
    WatermarkGroup,
    blocked_by_gate,
    blocked_by_watermark,
    concerns,
)

ORDERS, LINES, RATES = InputId("orders"), InputId("lines"), InputId("rates")
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
SHOP = WatermarkGroup("shop", (ORDERS, LINES), tolerance_seconds=300)


def test_a_closed_gate_of_a_root_blocks() -> None:
    gates = [Gate(RATES, True, "a load runs"), Gate(ORDERS, False, ""), Gate(LINES, True, "audit")]
    assert blocked_by_gate({ORDERS, LINES}, gates) == gates[2]
    assert blocked_by_gate({RATES}, gates) == gates[0]
    assert blocked_by_gate({ORDERS}, gates) is None
    assert blocked_by_gate({ORDERS}, []) is None


@pytest.mark.parametrize("apart", [-300, 0, 300])
def test_watermarks_within_the_tolerance_do_not_block(apart: int) -> None:
    watermarks = {ORDERS: NOON, LINES: NOON + timedelta(seconds=apart)}
    assert blocked_by_watermark({ORDERS, LINES}, [SHOP], watermarks) is None


def test_watermarks_too_far_apart_block_with_both_times() -> None:
    watermarks = {ORDERS: NOON, LINES: NOON - timedelta(seconds=301)}
    names = {LINES: "order_lines"}
    assert blocked_by_watermark({ORDERS, LINES}, [SHOP], watermarks, names) == Blocked(
        "shop",
        'source "order_lines" is complete up to 2026-06-01 11:54:59 UTC, '
        '"orders" up to 2026-06-01 12:00:00 UTC; at most 5 minutes apart is permitted',
    )


def test_an_absent_watermark_blocks() -> None:
    blocked = blocked_by_watermark({ORDERS, LINES}, [SHOP], {ORDERS: NOON})
    assert blocked == Blocked("shop", 'source "lines" has no watermark yet')


def test_a_table_that_reads_one_source_of_a_group_does_not_wait() -> None:
    assert blocked_by_watermark({ORDERS, RATES}, [SHOP], {}) is None
    assert blocked_by_watermark({ORDERS, LINES}, [], {}) is None


def test_only_the_sources_that_a_table_reads_are_compared() -> None:
    group = WatermarkGroup("all", (ORDERS, LINES, RATES), tolerance_seconds=0)
    watermarks = {ORDERS: NOON, LINES: NOON, RATES: NOON - timedelta(days=1)}
    assert blocked_by_watermark({ORDERS, LINES}, [group], watermarks) is None
    blocked = blocked_by_watermark({ORDERS, RATES}, [SHOP, group], watermarks)
    assert blocked is not None
    assert blocked.group == "all"
    assert "at most 0 seconds apart" in blocked.reason


CLOSE = WatermarkGroup("close", (ORDERS, LINES), tolerance_seconds=300, until=NOON)


def test_a_group_with_a_time_blocks_until_all_that_are_read_have_reached_it() -> None:
    before, after = NOON - timedelta(seconds=1), NOON + timedelta(seconds=1)
    names = {LINES: "order_lines"}
    blocked = blocked_by_watermark({ORDERS, LINES}, [CLOSE], {ORDERS: NOON, LINES: before}, names)
    assert blocked == Blocked(
        "close",
        'source "order_lines" is complete up to 2026-06-01 11:59:59 UTC; '
        "2026-06-01 12:00:00 UTC is waited for",
    )
    absent = blocked_by_watermark({ORDERS, LINES}, [CLOSE], {ORDERS: after})
    assert absent is not None
    assert "has no watermark yet" in absent.reason
    for reached in (NOON, after):
        assert (
            blocked_by_watermark({ORDERS, LINES}, [CLOSE], {ORDERS: NOON, LINES: reached}) is None
        )


def test_a_time_holds_one_source_for_itself_and_the_tolerance_still_counts() -> None:
    assert blocked_by_watermark({ORDERS, RATES}, [CLOSE], {LINES: NOON}) is not None
    assert blocked_by_watermark({ORDERS, RATES}, [CLOSE], {ORDERS: NOON}) is None
    assert blocked_by_watermark({RATES}, [CLOSE], {}) is None
    far = {ORDERS: NOON, LINES: NOON + timedelta(hours=1)}
    blocked = blocked_by_watermark({ORDERS, LINES}, [CLOSE], far)
    assert blocked is not None
    assert "apart" in blocked.reason


def test_a_group_concerns_those_whom_it_can_hold_back() -> None:
    assert [concerns(group, {ORDERS, RATES}) for group in (SHOP, CLOSE)] == [False, True]
    assert [concerns(group, {ORDERS, LINES}) for group in (SHOP, CLOSE)] == [True, True]
    assert not concerns(CLOSE, {RATES})
