"""The command table, and the way in.

Importing this loads typer and nothing heavier: Spark, pyarrow, the catalog and the compiler are
imported by the command that needs them, when it runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from streamtables.cli.alter import alter
from streamtables.cli.apply import apply
from streamtables.cli.backup import backup, restore
from streamtables.cli.bench import bench
from streamtables.cli.caches import caches_clear, caches_status
from streamtables.cli.cancel import cancel
from streamtables.cli.contract import Connect
from streamtables.cli.create import create
from streamtables.cli.demo import demo
from streamtables.cli.doctor import doctor
from streamtables.cli.drop import drop
from streamtables.cli.events import events
from streamtables.cli.explain import explain, validate
from streamtables.cli.failures import (
    BROKEN_PIPE,
    INTERRUPTED,
    exit_code,
    from_unexpected,
    from_usage,
    show_error,
)
from streamtables.cli.gate import close, drop_group, group, open_gate, set_watermark
from streamtables.cli.health import health
from streamtables.cli.history import history
from streamtables.cli.import_sdp import sdp
from streamtables.cli.init import init
from streamtables.cli.invocation import (
    Invocation,
    connect_by_package,
    environment_first,
    given_by_variable,
    invocation_of,
)
from streamtables.cli.maintain import maintain
from streamtables.cli.metrics import metrics
from streamtables.cli.pause import pause, resume
from streamtables.cli.plan import plan
from streamtables.cli.publication import PUBLICATION_COMMANDS
from streamtables.cli.read import read
from streamtables.cli.refresh import refresh
from streamtables.cli.repair import repair
from streamtables.cli.run import run
from streamtables.cli.screen import at_terminal, show_line
from streamtables.cli.serve import serve
from streamtables.cli.snapshot import SNAPSHOT_COMMANDS
from streamtables.cli.source import add, list_sources
from streamtables.cli.source import drop as drop_source
from streamtables.cli.sql import sql
from streamtables.cli.status import status
from streamtables.cli.top import top
from streamtables.cli.verify import verify
from streamtables.cli.wal import wal_status
from streamtables.errors import StreamTablesError

Command = Callable[..., None]

# The order in which help shows them.
COMMANDS: dict[str, tuple[Command, ...]] = {
    "Start": (demo, init, doctor, bench),
    "Define": (plan, apply, create, alter, drop, validate, sql),
    "Keep fresh": (run, refresh, cancel, pause, resume, repair, maintain, backup, restore),
    "Look": (status, top, serve, health, metrics, events, read, history, explain, verify),
}
WAL_COMMANDS: dict[str, Command] = {"status": wal_status}
CACHES_COMMANDS: dict[str, Command] = {"status": caches_status, "clear": caches_clear}
SOURCE_COMMANDS: dict[str, Command] = {"add": add, "list": list_sources, "drop": drop_source}
GATE_COMMANDS: dict[str, Command] = {"close": close, "open": open_gate}
IMPORT_COMMANDS: dict[str, Command] = {"sdp": sdp}
WATERMARK_COMMANDS: dict[str, Command] = {
    "set": set_watermark,
    "group": group,
    "drop-group": drop_group,
}
# Name of the group → its help, its panel, its commands.
GROUPS: dict[str, tuple[str, str, dict[str, Command]]] = {
    "source": ("Add, list and drop sources.", "Define", SOURCE_COMMANDS),
    "import": ("Take definitions over from elsewhere.", "Define", IMPORT_COMMANDS),
    "publication": ("Give changes to others.", "Define", PUBLICATION_COMMANDS),
    "snapshot": ("Keep tables as they are, and put them back.", "Keep fresh", SNAPSHOT_COMMANDS),
    "gate": ("Have tables wait while a source is loaded.", "Keep fresh", GATE_COMMANDS),
    "watermark": ("Have tables wait for sources together.", "Keep fresh", WATERMARK_COMMANDS),
    "caches": ("Look at what is kept of compiled plans, or empty it.", "Look", CACHES_COMMANDS),
    "wal": ("Look at the capture of PostgreSQL sources.", "Look", WAL_COMMANDS),
}
HELP = "Stream tables for Apache Spark: Delta tables that stay equal to their query."


def build_app(*, rich_help: bool) -> typer.Typer:
    """Return the command table; help is plain text unless a person reads it."""
    app = typer.Typer(
        name="streamtables",
        help=HELP,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich" if rich_help else None,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(_before_the_command)
    for panel, commands in COMMANDS.items():
        for command in commands:
            app.command(command.__name__, rich_help_panel=panel)(command)
    for name, (help_text, panel, members) in GROUPS.items():
        group_app = typer.Typer(help=help_text, rich_markup_mode="rich" if rich_help else None)
        # With one command alone typer would make the group the command.
        group_app.callback()(lambda: None)
        for member, command in members.items():
            group_app.command(member)(command)
        app.add_typer(group_app, name=name, rich_help_panel=panel)
    return app


def main(arguments: Sequence[str] | None = None, *, connect: Connect = connect_by_package) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        words = [word for word in given if word != "--debug"]
        return _run(environment_first(words) or ["--help"], connect)
    except typer.TyperException as exc:
        return _fail(from_usage(exc), debug=debug)
    except StreamTablesError as exc:
        return _fail(exc, debug=debug)
    except (typer.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_has_gone()
    except SystemExit as exc:
        # Typer's own answer to a broken pipe is exit 1, which would say that the answer is bad.
        if isinstance(exc.__context__, BrokenPipeError):
            return _reader_has_gone()
        raise
    except Exception as exc:  # the edge: nobody gets a traceback who did not ask for one
        error = from_unexpected(exc)
        error.__cause__ = exc
        return _fail(error, debug=debug)


def _run(arguments: Sequence[str], connect: Connect) -> int:
    app = build_app(rich_help=at_terminal())
    result = app(
        args=arguments,
        prog_name="streamtables",
        standalone_mode=False,
        obj=Invocation(connect=connect),
    )
    sys.stdout.flush()
    return result if isinstance(result, int) else 0


def _reader_has_gone() -> int:
    # Python flushes once more at exit, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
    return BROKEN_PIPE


def _fail(error: StreamTablesError, *, debug: bool) -> int:
    show_error(error, debug=debug)
    return exit_code(error)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        show_line(f"streamtables {version('streamtables')}")
        raise typer.Exit


def _before_the_command(
    context: typer.Context,
    warehouse: Annotated[
        str | None,
        typer.Option(
            "--warehouse",
            "-w",
            envvar="STREAMTABLES_WAREHOUSE",
            help="Folder or URI of the warehouse; that of the project's environment, else "
            "./warehouse, when not given.",
            show_default=False,
        ),
    ] = None,
    environment: Annotated[
        str | None,
        typer.Option(
            "--env",
            envvar="STREAMTABLES_ENV",
            help="Environment of the project; stands anywhere.",
            show_default=False,
        ),
    ] = None,
    catalog: Annotated[
        str | None,
        typer.Option(
            "--catalog",
            envvar="STREAMTABLES_CATALOG",
            help="URL of the catalog's database; inside the warehouse when not given.",
            show_default=False,
        ),
    ] = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; stands anywhere.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    # `debug` is read by `main`, which sees it behind the command too; it is here for the help.
    invocation = invocation_of(context)
    invocation.warehouse = warehouse
    invocation.environment = environment
    invocation.insists = bool(environment) and not given_by_variable(context, "environment")
    if invocation.insists and given_by_variable(context, "warehouse"):
        # An environment that is named here and now says more than a variable that was once set.
        invocation.warehouse = None
    stale = invocation.insists and given_by_variable(context, "catalog")
    invocation.catalog = None if stale else catalog
