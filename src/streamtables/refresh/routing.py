"""How a small change is written into a large table: a pure choice between the two hands.

    replace-keys   by deltalake, in this process: every file with a touched row is read and written
    merge          by Spark: the same files, on all its cores, and what starting that takes

What rows the change has is known by then, and which files it touches.  Seconds are expected by the
rates of this release, corrected by what the last writes of the table took against them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from streamtables.refresh.cost_model import weighted_median

Hand = Literal["replace-keys", "merge"]
HANDS: tuple[Hand, ...] = ("replace-keys", "merge")

ROUTED_FROM = 64 * 1024 * 1024
"""What rewrites fewer bytes is never worth a Spark job."""
_STAYS_WITHIN = 0.8
"""The other hand has to take less than this share, so that a choice does not swing."""
_FADING = 0.8


@dataclass(frozen=True)
class Write:
    """What is to be written."""

    rows: int
    files: int
    size: int
    """Bytes of the files that have to be written anew."""


@dataclass(frozen=True)
class WriteRates:
    """Seconds that a write takes by one hand."""

    fixed: float
    file: float
    byte: float

    def seconds(self, write: Write) -> float:
        """Return what a write takes."""
        return self.fixed + self.file * write.files + self.byte * write.size


WRITE_RATES: Mapping[Hand, WriteRates] = {
    "replace-keys": WriteRates(0.05, 0.01, 3.0e-8),
    "merge": WriteRates(2.0, 0.02, 2.0e-8),
}
"""On the reference machine: 2 cores, a local disk.  `python -m benchmarks.strategies` measures."""


@dataclass(frozen=True)
class Written:
    """A write that was done."""

    hand: Hand
    write: Write
    seconds: float


@dataclass(frozen=True)
class Route:
    """The hand that was chosen, what each was expected to take, and whether that is a change."""

    hand: Hand
    expected: Mapping[Hand, float]
    write: Write
    before: Hand | None

    @property
    def flipped(self) -> str | None:
        """Say why another hand writes than the last time; None where it is the same."""
        if self.before in (None, self.hand):
            return None
        seconds = ", ".join(f"{hand} {self.expected[hand]:.1f} s" for hand in HANDS)
        touched = f"{self.write.files:,} files of {self.write.size / 2**20:,.0f} MB are touched"
        return (
            f"written by {self.hand} and no longer by {self.before}: {touched}; expected {seconds}"
        )


def route(write: Write, past: Sequence[Written]) -> Route:
    """Choose the hand for a write; the newest of the past comes first."""
    expected = {hand: WRITE_RATES[hand].seconds(write) * _correction(hand, past) for hand in HANDS}
    before = past[0].hand if past else None
    stays = before or "replace-keys"
    other: Hand = "merge" if stays == "replace-keys" else "replace-keys"
    flips = expected[other] < _STAYS_WITHIN * expected[stays]
    return Route(other if flips else stays, expected, write, before)


def _correction(hand: Hand, past: Sequence[Written]) -> float:
    """Return what the last writes by a hand took against the rates."""
    own = [item for item in past if item.hand == hand]
    if not own:
        return 1.0
    return weighted_median(
        (item.seconds / WRITE_RATES[hand].seconds(item.write), _FADING**age)
        for age, item in enumerate(own)
    )
