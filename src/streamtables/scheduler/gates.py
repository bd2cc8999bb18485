"""What holds a stream table back because of its sources: closed gates, and watermarks apart.

A gate is closed by hand while a source must not be read, such as during a load.  A watermark is
the moment up to which a source is complete; sources of a group are read together only while their
watermarks lie close to each other, and only once they have reached a time, where the group has one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from streamtables.positions import InputId
from streamtables.scheduler.durations import duration_text

Watermarks: TypeAlias = Mapping[InputId, datetime]


@dataclass(frozen=True)
class Gate:
    """Whether a source may be read now, and who or what says so."""

    source_id: InputId
    closed: bool
    reason: str


@dataclass(frozen=True)
class WatermarkGroup:
    """Sources that belong together: how far apart they may be, and what they must reach."""

    name: str
    sources: tuple[InputId, ...]
    tolerance_seconds: float
    until: datetime | None = None


@dataclass(frozen=True)
class Blocked:
    """The group that holds a table back, and why, in a sentence for people."""

    group: str
    reason: str


def blocked_by_gate(roots: Collection[InputId], gates: Iterable[Gate]) -> Gate | None:
    """Return the first closed gate of a source that a table stands on."""
    return next((gate for gate in gates if gate.closed and gate.source_id in roots), None)


def blocked_by_watermark(
    roots: Collection[InputId],
    groups: Iterable[WatermarkGroup],
    watermarks: Watermarks,
    names: Mapping[InputId, str] | None = None,
) -> Blocked | None:
    """Return the first group whose sources have not come far or close enough for a table.

    A table waits for those sources of a group that it reads, and for no others.  `names` are what
    the reason calls the sources by.
    """
    for group in groups:
        read = [source for source in group.sources if source in roots]
        if reason := _short_of(read, group.until, watermarks, names or {}):
            return Blocked(group.name, reason)
        if len(read) > 1 and (reason := _apart(read, group, watermarks, names or {})):
            return Blocked(group.name, reason)
    return None


def concerns(group: WatermarkGroup, roots: Collection[InputId]) -> bool:
    """Whether a group can hold back a table that stands on some sources."""
    return len(set(group.sources).intersection(roots)) > (0 if group.until else 1)


def _short_of(
    sources: list[InputId],
    until: datetime | None,
    watermarks: Watermarks,
    names: Mapping[InputId, str],
) -> str:
    """Return which source has not reached a time, or nothing."""
    if until is None:
        return ""
    for source in sources:
        at = watermarks.get(source)
        if at is None or at < until:
            far = "has no watermark yet" if at is None else f"is complete up to {_shown(at)}"
            return f'source "{names.get(source, source)}" {far}; {_shown(until)} is waited for'
    return ""


def _apart(
    sources: list[InputId],
    group: WatermarkGroup,
    watermarks: Watermarks,
    names: Mapping[InputId, str],
) -> str:
    """Return why the sources cannot be read together, or nothing."""
    for source in sources:
        if source not in watermarks:
            return f'source "{names.get(source, source)}" has no watermark yet'
    behind = min(sources, key=lambda source: watermarks[source])
    ahead = max(sources, key=lambda source: watermarks[source])
    apart = (watermarks[ahead] - watermarks[behind]).total_seconds()
    if apart <= group.tolerance_seconds:
        return ""
    return (
        f'source "{names.get(behind, behind)}" is complete up to {_shown(watermarks[behind])}, '
        f'"{names.get(ahead, ahead)}" up to {_shown(watermarks[ahead])}; '
        f"at most {duration_text(group.tolerance_seconds)} apart is permitted"
    )


def _shown(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
