"""The limits that decide how a program is made, and where a query stands against them."""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.compiler.maintenance import Limits, Maintenance
from streamtables.compiler.maintenance.limits import widest_join
from streamtables.compiler.rewrites.mark_unchanged import tables_below

DEEP_JOIN = "deep_join_l0_scan_threshold"
SCANS = "part3_max_scan_count"


@dataclass(frozen=True)
class Threshold:
    """A setting, what a query has of what it limits, and what follows."""

    name: str
    limit: int
    value: int
    effect: str
    advice: str

    @property
    def crossed(self) -> bool:
        """Whether the query is beyond the limit."""
        return self.value > self.limit


def thresholds(maintenance: Maintenance, limits: Limits) -> tuple[Threshold, ...]:
    """Return where a query stands when all of its tables change at once."""
    return (_deep_join(maintenance, limits), _scans(maintenance, limits))


def _deep_join(maintenance: Maintenance, limits: Limits) -> Threshold:
    inputs = widest_join(maintenance.definition)
    read = limits.before(maintenance.definition) == "read"
    return Threshold(
        DEEP_JOIN,
        limits.join_inputs,
        inputs,
        "tables before a change are read at their old version"
        if read
        else "tables before a change are taken as after minus changes",
        "Keep old versions of the sources for longer than the time between two refreshes, or make "
        "a stream table of a part of the join.",
    )


def _scans(maintenance: Maintenance, limits: Limits) -> Threshold:
    tables = tables_below(maintenance.definition)
    before = limits.before(maintenance.definition)
    whole = maintenance.restricted_to(tables, small=True, before=before).statements
    split = maintenance.restricted_to(
        tables, small=True, before=before, scans_at_most=limits.scans
    ).statements
    more = len(split.parts) - len(whole.parts)
    if more:
        parts = "1 part is" if more == 1 else f"{more} parts are"
        effect = f"{parts} computed first; no statement reads more than {split.scans} tables"
    elif whole.scans > limits.scans:
        effect = "no part that could be computed first is as small as the changes"
    else:
        effect = "no statement is split for its width"
    return Threshold(
        SCANS,
        limits.scans,
        whole.scans,
        effect,
        "Make a stream table of a part of the query that joins several tables, so that its changes "
        "are computed once.",
    )
