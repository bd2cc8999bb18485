"""What orchestrators share: a warehouse is opened, tables are refreshed, and what came is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamtables.api import StreamTables, connect
from streamtables.refresh.results import Refresh
from streamtables.settings import resolve_secret


def opened(warehouse: str, catalog: str | None) -> StreamTables:
    """Open a warehouse; both texts may be references to secrets."""
    return connect(resolve_secret(warehouse), catalog=resolve_secret(catalog) if catalog else None)


def facts_of(result: Refresh) -> dict[str, Any]:
    """Return what a refresh did."""
    return {
        "table": result.table,
        "mode": result.mode,
        "outcome": result.outcome,
        "reason": result.reason.code,
        "reason_text": result.reason.text,
        "rows_inserted": result.rows_inserted,
        "rows_deleted": result.rows_deleted,
        "seconds": round(result.seconds, 3),
        "version": result.version,
    }


def sentence_of(result: Refresh) -> str:
    """Return what a refresh did, for a log."""
    rows = f"+{result.rows_inserted:,} -{result.rows_deleted:,}"
    return f"{result.table}: {result.mode} {rows} in {result.seconds:.2f} s ({result.reason.text})"


def refreshed(db: StreamTables, tables: Sequence[str] | None, *, full: bool) -> list[Refresh]:
    """Refresh some tables, or all; the first error is raised when the others are done."""
    if tables is None and not full:
        results = db.refresh_all()
    else:
        names = [table.name for table in db.stream_tables()] if tables is None else tables
        results = [db.refresh(name, full=full) for name in names]
    for result in results:
        if result.error is not None:
            raise result.error
    return results
