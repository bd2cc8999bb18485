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
    files: Annotated[
        str | None,
        typer.Option("--files", help="Folder or URI whose files are the rows.", show_default=False),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="Format of the files: csv, json, parquet or orc; seen by their names without it.",
            show_default=False,
        ),
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema",
            help="Columns of the files, such as 'id BIGINT, city STRING'; learnt without it.",
            show_default=False,
        ),
    ] = None,
    pattern: Annotated[
        str,
        typer.Option("--pattern", help="Which files by their names: '*.csv'.", show_default=False),
    ] = "",
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            help="An option of Spark's reader, such as sep=;, may be repeated.",
            show_default=False,
            metavar="NAME=VALUE",
        ),
    ] = None,
    warehouse: Warehouse = None,
) -> None:
    """Add a Delta table, a table of a PostgreSQL database or a folder of files as a source."""
    if sum(place is not None for place in (path, table, files)) != 1:
        raise ConfigError(
            f'source "{name}" needs exactly one of --path, --table and --files',
            hint="Give the folder of a Delta table with --path, its catalog name with --table, or "
            "a folder of CSV, JSON, Parquet or ORC files with --files.",
        )
    columns = [part.strip() for text in key or () for part in text.split(",") if part.strip()]
    chosen_types = _pairs(types, "--type COLUMN=TYPE, such as --type price=decimal(20,4)")
    chosen_options = _pairs(options, "--option NAME=VALUE, such as --option 'sep=;'", empty=True)
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
            types=chosen_types,
            progress=progress,
            files=files,
            format=format,
            schema=schema,
            pattern=pattern,
            options=chosen_options,
        )
    show_line(f'source "{name}" added')


def _pairs(given: Sequence[str] | None, form: str, *, empty: bool = False) -> dict[str, str] | None:
    """Read what says a value of something: a name and the value each, which may be empty or not."""
    found: dict[str, str] = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not (name.strip() and sign and (value or empty)):
            raise ConfigError(f'"{text}" does not say what is what', hint=f"Write {form}.")
        found[name.strip()] = value
    return found or None


def list_sources(
    context: typer.Context, warehouse: Warehouse = None, as_json: AsJson = False
) -> None:
    """List the sources."""
    with opened(context, warehouse) as db:
        sources, places = db.sources(), db.source_places()
    if as_json:
        show_json(
            [
                {
                    **pick(source, "name", "kind", "location", "columns"),
                    "key": _key(source),
                    "from": places[source.name],
                }
                for source in sources
            ]
        )
        return
    show_table(
        ["name", "kind", "key", "from"],
        [[source.name, source.kind, _key_text(source), places[source.name]] for source in sources],
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
