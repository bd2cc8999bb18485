"""`streamtables source add | list | drop`: the tables that someone else writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Annotated

import typer

from streamtables.cli.contract import CopyProgress, Source
from streamtables.cli.copying import copying
from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import pick
from streamtables.cli.screen import show_json, show_line, show_table, working
from streamtables.errors import ConfigError

Shown = AbstractContextManager[Callable[[CopyProgress], None] | None]
SourceArgument = Annotated[str, typer.Argument(help="Name of the source.", metavar="NAME")]


def add(
    context: typer.Context,
    name: SourceArgument,
    path: Annotated[
        str | None,
        typer.Option("--path", help="Folder or URI of a Delta table.", show_default=False),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            help="Name of a Delta table in Spark's catalog, or of a PostgreSQL table.",
            show_default=False,
        ),
    ] = None,
    postgres: Annotated[
        str | None,
        typer.Option(
            "--postgres",
            help="Address of a PostgreSQL database; better a reference: '${env:SHOP_URL}'.",
            show_default=False,
        ),
    ] = None,
    capture: Annotated[
        str, typer.Option("--capture", help="How to capture it: auto, triggers or wal.")
    ] = "auto",
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            help="Another type for a PostgreSQL column, such as price=decimal(20,4).",
            show_default=False,
            metavar="COLUMN=TYPE",
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key", help="A column of the primary key, may be repeated.", show_default=False
        ),
    ] = None,
    enable_change_feed: Annotated[
        bool,
        typer.Option(
            "--enable-change-feed", help="Switch the table's change feed on if it is off."
        ),
    ] = False,
    warehouse: Warehouse = None,
) -> None:
    """Add a Delta table, or a table of a PostgreSQL database, as a source."""
    if (path is None) == (table is None):
        raise ConfigError(
            f'source "{name}" needs exactly one of --path and --table',
            hint="Give the folder of a Delta table with --path, or its catalog name with --table.",
        )
    columns = [part.strip() for text in key or () for part in text.split(",") if part.strip()]
    message = f"adding {name}"
    shown: Shown = copying(message) if postgres else working(message)
    with opened(context, warehouse) as db, shown as progress:
        db.add_source(
            name,
            path=path,
            table=table,
            key=columns or None,
            enable_change_feed=enable_change_feed,
            postgres=postgres,
            capture=capture,
            types=_types(types or ()),
            progress=progress,
        )
    show_line(f'source "{name}" added')


def _types(given: Sequence[str]) -> dict[str, str] | None:
    """Read what overrides say: a column and its type each."""
    found: dict[str, str] = {}
    for text in given:
        column, sign, kind = text.partition("=")
        if not (column and sign and kind):
            raise ConfigError(
                f'"{text}" does not give a column a type',
                hint="Write --type COLUMN=TYPE, such as --type price=decimal(20,4).",
            )
        found[column.strip()] = kind.strip()
    return found or None


def list_sources(
    context: typer.Context, warehouse: Warehouse = None, as_json: AsJson = False
) -> None:
    """List the sources."""
    with opened(context, warehouse) as db:
        sources = db.sources()
    if as_json:
        show_json(
            [
                {**pick(source, "name", "kind", "location", "columns"), "key": _key(source)}
                for source in sources
            ]
        )
        return
    show_table(
        ["name", "kind", "key", "location"],
        [[source.name, source.kind, _key_text(source), source.location] for source in sources],
        empty="no sources yet; add one: streamtables source add NAME --path FOLDER",
    )


def drop(
    context: typer.Context,
    name: SourceArgument,
    leave_server: Annotated[
        bool,
        typer.Option(
            "--leave-server",
            help="Do not ask the PostgreSQL server; print the SQL that removes the rest there.",
        ),
    ] = False,
    warehouse: Warehouse = None,
) -> None:
    """Forget a source. Its table stays as it is; what captured it goes."""
    with opened(context, warehouse) as db:
        left = db.capture_statements(name) if leave_server else ()
        db.drop_source(name, leave_server=leave_server)
    show_line(f'source "{name}" dropped; its table is untouched')
    if left:
        show_line("when the server answers again, run there:")
    for statement in left:
        show_line(statement)


def _key_text(source: Source) -> str | None:
    return ", ".join(source.key_columns) or None


def _key(source: Source) -> list[str] | None:
    return list(source.key_columns) or None
