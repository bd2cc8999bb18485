"""`streamtables history`: the last refreshes of a stream table."""

from __future__ import annotations

from typing import Annotated

import typer

from streamtables.cli.invocation import AsJson, TableArgument, Warehouse, opened
from streamtables.cli.plain import Json, pick, to_json
from streamtables.cli.screen import show_json, show_table
from streamtables.cli.status import when_text

FIELDS = (
    "sequence",
    "started_at",
    "outcome",
    "mode",
    "rows_inserted",
    "rows_deleted",
    "seconds",
    "frontier",
    "notes",
)


def history(
    context: typer.Context,
    name: TableArgument,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Show so many.")] = 20,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """List the last refreshes of a stream table and why they ran so."""
    with opened(context, warehouse) as db:
        records = db.history(name, limit)
    if as_json:
        show_json([_data(record) for record in records])
        return
    show_table(
        ["when", "outcome", "mode", "inserted", "deleted", "seconds", "reason"],
        [_row(record) for record in records],
        empty=f'stream table "{name}" was never refreshed',
    )


def _data(record: object) -> Json:
    return {
        **pick(record, *FIELDS),
        "reason": {"code": _reason(record, "code"), "text": _reason(record, "text")},
        "steps": to_json(getattr(record, "steps", ())),
        "error": to_json(getattr(record, "error", None)),
    }


def _row(record: object) -> list[object]:
    names = ("outcome", "mode", "rows_inserted", "rows_deleted", "seconds")
    return [
        when_text(getattr(record, "started_at", None)),
        *(getattr(record, name, None) for name in names),
        _reason(record, "text"),
    ]


def _reason(record: object, part: str) -> str | None:
    """Return a part of the reason, which a stored record may keep flat (`reason_code`)."""
    nested = getattr(getattr(record, "reason", None), part, None)
    found = nested if nested is not None else getattr(record, f"reason_{part}", None)
    return None if found is None else str(found)
