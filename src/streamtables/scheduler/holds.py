"""Why a table that is due does not start: the first of the reasons that hold it back.

Each reason is a sentence for people, and says until when it holds where that is known.  Reasons
concern the table itself, what it stands on, or what people have said about all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from streamtables.catalog.models import StreamTable
from streamtables.catalog.scheduler_models import EVERYTHING, Rules, pause_scopes
from streamtables.positions import InputId
from streamtables.scheduler.gates import (
    Gate,
    WatermarkGroup,
    blocked_by_gate,
    blocked_by_watermark,
    concerns,
)
from streamtables.scheduler.options import TableOptions
from streamtables.scheduler.windows import Window, ends_at, is_within

STOPPED = ("paused", "suspended", "damaged")
"""The states in which a table is not refreshed by itself."""


@dataclass(frozen=True)
class Hold:
    """What holds a table back, and until when, where that is known."""

    kind: str
    text: str
    until: datetime | None = None
    about: str = ""
    """What stays the same while only the time in the text is another."""

    def is_same(self, other: Hold) -> bool:
        """Whether both say the same, but for a time that moved on."""
        return self.text == other.text or (bool(self.about) and self.about == other.about)


@dataclass(frozen=True)
class Standstill:
    """What is known of one table when it is asked whether it may start."""

    table: StreamTable
    options: TableOptions
    roots: frozenset[InputId]
    ancestors: tuple[StreamTable, ...]
    not_before: Mapping[InputId, datetime]
    """Tables that wait after a failure, and until when."""
    blackouts: Mapping[InputId, tuple[Window, ...]] = field(default_factory=dict)
    """When nothing starts by itself of the ancestors that it would bring along."""


def namespace_of(name: str) -> str:
    """Return the namespace of a table's name: what stands before its dot."""
    head, dot, _ = name.rpartition(".")
    return head.lower() if dot else "default"


def held_back(
    facts: Standstill,
    rules: Rules,
    names: Mapping[InputId, str],
    watermarks: Callable[[], Mapping[InputId, datetime]],
    now: datetime,
) -> Hold | None:
    """Return the first reason that holds a table back, or None."""
    return (
        _by_state(facts.table)
        or _by_pause(facts.table, rules)
        or _by_ancestor(facts, rules, now)
        or _by_gate(facts, rules, names)
        or _by_watermark(facts, rules, names, watermarks)
        or _by_blackout(facts.options.blackout, now)
    )


def is_paused(table: StreamTable, rules: Rules) -> bool:
    """Whether people have said that a table stands still."""
    return table.state == "paused" or _by_pause(table, rules) is not None


def _by_state(table: StreamTable) -> Hold | None:
    if table.state not in STOPPED:
        return None
    return Hold(table.state, table.state_reason or f"it is {table.state}")


def _by_pause(table: StreamTable, rules: Rules) -> Hold | None:
    for scope in pause_scopes(namespace_of(table.name)):
        if (pause := rules.pauses.get(scope)) is not None:
            what = "everything" if scope == EVERYTHING else f"the {scope.replace(':', ' ')}"
            return Hold("paused", f"{what} is paused: {pause.reason}")
    return None


def _by_ancestor(facts: Standstill, rules: Rules, now: datetime) -> Hold | None:
    for ancestor in facts.ancestors:
        if found := _by_state(ancestor) or _by_pause(ancestor, rules):
            return Hold("upstream", f'"{ancestor.name}", which it reads, waits: {found.text}')
        until = facts.not_before.get(ancestor.id)
        if until is not None and until > now:
            text = f'"{ancestor.name}", which it reads, is tried again at {shown(until)}'
            return Hold("upstream", text, until, about=f"retry of {ancestor.id}")
        if found := _by_blackout(facts.blackouts.get(ancestor.id, ()), now):
            text = f'"{ancestor.name}", which it reads, waits: {found.text}'
            return Hold("upstream", text, found.until)
    return None


def _by_gate(facts: Standstill, rules: Rules, names: Mapping[InputId, str]) -> Hold | None:
    gates = [Gate(key, True, gate.reason) for key, gate in rules.gates.items()]
    gate = blocked_by_gate(facts.roots, gates)
    if gate is None:
        return None
    name = names.get(gate.source_id, gate.source_id)
    return Hold("gate", f'the gate of source "{name}" is closed: {gate.reason}')


def _by_watermark(
    facts: Standstill,
    rules: Rules,
    names: Mapping[InputId, str],
    watermarks: Callable[[], Mapping[InputId, datetime]],
) -> Hold | None:
    groups = (
        WatermarkGroup(group.name, group.sources, group.tolerance_seconds, group.until)
        for group in rules.groups
    )
    concerned = [group for group in groups if concerns(group, facts.roots)]
    if not concerned:
        return None
    blocked = blocked_by_watermark(facts.roots, concerned, watermarks(), names)
    return None if blocked is None else Hold("watermark", blocked.reason)


def _by_blackout(windows: Sequence[Window], now: datetime) -> Hold | None:
    if is_within(windows, now) is None:
        return None
    until = ends_at(windows, now)
    return Hold("blackout", f"its blackout window lasts until {shown(until)}", until)


def shown(moment: datetime) -> str:
    """Return a moment for people."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
