"""`streamtables status`: where every stream table stands."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from streamtables.cli.board import board, state_text, watched
from streamtables.cli.contract import TableStatus
from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import pick
from streamtables.cli.screen import at_terminal, show_json, show_table
from streamtables.errors import NotFoundError

FIELDS = (
    "name",
    "state",
    "mode",
    "schedule",
    "tier",
    "rows",
    "version",
    "last_mode",
    "last_outcome",
    "last_reason",
    "last_refreshed_at",
    "seconds",
    "changes_pending",
    "lag_seconds",
    "next_due_at",
    "waits_for",
    "reason",
)


def status(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(help="Only this stream table.", metavar="NAME", show_default=False),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again and again until Ctrl-C.")
    ] = False,
    every: Annotated[
        float, typer.Option("--every", help="Seconds between two looks of --watch.", min=0.1)
    ] = 2.0,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Show state, mode, rows and last refresh of the stream tables."""
    with opened(context, warehouse) as db:
        tables = _named(db.status(), name)
        if watch and not as_json:
            watched(lambda: board(_named(db.status(), name)), every)
            return
    if as_json:
        show_json([pick(table, *FIELDS) for table in tables])
    else:
        show_statuses(tables)


def _named(tables: Sequence[TableStatus], name: str | None) -> list[TableStatus]:
    found = [table for table in tables if name in (None, table.name)]
    if name and not found:
        raise NotFoundError(
            f'stream table "{name}" does not exist', hint="List them: streamtables status."
        )
    return found


def show_statuses(tables: list[TableStatus]) -> None:
    """Show stream tables, one line each."""
    show_table(
        [
            "name",
            "state",
            "changes",
            "mode",
            "schedule",
            "rows",
            "last",
            "seconds",
            "when",
            "reason",
        ],
        [_row(table) for table in tables],
        empty="no stream tables yet; create one: streamtables create NAME 'SELECT …'",
    )


def _row(table: TableStatus) -> list[object]:
    return [
        table.name,
        state_text(table),
        "pending" if table.changes_pending else "none",
        table.mode,
        table.schedule,
        table.rows,
        table.last_mode,
        table.seconds,
        when_text(table.last_refreshed_at),
        table.reason or table.waits_for or table.last_reason,
    ]


def when_text(moment: datetime | None) -> str | None:
    """Return a moment as its age for a person, and exactly for a program."""
    if moment is None:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if not at_terminal():
        return moment.astimezone(UTC).isoformat(timespec="seconds")
    return age_text((datetime.now(UTC) - moment).total_seconds())


def age_text(seconds: float) -> str:
    """Return an age in its largest unit: `3 min ago`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return f"{max(0, seconds):.0f} s ago"
