"""The schedules of tables that leave theirs to the tables that read them.

A calculated table is as fresh as the most demanding of its readers needs it.  Readers may be
calculated too, so readers come first.  A cron or manual reader asks for nothing: when it is
refreshed, what it reads comes along.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from graphlib import TopologicalSorter

from streamtables.positions import InputId
from streamtables.scheduler.schedule import Calculated, Every, Manual, OnChange, Schedule
from streamtables.scheduler.tiers import scaled


def effective_schedules(
    schedules: Mapping[InputId, Schedule],
    tiers: Mapping[InputId, str],
    consumers: Mapping[InputId, Collection[InputId]],
) -> dict[InputId, Schedule]:
    """Return every table's schedule with each `Calculated` replaced by what its readers need.

    What a reader needs is its own schedule, stretched by its own tier.
    """
    effective = dict(schedules)
    for table in _readers_first(schedules, consumers):
        needs = [
            needed
            for reader in consumers.get(table, ())
            if reader in effective
            and (needed := _needed(effective[reader], tiers.get(reader, "hot"))) is not None
        ]
        effective[table] = min(needs, key=_looseness, default=Manual())
    return effective


def _readers_first(
    schedules: Mapping[InputId, Schedule], consumers: Mapping[InputId, Collection[InputId]]
) -> list[InputId]:
    """Return the calculated tables, each after those of its readers that are calculated."""
    calculated = {table for table, said in schedules.items() if isinstance(said, Calculated)}
    graph = {
        table: [reader for reader in consumers.get(table, ()) if reader in calculated]
        for table in calculated
    }
    return list(TopologicalSorter(graph).static_order())


def _needed(schedule: Schedule, tier: str) -> Every | OnChange | None:
    match schedule:
        case Every(seconds):
            interval = scaled(seconds, tier)
            return None if interval is None else Every(interval)
        case OnChange(at_most_every):
            interval = scaled(at_most_every, tier)
            return None if interval is None else OnChange(interval)
        case _:
            return None


def _looseness(schedule: Every | OnChange) -> tuple[float, bool]:
    # Of two that run as often, the one that runs as soon as something changed is the tighter.
    match schedule:
        case Every(seconds):
            return seconds, True
        case OnChange(at_most_every):
            return at_most_every, False
