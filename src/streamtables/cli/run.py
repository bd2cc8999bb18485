"""`streamtables run`: keep every stream table fresh until told to stop."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import Thread, Timer
from typing import Annotated

import typer

from streamtables.cli.contract import Database, Refresh
from streamtables.cli.failures import BAD_ANSWER
from streamtables.cli.invocation import Warehouse, opened
from streamtables.cli.refresh import show_refreshes
from streamtables.cli.screen import at_terminal, show_line
from streamtables.cli.serve import as_api, show_opened


def run(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="Make one round and end.")] = False,
    seconds: Annotated[
        float | None,
        typer.Option("--for", help="End after so many seconds.", show_default=False, min=0.0),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port",
            help="Answer scrapes of this machine at /metrics on this port; 0 takes a free one.",
            show_default=False,
            min=0,
            max=65_535,
        ),
    ] = None,
    serve: Annotated[
        int | None,
        typer.Option(
            help="Serve the web pages on this port of this machine beside it.",
            metavar="PORT",
            show_default=False,
            min=0,
            max=65_535,
        ),
    ] = None,
    warehouse: Warehouse = None,
) -> None:
    """Keep every stream table fresh: refresh what is due, again and again."""
    with opened(context, warehouse) as db:
        db.write_logs(sys.stderr)
        if metrics_port is not None:
            port = db.serve_metrics(metrics_port)
            show_line(f"metrics are on port {port} of this machine, at /metrics")
        if once:
            done = db.tick()
            show_refreshes(done)
            if any(result.outcome in ("failed", "cancelled") for result in done):
                raise typer.Exit(BAD_ANSWER)
            return
        show_line("keeping all stream tables fresh; Ctrl-C or SIGTERM ends it")
        with _pages(db, serve):
            _until_told(db, seconds)
    show_line("ended: nothing is half done")


def _pages(db: Database, port: int | None) -> AbstractContextManager[None]:
    """Return the pages beside the scheduler, where somebody asked for them."""
    if port is None:
        return nullcontext()
    from streamtables.web.serving import Address, served_beside

    return served_beside(as_api(db), Address(port=port), show_opened)


def _until_told(db: Database, seconds: float | None) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        # In a thread: a handler interrupts the loop anywhere, also where it holds a lock that
        # stopping needs.
        signal.signal(number, lambda *_: Thread(target=db.stop, daemon=True).start())
    timer = Timer(seconds, db.stop) if seconds is not None else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    db.run(_show_tick)


def _show_tick(done: Sequence[Refresh]) -> None:
    if done:
        # What is no terminal is kept somewhere, and details may quote values of rows.
        show_refreshes(done, details=at_terminal())
