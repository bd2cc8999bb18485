"""`streamtables read`: the rows of a stream table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from streamtables.cli.invocation import AsJson, TableArgument, Warehouse, opened
from streamtables.cli.plain import Json, to_json
from streamtables.cli.screen import show_json, show_line, show_table, working

if TYPE_CHECKING:
    import pyarrow as pa


def read(
    context: typer.Context,
    name: TableArgument,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Show so many rows.")] = 20,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Print rows of a stream table, without its hidden columns."""
    with opened(context, warehouse) as db, working(f"reading {name}", db.spark_progress):
        # One row more than asked for tells whether there are more.
        rows = db.read_rows(name, limit + 1)
    show_rows(rows, limit=limit, as_json=as_json)


def show_rows(rows: pa.Table, *, limit: int, as_json: bool) -> None:
    """Show at most `limit` rows, and say when there are more."""
    columns = list(rows.column_names)
    shown = [list(row.values()) for row in rows.slice(0, limit).to_pylist()]
    if as_json:
        show_json([dict(zip(columns, map(to_json, row), strict=True)) for row in shown])
        return
    show_table(columns, [[_cell(value) for value in row] for row in shown])
    if rows.num_rows > limit:
        show_line(f"(the first {limit} rows; more with --limit)")


def _cell(value: object) -> object:
    if value is None:
        return "NULL"
    # A float shows all its digits: this is data, not a measurement.
    return repr(value) if isinstance(value, float) else _structure(value)


def _structure(value: object) -> object:
    data: Json = to_json(value) if isinstance(value, list | dict | bytes) else None
    return value if data is None else str(data)
