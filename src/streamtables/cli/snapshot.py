"""`streamtables snapshot`: keep tables as they are, and put them back to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import pick
from streamtables.cli.screen import show_json, show_line, show_table

Label = Annotated[str, typer.Argument(help="Name of the snapshot.", metavar="LABEL")]


def create(
    context: typer.Context,
    label: Label,
    names: Annotated[list[str], typer.Argument(help="Stream tables.", metavar="NAME...")],
    epoch: Annotated[
        int | None, typer.Option(help="As they were at this epoch; as they are now if left out.")
    ] = None,
    warehouse: Warehouse = None,
) -> None:
    """Keep stream tables as they stand for one moment."""
    with opened(context, warehouse) as db:
        taken = db.snapshot(names, label=label, epoch=epoch)
    versions = ", ".join(f"{item.table} {item.version}" for item in taken.tables)
    show_line(f'snapshot "{label}" keeps the versions: {versions}')


def list_snapshots(
    context: typer.Context, warehouse: Warehouse = None, as_json: AsJson = False
) -> None:
    """Show all snapshots."""
    with opened(context, warehouse) as db:
        found = db.snapshots()
    if as_json:
        facts = ("label", "epoch", "taken_at")
        versions = [{item.table: int(item.version) for item in one.tables} for one in found]
        rows = zip(found, versions, strict=True)
        show_json([{**pick(one, *facts), "tables": tables} for one, tables in rows])
        return
    show_table(
        ["label", "epoch", "taken", "tables"],
        [
            [
                one.label,
                one.epoch,
                one.taken_at.isoformat(" ", "seconds"),
                ", ".join(item.table for item in one.tables),
            ]
            for one in found
        ],
        empty="no snapshots",
    )


def restore(context: typer.Context, label: Label, warehouse: Warehouse = None) -> None:
    """Put the tables of a snapshot back to it; the next refresh brings them forward again."""
    with opened(context, warehouse) as db:
        done = db.restore_snapshot(label)
    for item in done:
        show_line(f'stream table "{item.table}": {item.reason.text}')


def drop(context: typer.Context, label: Label, warehouse: Warehouse = None) -> None:
    """Forget a snapshot; files that only it needed may be removed."""
    with opened(context, warehouse) as db:
        db.drop_snapshot(label)
    show_line(f'snapshot "{label}" is dropped')


SNAPSHOT_COMMANDS: dict[str, Callable[..., None]] = {
    "create": create,
    "list": list_snapshots,
    "restore": restore,
    "drop": drop,
}
