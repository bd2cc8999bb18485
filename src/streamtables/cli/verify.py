"""`streamtables verify`: recompute and compare, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from streamtables.cli.contract import Database, Verification
from streamtables.cli.failures import BAD_ANSWER, error_lines
from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import pick, to_json
from streamtables.cli.screen import show_json, show_line, show_table, stepping
from streamtables.errors import NotFoundError, StreamTablesError


def verify(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Stream tables to check; all when none is named.", metavar="NAME"),
    ] = None,
    warehouse: Warehouse = None,
    share: Annotated[
        float,
        typer.Option(
            help="The part of the rows that is compared, drawn by key.", min=0.001, max=1.0
        ),
    ] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Recompute stream tables and compare, row by row.

    Each is recomputed at the versions it stands on, so later changes make no difference.
    """
    with opened(context, warehouse) as db:
        chosen = names or [table.name for table in db.status()]
        checks = [
            _checked(db, name, share) for name in stepping(chosen, "verifying", db.spark_progress)
        ]
    if as_json:
        names_of_facts = ("table", "equal", "missing", "extra", "sample", "error")
        show_json([pick(check, *names_of_facts) for check in checks])
    else:
        _show(checks)
    if not all(check.equal for check in checks):
        raise typer.Exit(BAD_ANSWER)


@dataclass(frozen=True)
class _NotVerified:
    """A table whose rows could not be compared, and why."""

    table: str
    error: StreamTablesError
    equal = False


def _checked(db: Database, name: str, share: float) -> Verification | _NotVerified:
    """Compare one table; its trouble does not keep the others from being compared."""
    try:
        return db.verify(name, share=share)
    except NotFoundError:
        raise
    except StreamTablesError as error:
        return _NotVerified(name, error)


def _show(checks: Sequence[Verification | _NotVerified]) -> None:
    show_table(
        ["table", "result", "missing", "extra"],
        [_row(check) for check in checks],
        empty="no stream tables to verify",
    )
    for check in checks:
        for line in _explanation(check):
            show_line(f"{check.table}: {line}")


def _row(check: Verification | _NotVerified) -> list[object]:
    if isinstance(check, _NotVerified):
        return [check.table, "not verified", None, None]
    return [check.table, "equal" if check.equal else "different", check.missing, check.extra]


def _explanation(check: Verification | _NotVerified) -> list[str]:
    """Return what to say about a table that is not known to be equal."""
    if isinstance(check, _NotVerified):
        return error_lines(check.error)
    if check.equal:
        return []
    sample = to_json(check.sample)
    return [str(row) for row in (sample if isinstance(sample, list) else [sample])]
