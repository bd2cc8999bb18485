"""`streamtables wal status`: how PostgreSQL sources are captured, and how far behind they are."""

from __future__ import annotations

from typing import Annotated

import typer

from streamtables.cli.contract import CaptureStatus
from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import pick
from streamtables.cli.screen import show_json, show_line, show_table

FIELDS = (
    "source",
    "table",
    "server",
    "wish",
    "mode",
    "moving_to",
    "blocked",
    "note",
    "slot",
    "publication",
    "lag_bytes",
    "lag_seconds",
    "true_lag",
    "pending_changes",
    "pending_estimated",
    "wal_decoder_pending_records",
    "drained_at",
    "error",
    "history",
)


def wal_status(
    context: typer.Context,
    history: Annotated[
        bool, typer.Option("--history", help="Show how each capture came to be as it is.")
    ] = False,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Show how every PostgreSQL source is captured, why so, and how far behind it is."""
    with opened(context, warehouse) as db:
        found = list(db.wal_source_status())
    if as_json:
        show_json([pick(status, *FIELDS) for status in found])
        return
    show_table(
        ["source", "table", "asked", "captured by", "lag bytes", "pending", "drained", "note"],
        [
            [
                status.source,
                status.table,
                status.wish,
                _mode(status),
                status.lag_bytes,
                _pending(status),
                status.drained_at,
                status.error or status.note,
            ]
            for status in found
        ],
        empty="no PostgreSQL sources yet; streamtables source add --help tells how to add one",
    )
    for status in found:
        for reason in status.blocked:
            show_line(f"{status.source}: {reason}")
        for event in status.history if history else ():
            show_line(f"{status.source}: {event.at:%Y-%m-%d %H:%M:%S} {event.kind}: {event.reason}")


def _mode(status: CaptureStatus) -> str:
    return f"{status.mode}, moving to {status.moving_to}" if status.moving_to else status.mode


def _pending(status: CaptureStatus) -> int | str | None:
    if status.pending_changes is None:
        return status.wal_decoder_pending_records
    if status.pending_estimated:
        return f"about {status.pending_changes:,}"
    return status.pending_changes
