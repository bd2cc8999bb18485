"""What a snapshot sees, ids that wrap, and places in the log."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.errors import InternalError
from streamtables.sources.postgres.snapshot import (
    Snapshot,
    end_of_log,
    lsn_number,
    lsn_text,
    widen,
)
from streamtables.sources.postgres.wal import confirmable

BLOCK, SEGMENT = 8192, 1 << 24


def test_a_snapshot_sees_what_was_done_and_not_what_was_open() -> None:
    seen = Snapshot.parse("10:20:12,15")
    xids = np.array([9, 10, 12, 14, 15, 19, 20, 21])
    assert seen.sees(xids).tolist() == [True, True, False, True, False, True, False, False]


def test_a_snapshot_without_open_transactions_is_one_edge() -> None:
    assert Snapshot.parse("7:7:").sees(np.array([6, 7])).tolist() == [True, False]


@pytest.mark.parametrize("text", ["", "7", "7:8", "a:b:", "1:2:3:4"])
def test_other_text_is_not_a_snapshot(text: str) -> None:
    with pytest.raises(InternalError):
        Snapshot.parse(text)


@given(st.integers(3, 2**62), st.integers(-(2**31) + 1, 2**31 - 1))
def test_an_id_is_found_again_from_its_lower_half(near: int, apart: int) -> None:
    xid = near + apart
    if xid < 3:
        return
    assert widen(np.array([xid % 2**32]), near).tolist() == [xid]


def test_ids_of_a_young_server_are_never_negative() -> None:
    assert widen(np.array([2**32 - 5]), 10).tolist() == [2**32 - 5]


@given(st.integers(0, 2**63 - 1))
def test_a_place_in_the_log_is_read_back(number: int) -> None:
    assert lsn_number(lsn_text(number)) == number


def test_a_place_in_the_log_is_written_as_the_server_does() -> None:
    assert lsn_text(0x16_B374D848) == "16/B374D848"


@pytest.mark.parametrize(
    ("insert_at", "end"),
    [
        (3 * BLOCK + 24, 3 * BLOCK),
        (3 * BLOCK + 40, 3 * BLOCK + 40),
        (2 * SEGMENT + 40, 2 * SEGMENT),
        (2 * SEGMENT + 64, 2 * SEGMENT + 64),
        (3 * BLOCK + 800, 3 * BLOCK + 800),
    ],
)
def test_a_header_that_nobody_wrote_is_not_part_of_the_log(insert_at: int, end: int) -> None:
    assert end_of_log(insert_at, block=BLOCK, segment=SEGMENT) == end


def test_a_slot_is_confirmed_up_to_what_was_held_back() -> None:
    assert confirmable("0/500", None) == "0/500"
    assert confirmable("0/500", 0x300) == "0/300"
    assert confirmable("0/500", 0x600) == "0/500"
