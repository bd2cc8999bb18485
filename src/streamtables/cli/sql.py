"""`streamtables sql`: run one statement and show what it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Protocol, cast, runtime_checkable

import typer

from streamtables.cli.contract import Explanation, Refresh, TableStatus
from streamtables.cli.explain import show_explanation
from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import pick, to_json
from streamtables.cli.read import show_rows
from streamtables.cli.refresh import refresh_data, show_refreshes
from streamtables.cli.screen import show_json, show_line, working
from streamtables.cli.status import FIELDS, show_statuses
from streamtables.cli.text_input import SqlFile, sql_from

if TYPE_CHECKING:
    import pyarrow as pa


@runtime_checkable
class Frame(Protocol):
    """The part of a DataFrame that is needed to show it."""

    def limit(self, num: int) -> Frame: ...
    def toArrow(self) -> pa.Table: ...  # noqa: N802 - Spark's name


def sql(
    context: typer.Context,
    statement: Annotated[
        str | None,
        typer.Argument(
            help="The statement, or - for standard input.", metavar="SQL", show_default=False
        ),
    ] = None,
    file: SqlFile = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Show so many rows.")] = 20,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Run one SQL statement.

    The statements of stream tables run here, every other one on Spark.
    """
    text = sql_from(statement, file)
    with opened(context, warehouse) as db:
        with working("running the statement", db.spark_progress):
            result = db.sql(text)
            # Rows come while the session is open; one more than asked for tells if there are more.
            rows = result.limit(limit + 1).toArrow() if isinstance(result, Frame) else None
        if rows is not None:
            show_rows(rows, limit=limit, as_json=as_json)
        else:
            _show(result, as_json=as_json)


def _show(result: object, *, as_json: bool) -> None:
    if hasattr(result, "rows_inserted"):
        done = cast("Refresh", result)
        show_json(refresh_data(done)) if as_json else show_refreshes([done])
    elif hasattr(result, "text") and hasattr(result, "data"):
        show_explanation(cast("Explanation", result), as_json=as_json)
    elif isinstance(result, list) and all(hasattr(item, "changes_pending") for item in result):
        tables = cast("list[TableStatus]", result)
        show_json([pick(table, *FIELDS) for table in tables]) if as_json else show_statuses(tables)
    else:
        show_json(to_json(result)) if as_json else show_line("done")
