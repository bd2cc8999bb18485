"""Start-up: what a process that died left behind is brought to an end.

A commit that is ahead of the catalog is adopted, and its refresh record ends as applied.  A refresh
marked running without a commit ends as failed where its process is no more: one of this machine
that cannot be found, or one of another whose table has been moved on since.
"""

from __future__ import annotations

from dataclasses import replace

from streamtables.catalog.models import RefreshRecord
from streamtables.errors import StreamTablesError
from streamtables.refresh.adopt import reconciled
from streamtables.refresh.processes import has_died, is_elsewhere
from streamtables.refresh.surroundings import Surroundings


def recover(around: Surroundings, followed: str = "") -> list[RefreshRecord]:
    """End the refreshes that nobody runs any more; return them as they ended.

    `followed` is a process that lost its lease to this one.  On another machine that is all that
    can be known of it; should it only have stood still, its own word of its end replaces this one.
    """
    left = [r for r in around.catalog.running_refreshes() if _is_dead(r, around, followed)]
    return [_ended(record, around) for record in left]


def _is_dead(record: RefreshRecord, around: Surroundings, followed: str) -> bool:
    if not is_elsewhere(record.process, around.process):
        return has_died(record.process, around.process)
    if record.process == followed:
        return True
    standing = around.catalog.standing(record.stream_table_id)
    # The next refresh of the table has come and gone: what is still computed can commit nothing.
    return standing is not None and standing.sequence > record.sequence


def _ended(record: RefreshRecord, around: Surroundings) -> RefreshRecord:
    snapshot = around.catalog.snapshot()
    table = snapshot.stream_tables.get(record.stream_table_id)
    adopted = False
    if table is not None:
        try:
            known = snapshot.standings.get(table.id)
            found = reconciled(table, known, around.catalog, around.clock())
            adopted = found is not None and found.standing.refresh_id == record.id
        except StreamTablesError:
            # The table's own next refresh meets the same fault and reports it.
            adopted = False
    text = "the process ended after the commit; it was adopted" if adopted else ""
    ended = replace(
        record,
        state="applied" if adopted else "failed",
        notes=(*record.notes, text or "the process ended before the commit"),
        error_text="" if adopted else "the process that ran this refresh ended before it did",
        finished_at=around.clock(),
    )
    around.catalog.finish_refresh(ended, None)
    return ended
