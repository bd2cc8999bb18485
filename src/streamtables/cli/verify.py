"""`streamtables verify`: recompute and compare, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from streamtables.cli.contract import Verification
from streamtables.cli.failures import BAD_ANSWER
from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import pick, to_json
from streamtables.cli.screen import show_json, show_line, show_table, stepping


def verify(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Stream tables to check; all when none is named.", metavar="NAME"),
    ] = None,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Recompute stream tables and compare, row by row.

    Each is recomputed at the versions it stands on, so later changes make no difference.
    """
    with opened(context, warehouse) as db:
        chosen = names or [table.name for table in db.status()]
        checks = [db.verify(name) for name in stepping(chosen, "verifying")]
    if as_json:
        show_json([pick(check, "table", "equal", "missing", "extra", "sample") for check in checks])
    else:
        _show(checks)
    if not all(check.equal for check in checks):
        raise typer.Exit(BAD_ANSWER)


def _show(checks: Sequence[Verification]) -> None:
    show_table(
        ["table", "result", "missing", "extra"],
        [
            [check.table, "equal" if check.equal else "different", check.missing, check.extra]
            for check in checks
        ],
        empty="no stream tables to verify",
    )
    for check in checks:
        sample = to_json(check.sample)
        rows = sample if isinstance(sample, list) else [sample]
        for row in rows if not check.equal else ():
            show_line(f"{check.table}: {row}")
