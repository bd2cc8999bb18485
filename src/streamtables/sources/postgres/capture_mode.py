"""Triggers or WAL: which way a source is captured, and when it moves.  Pure.

A move has two halves.  First both ways capture, from a moment at which no writer is open that the
new way does not see.  A drain then brings the mirror past that moment; from the next drain on the
new way counts, and the old one is taken down.

    triggers ──start──▶ triggers, moving to wal ──finish──▶ wal
    wal ──start──▶ wal, moving to triggers ──finish──▶ triggers
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streamtables.catalog.models import CaptureMode, CaptureWish

Move = Literal["stay", "start", "finish", "abandon", "copy"]
Fallback = Literal["blocked", "moving", "slot-lost", "slot-too-large"]


@dataclass(frozen=True)
class CaptureFacts:
    """What the choice depends on."""

    wish: CaptureWish
    mode: CaptureMode
    moving_to: CaptureMode | None
    wal_blocks: tuple[str, ...] = ()
    """Every reason why the WAL cannot be used."""
    drained_since_start: bool = False
    """Whether a drain has been recorded since both ways capture."""
    lag_bytes: int = 0
    lag_bytes_max: int = 0
    slot_lost: str = ""
    """Why the slot no longer leads on, or empty."""
    retained_bytes: int = 0
    retained_bytes_max: int = 1 << 62


@dataclass(frozen=True)
class CaptureStep:
    """What to do with a capture now, and why."""

    move: Move
    to: CaptureMode
    reason: str
    cause: Fallback | None = None
    """What people should be told of a step away from the WAL, beyond its reason."""


def next_step(facts: CaptureFacts) -> CaptureStep:
    """Return the next step of a capture."""
    if facts.moving_to is not None:
        return _moving(facts, facts.moving_to)
    if facts.mode == "wal":
        return _on_wal(facts)
    if facts.wish == "triggers":
        return CaptureStep("stay", "triggers", "triggers were asked for")
    if facts.wal_blocks:
        return CaptureStep("stay", "triggers", "; ".join(facts.wal_blocks))
    return CaptureStep("start", "wal", "the server allows the WAL to be read")


def _on_wal(facts: CaptureFacts) -> CaptureStep:
    if facts.slot_lost:
        if facts.wish == "wal" and not facts.wal_blocks:
            return CaptureStep("copy", "wal", facts.slot_lost)
        return CaptureStep("copy", "triggers", facts.slot_lost)
    if facts.wish == "triggers":
        return CaptureStep("start", "triggers", "triggers were asked for")
    if facts.retained_bytes > facts.retained_bytes_max:
        reason = f"the slot holds back {facts.retained_bytes:,} bytes of the log"
        return CaptureStep("start", "triggers", reason, "slot-too-large")
    if facts.wal_blocks and facts.wish == "auto":
        return CaptureStep("start", "triggers", "; ".join(facts.wal_blocks))
    return CaptureStep("stay", "wal", "the WAL is read")


def fallback(facts: CaptureFacts, mode: CaptureMode) -> Fallback | None:
    """Return why triggers capture a table that the WAL should; None where all is as wished.

    `mode` is how it is captured after the step that follows from the facts.
    """
    if facts.wish == "triggers" or mode == "wal":
        return None
    if facts.slot_lost:
        return "slot-lost"
    if facts.retained_bytes > facts.retained_bytes_max:
        return "slot-too-large"
    return "blocked" if facts.wal_blocks else "moving"


def _moving(facts: CaptureFacts, to: CaptureMode) -> CaptureStep:
    if to == "wal":
        if facts.slot_lost or facts.wal_blocks:
            reason = facts.slot_lost or "; ".join(facts.wal_blocks)
            return CaptureStep("abandon", "triggers", reason)
        if not facts.drained_since_start:
            return CaptureStep("stay", "triggers", "a drain has to pass the start of the WAL")
        if facts.lag_bytes > facts.lag_bytes_max:
            reason = f"the WAL is {facts.lag_bytes:,} bytes behind"
            return CaptureStep("stay", "triggers", reason)
        return CaptureStep("finish", "wal", "the WAL has caught up")
    if facts.slot_lost:
        return CaptureStep("copy", "triggers", facts.slot_lost)
    if not facts.drained_since_start:
        return CaptureStep("stay", "wal", "a drain has to pass the start of the triggers")
    return CaptureStep("finish", "triggers", "the triggers capture everything since the last drain")
