"""The fuse of a table, asked in the middle of its refresh: is this change too large?

It is asked where the changes of all inputs are known and nothing is written yet.  So it judges what
a table is about to follow, whoever brings the table along and whatever it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from streamtables.catalog.models import StreamTable
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.fuse import FuseRule, blown
from streamtables.scheduler.options import read_options

RELEASED = "resumed: the change that blew its fuse is let through"
"""The reason of a table whose fuse blew and whose change a person has looked at."""
BLOWN = "its fuse has blown: "
_REMEMBERED = 20


@dataclass(frozen=True)
class Fuses:
    """Judges the volume that a table is about to follow."""

    around: Surroundings

    def __call__(self, table: StreamTable, pending: Callable[[], int]) -> str | None:
        """Suspend a table for whom too much waits, and say why; None where all is as usual."""
        options = read_options(table.options)
        rule = FuseRule(options.fuse_rows, options.fuse_factor)
        if rule == FuseRule(None, None) or table.state_reason == RELEASED:
            return None
        catalog = self.around.catalog
        recent = [record.rows_in for record in catalog.history(table.id, _REMEMBERED)]
        reason = blown(rule, pending(), recent)
        if reason is None:
            return None
        text = f"{BLOWN}{reason}; look at the changes, then resume it"
        catalog.set_state(table.id, "suspended", text, at=self.around.clock())
        return text
