"""`streamtables serve`: the web pages and the JSON API of a warehouse."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Annotated

import typer

from streamtables.cli.invocation import Warehouse, opened
from streamtables.cli.screen import show_line

if TYPE_CHECKING:
    from streamtables.api import StreamTables
    from streamtables.cli.contract import Database
    from streamtables.web.serving import Opened

Port = Annotated[int, typer.Option(help="The port; 0 takes one that is free.", min=0, max=65_535)]
Host = Annotated[str, typer.Option(help="The address to listen on; this machine alone by default.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host", help="Another name by which pages may be asked for.", show_default=False
    ),
]


def serve(
    context: typer.Context,
    port: Port = 8321,
    host: Host = "127.0.0.1",
    allow_host: AllowHost = None,
    warehouse: Warehouse = None,
) -> None:
    """Serve web pages and a JSON API until told to stop.

    Reading needs no right; changing something needs the token that is printed at the start, or the
    one in STREAMTABLES_WEB_TOKEN.
    """
    from streamtables.web.serving import Address
    from streamtables.web.serving import serve as serve_pages

    # The server ends by itself on these, and hands them on to whoever listened before.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    with opened(context, warehouse) as db:
        serve_pages(as_api(db), Address(host, port, tuple(allow_host or ())), show_opened)
    show_line("ended: nothing is half done")


def as_api(db: Database) -> StreamTables:
    """Return an open warehouse as the pages want it: they show more than commands ask for."""
    from streamtables.api import StreamTables

    assert isinstance(db, StreamTables)
    return db


def show_opened(found: Opened) -> None:
    """Tell where the pages are, and with which token something can be changed."""
    show_line(f"pages at {found.url}")
    if found.open_to_others:
        show_line("other machines can read these pages; web_read_needs_token asks for a token")
    if found.token is not None:
        show_line(f"token for changes, until this ends: {found.token}")
