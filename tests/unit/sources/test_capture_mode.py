"""When a source moves between triggers and WAL."""

from __future__ import annotations

from itertools import product
from typing import cast

from streamtables.catalog.models import CaptureMode, CaptureWish
from streamtables.sources.postgres.capture_mode import CaptureFacts, fallback, next_step

BLOCKED = ("wal_level is replica",)


def step(**facts):
    defaults = {"wish": "auto", "mode": "triggers", "moving_to": None}
    found = next_step(CaptureFacts(**{**defaults, **facts}))
    return found.move, found.to


def test_auto_starts_with_triggers_and_moves_to_the_wal_when_the_server_allows_it():
    assert step() == ("start", "wal")
    assert step(wal_blocks=BLOCKED) == ("stay", "triggers")
    assert (
        next_step(CaptureFacts("auto", "triggers", None, wal_blocks=BLOCKED)).reason == BLOCKED[0]
    )


def test_triggers_that_were_asked_for_stay():
    assert step(wish="triggers") == ("stay", "triggers")
    assert step(wish="triggers", mode="wal") == ("start", "triggers")


def test_a_move_ends_only_after_a_drain_and_when_the_wal_has_caught_up():
    moving = {"moving_to": "wal", "lag_bytes_max": 100}
    assert step(**moving) == ("stay", "triggers")
    assert step(**moving, drained_since_start=True, lag_bytes=101) == ("stay", "triggers")
    assert step(**moving, drained_since_start=True, lag_bytes=100) == ("finish", "wal")


def test_a_move_to_the_wal_is_abandoned_when_the_wal_cannot_be_read():
    assert step(moving_to="wal", wal_blocks=BLOCKED) == ("abandon", "triggers")
    assert step(moving_to="wal", slot_lost="the slot is gone") == ("abandon", "triggers")


def test_lag_alone_never_leads_back_to_triggers():
    assert step(mode="wal", lag_bytes=10**12) == ("stay", "wal")


def test_a_lost_slot_means_a_new_copy():
    assert step(mode="wal", slot_lost="the slot is gone") == ("copy", "triggers")
    assert step(mode="wal", wish="wal", slot_lost="the slot is gone") == ("copy", "wal")
    assert step(mode="wal", moving_to="triggers", slot_lost="gone") == ("copy", "triggers")


def test_a_slot_that_holds_back_too_much_is_given_up_in_an_orderly_way():
    assert step(mode="wal", retained_bytes=2, retained_bytes_max=1) == ("start", "triggers")


def test_a_server_that_stops_allowing_the_wal_is_followed_only_where_the_choice_is_free():
    assert step(mode="wal", wal_blocks=BLOCKED) == ("start", "triggers")
    assert step(mode="wal", wish="wal", wal_blocks=BLOCKED) == ("stay", "wal")


def test_a_move_to_triggers_ends_after_a_drain():
    facts = {"mode": "wal", "moving_to": "triggers"}
    assert step(**facts) == ("stay", "wal")
    assert step(**facts, drained_since_start=True) == ("finish", "triggers")


def test_every_state_has_a_step_with_a_reason():
    for wish, mode, moving, blocks, drained, lost in product(
        ["auto", "triggers", "wal"],
        ["triggers", "wal"],
        [None, "other"],
        [(), BLOCKED],
        [False, True],
        ["", "the slot is gone"],
    ):
        other = "wal" if mode == "triggers" else "triggers"
        facts = CaptureFacts(
            cast("CaptureWish", wish),
            cast("CaptureMode", mode),
            cast("CaptureMode", other) if moving else None,
            wal_blocks=blocks,
            drained_since_start=drained,
            slot_lost=lost,
        )
        found = next_step(facts)
        assert found.reason
        if found.move == "stay":
            assert found.to == mode
        if found.move == "finish":
            assert drained
            assert found.to == other


def test_why_triggers_capture_what_the_wal_should():
    def why(mode: CaptureMode = "triggers", **facts):
        defaults = {"wish": "auto", "mode": "triggers", "moving_to": None}
        return fallback(CaptureFacts(**{**defaults, **facts}), mode)

    assert why(wish="triggers") is None
    assert why(mode="wal") is None
    assert why() == "moving"
    assert why(wal_blocks=BLOCKED) == "blocked"
    assert why(slot_lost="gone", wal_blocks=BLOCKED) == "slot-lost"
    assert why(retained_bytes=2, retained_bytes_max=1) == "slot-too-large"
