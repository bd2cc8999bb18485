"""Start-up: what a process that died left behind is brought to an end.

A commit that is ahead of the catalog is adopted, and its refresh record ends as applied.  A refresh
marked running without a commit, by a process of this machine that is no more, ends as failed.
"""

from __future__ import annotations

import os
from dataclasses import replace

from streamtables.catalog.models import RefreshRecord
from streamtables.errors import StreamTablesError
from streamtables.refresh.adopt import reconciled
from streamtables.refresh.surroundings import Surroundings


def recover(around: Surroundings) -> list[RefreshRecord]:
    """End the refreshes that nobody runs any more; return them as they ended."""
    host = around.process.rsplit(":", 1)[0]
    left = [r for r in around.catalog.running_refreshes(f"{host}:") if _is_dead(r, around)]
    return [_ended(record, around) for record in left]


def _is_dead(record: RefreshRecord, around: Surroundings) -> bool:
    pid = int(record.process.rsplit(":", 1)[1])
    if pid == os.getpid():
        return record.process != around.process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


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
