"""`streamtables gate` and `watermark`: have tables wait for their sources."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from streamtables.cli.invocation import Warehouse, opened
from streamtables.cli.screen import show_line
from streamtables.errors import ConfigError

SourceArgument = Annotated[str, typer.Argument(help="Name of the source.", metavar="SOURCE")]


def close(
    context: typer.Context,
    source: SourceArgument,
    reason: Annotated[str, typer.Option(help="Why, for those who wait.")] = "closed by a user",
    warehouse: Warehouse = None,
) -> None:
    """Have everything that stands on a source wait."""
    with opened(context, warehouse) as db:
        db.close_gate(source, reason)
    show_line(f'the gate of "{source}" is closed; open it: streamtables gate open {source}')


def open_gate(context: typer.Context, source: SourceArgument, warehouse: Warehouse = None) -> None:
    """Let what stands on a source go on."""
    with opened(context, warehouse) as db:
        db.open_gate(source)
    show_line(f'the gate of "{source}" is open')


def set_watermark(
    context: typer.Context,
    source: SourceArgument,
    moment: Annotated[
        str, typer.Argument(help="A time with its zone: 2030-01-31T06:00+00:00.", metavar="TIME")
    ],
    warehouse: Warehouse = None,
) -> None:
    """Say up to which moment a source is complete."""
    parsed = _moment(moment)
    with opened(context, warehouse) as db:
        db.set_watermark(source, parsed)
    show_line(f'"{source}" is complete up to {parsed.isoformat()}')


def group(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the group.", metavar="GROUP")],
    sources: Annotated[
        list[str], typer.Argument(help="Sources that are read together.", metavar="SOURCE...")
    ],
    tolerance: Annotated[
        str, typer.Option(help="How far apart their watermarks may be.")
    ] = "1 minute",
    until: Annotated[
        str | None,
        typer.Option(
            help="Wait also until they are complete up to this time, with its zone.",
            metavar="TIME",
            show_default=False,
        ),
    ] = None,
    warehouse: Warehouse = None,
) -> None:
    """Have tables wait until the watermarks of several sources are near, or have reached a time."""
    reached = None if until is None else _moment(until)
    with opened(context, warehouse) as db:
        db.set_watermark_group(name, sources, tolerance, until=reached)
    and_until = "" if reached is None else f", and complete up to {reached.isoformat()}"
    show_line(f'group "{name}": {", ".join(sources)}, at most {tolerance} apart{and_until}')


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f'"{text}" is not a time', hint="Write it as 2030-01-31T06:00+00:00."
        ) from None


def drop_group(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the group.", metavar="GROUP")],
    warehouse: Warehouse = None,
) -> None:
    """Forget a group."""
    with opened(context, warehouse) as db:
        db.drop_watermark_group(name)
    show_line(f'group "{name}" is gone')
