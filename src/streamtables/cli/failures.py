"""Errors at the edge: three lines for a person, an exit code for a program.

Exit 1 means that it ran and the answer is bad; exit 2 that the request is wrong.
"""

from __future__ import annotations

import sys
import traceback

import typer

from streamtables.errors import (
    ConfigError,
    DuplicateKeyError,
    InternalError,
    QueryFailedError,
    SqlError,
    StreamTablesError,
    UserError,
)

BAD_ANSWER = 1
WRONG_REQUEST = 2
INTERRUPTED = 130
BROKEN_PIPE = 141

WIDEST_PLACE = 100


def exit_code(error: StreamTablesError) -> int:
    """Return 2 when the request itself is wrong, else 1."""
    # These two show only when the query runs, and depend on the rows that it meets.
    if isinstance(error, DuplicateKeyError | QueryFailedError):
        return BAD_ANSWER
    return WRONG_REQUEST if isinstance(error, UserError) else BAD_ANSWER


def from_usage(error: typer.TyperException) -> ConfigError:
    """Return a parser's complaint as an error of our own tree."""
    text = _one_line(error.format_message()).replace("Value error, ", "")
    message, _, detail = text.partition(". ")
    message = message.rstrip(".")
    command = getattr(getattr(error, "ctx", None), "command_path", "streamtables")
    return ConfigError(
        message[:1].lower() + message[1:],
        detail=detail,
        hint=f"Run '{command} --help' to see what it takes.",
    )


def from_unexpected(error: Exception) -> InternalError:
    """Return what nobody foresaw as an internal error; its traceback shows only with --debug."""
    return InternalError(
        f"unexpected {type(error).__name__}: {_one_line(str(error))}",
        hint="Run the command again with --debug to see where it happened.",
    )


def error_lines(error: StreamTablesError) -> list[str]:
    """Return the lines to show: the message, the detail, the place in the SQL, the hint."""
    lines = [f"error[{error.code}]: {_one_line(error.message)}"]
    if error.detail:
        lines.append(f"  {_one_line(error.detail)}")
    if isinstance(error, SqlError) and error.place:
        lines += [f"    {line}" for line in _fitted_place(error.place)]
    if error.hint:
        lines.append(f"hint: {_one_line(error.hint)}")
    return lines


def show_error(error: StreamTablesError, *, debug: bool) -> None:
    """Print an error on standard error, in colour to a terminal, with its traceback on request."""
    if debug:
        traceback.print_exception(error)
    colour = sys.stderr.isatty()
    for line in error_lines(error):
        head, mark, rest = line.partition(":")
        if colour and mark and head.startswith(("error[", "hint")):
            head = typer.style(head, fg="red" if head.startswith("error") else "cyan", bold=True)
        print(head + mark + rest, file=sys.stderr)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _fitted_place(place: str) -> list[str]:
    """Return the SQL line and its carets, cut to a window round the caret when the line is long."""
    # One column per character, or the caret would stand beside its word.
    line, carets = (part.replace("\t", " ") for part in place.split("\n", 1))
    start = len(carets) - len(carets.lstrip())
    if len(line) <= WIDEST_PLACE:
        return [line, carets]
    left = max(0, start - WIDEST_PLACE // 2)
    return [line[left : left + WIDEST_PLACE], carets[left : left + WIDEST_PLACE]]
