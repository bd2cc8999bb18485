"""`%%stream_table NAME`: a cell that holds the query of a stream table."""

from __future__ import annotations

import argparse
import shlex
from typing import NoReturn

from IPython.core.magic import Magics, cell_magic, magics_class

from streamtables.api import StreamTables
from streamtables.cli.failures import error_lines
from streamtables.errors import ConfigError, StreamTablesError
from streamtables.refresh.results import Refresh

_USAGE = "%%stream_table NAME [--schedule S] [--mode M] [--full F] [--db NAME] [--no-refresh]"


class _Words(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"the first line of the cell: {message}", hint=f"Write {_USAGE}.")


@magics_class
class StreamTableMagics(Magics):
    """The magics of stream tables."""

    @cell_magic
    def stream_table(self, line: str, cell: str) -> Refresh | None:
        """Create the table whose query the cell holds, or alter it, and refresh it."""
        try:
            return self._defined(line, cell)
        except StreamTablesError as error:
            # The message has all a person needs; a traceback through this package has not.
            print("\n".join(error_lines(error)))  # noqa: T201 - what a cell prints is its answer
            return None

    def _defined(self, line: str, cell: str) -> Refresh | None:
        said = _parser().parse_args(_split(line))
        db = (self.shell.user_ns if self.shell is not None else {}).get(said.db)
        if not isinstance(db, StreamTables):
            raise ConfigError(
                f'"{said.db}" is no open warehouse',
                hint=f'Open one first: {said.db} = streamtables.connect("warehouse").',
            )
        chosen = {name: getattr(said, name) for name in ("schedule", "mode", "full")}
        chosen = {name: value for name, value in chosen.items() if value is not None}
        known = {table.name.lower() for table in db.stream_tables()}
        if said.name.lower() in known:
            db.alter(said.name, query=cell, **chosen)
        else:
            db.create(said.name, cell, **chosen)
        return db.refresh(said.name) if said.refresh else None


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise ConfigError(f"the first line of the cell: {error}", hint=f"Write {_USAGE}.") from None


def _parser() -> argparse.ArgumentParser:
    parser = _Words(prog="%%stream_table", add_help=False)
    parser.add_argument("name")
    parser.add_argument("--schedule")
    parser.add_argument("--mode")
    parser.add_argument("--full")
    parser.add_argument("--db", default="db")
    parser.add_argument("--no-refresh", dest="refresh", action="store_false")
    return parser
