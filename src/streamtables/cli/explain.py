"""`streamtables explain` and `validate`: how a query is maintained, and what stands in the way."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamtables.cli.contract import Explanation
from streamtables.cli.invocation import AsJson, TableArgument, Warehouse, opened
from streamtables.cli.screen import show_json, show_line
from streamtables.cli.text_input import SqlFile, sql_from
from streamtables.errors import ConfigError

SvgFile = Annotated[
    Path | None,
    typer.Option(
        "--svg",
        help="Write the plan as a picture to this file.",
        metavar="FILE",
        show_default=False,
    ),
]


def explain(
    context: typer.Context,
    name: TableArgument,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
    svg: SvgFile = None,
) -> None:
    """Show how a stream table is maintained: plan, costs, last refresh, advice, delta SQL."""
    with opened(context, warehouse) as db:
        show_explanation(db.explain(name), as_json=as_json, svg=svg)


def validate(
    context: typer.Context,
    sql: Annotated[
        str | None,
        typer.Argument(
            help="The query, or - for standard input.", metavar="SQL", show_default=False
        ),
    ] = None,
    file: SqlFile = None,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
    svg: SvgFile = None,
) -> None:
    """Explain a query before anything is created."""
    query = sql_from(sql, file)
    with opened(context, warehouse) as db:
        show_explanation(db.validate(query), as_json=as_json, svg=svg)


def show_explanation(explanation: Explanation, *, as_json: bool, svg: Path | None = None) -> None:
    """Show an explanation as text or as data, and write its picture where one is asked for."""
    if svg is not None:
        _write(svg, explanation.svg)
    if as_json:
        show_json(explanation.data)
    else:
        show_line(explanation.text)


def _write(path: Path, picture: str) -> None:
    try:
        path.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f'cannot write the picture to "{path}"', detail=f"{error.strerror}."
        ) from error
