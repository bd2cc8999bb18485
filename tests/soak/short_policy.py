"""`streamtables`, for which old is what is older than some seconds: `python -m tests.soak.short_policy 300 run …`.

What has to go by age goes after hours, days and weeks, so within an hour nothing would.  Here the
same clean-up finds something to do: files are removed, and looked for, after so many seconds, log
entries go after as many, and as events a few hundred are kept.  Removing itself is Delta's, which
counts in hours where it is asked and in seconds where the table says so; the tables say so.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any

from deltalake import DeltaTable

from streamtables.catalog import events
from streamtables.cli import main
from streamtables.engine import table_properties
from streamtables.refresh import upkeep
from streamtables.scheduler import housekeeping

EVENTS = 500
PROPERTIES = ("delta.deletedFileRetentionDuration", "delta.logRetentionDuration")


def shorten(seconds: float) -> None:
    """Have this process take for old what is older than so many seconds."""
    for name in PROPERTIES:
        table_properties._BASE[name] = f"interval {seconds:.0f} seconds"
    upkeep.REMOVE_EVERY = timedelta(seconds=seconds)
    housekeeping.EVERY = timedelta(seconds=seconds / 5)
    events.KEPT_EVENTS = EVENTS
    _remove_by_property()


def _remove_by_property() -> None:
    """Leave to the property of a table for how long its files are kept."""
    vacuum = DeltaTable.vacuum

    def by_property(table: DeltaTable, *, retention_hours: int, **options: Any) -> list[str]:
        return vacuum(table, **options)

    DeltaTable.vacuum = by_property  # type: ignore[assignment,method-assign]  # here alone


if __name__ == "__main__":
    shorten(float(sys.argv.pop(1)))
    sys.exit(main())
