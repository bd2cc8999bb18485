"""SQL and options as people give them on a command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from streamtables.errors import ConfigError

SqlFile = Annotated[
    Path | None,
    typer.Option("--file", "-f", help="Read the SQL from this file.", show_default=False),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        help="One option, may be repeated.",
        metavar="KEY=VALUE",
        show_default=False,
    ),
]


def sql_from(argument: str | None, file: Path | None) -> str:
    """Return SQL from the argument, a file, or standard input when the argument is `-`."""
    if (argument is None) == (file is None):
        raise ConfigError(
            "the SQL must come from exactly one place",
            hint="Give the SQL as an argument, with --file, or as - to read standard input.",
        )
    text = _read_file(file) if file is not None else _argument_text(argument or "")
    if not text.strip():
        raise ConfigError("the SQL is empty", hint="Give one query or statement.")
    return text


def optional_sql_from(argument: str | None, file: Path | None) -> str | None:
    """Return SQL as `sql_from` does, or nothing when none was given."""
    return None if argument is None and file is None else sql_from(argument, file)


def options_from(pairs: Sequence[str] | None) -> dict[str, str]:
    """Return `key=value` texts as a mapping."""
    options: dict[str, str] = {}
    for pair in pairs or ():
        key, mark, value = (part.strip() for part in pair.partition("="))
        if not mark or not key:
            raise ConfigError(f'option "{pair}" has no value', hint="Write an option as KEY=VALUE.")
        if key in options:
            raise ConfigError(f'option "{key}" is given twice', hint="Keep one of the two.")
        options[key] = value
    return options


def _argument_text(argument: str) -> str:
    return sys.stdin.read() if argument == "-" else argument


def _read_file(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8 text"
        raise ConfigError(
            f'cannot read the file "{file}"',
            detail=f"The reason is: {reason}.",
            hint="Name a text file with one query or statement.",
        ) from exc
