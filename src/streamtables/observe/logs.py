"""Log lines: events with fields, as text for people or as JSON for programs.

A line says what happened in a few fixed words; what it happened to is in fields.  Fields hold
names, codes, counts and seconds, never rows, query texts or addresses.  While a table is refreshed
every line of its thread has the table and the refresh id.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Literal, TextIO

Format = Literal["text", "json"]
ROOT = "streamtables"

_about: ContextVar[Mapping[str, object]] = ContextVar("streamtables_about")

# Without it Python would print warnings of a library that nobody has set up.
logging.getLogger(ROOT).addHandler(logging.NullHandler())


@contextmanager
def about(**fields: object) -> Iterator[None]:
    """Have every line inside carry some fields."""
    token = _about.set({**_about.get({}), **fields})
    try:
        yield
    finally:
        _about.reset(token)


def start_logs(stream: TextIO, *, level: str, form: str) -> logging.Handler:
    """Write the lines of this package to a stream; lines of others are left alone."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    handler.addFilter(_with_context)
    logger = logging.getLogger(ROOT)
    logger.setLevel(level.upper())
    logger.propagate = False
    logger.addHandler(handler)
    return handler


def end_logs(handler: logging.Handler) -> None:
    """Write no more; what was written is flushed."""
    logger = logging.getLogger(ROOT)
    handler.flush()
    logger.removeHandler(handler)
    logger.propagate = True
    logger.setLevel(logging.NOTSET)


def _with_context(record: logging.LogRecord) -> bool:
    own: Mapping[str, object] = getattr(record, "fields", {})
    record.fields = {**_about.get({}), **own}
    return True


class TextLines(logging.Formatter):
    """Moment, level, what happened, then the fields as `name=value`."""

    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={_word(value)}" for name, value in _fields(record).items())
        line = f"{_moment(record)} {record.levelname.lower():<7} {record.getMessage()}"
        return f"{line} {fields}".rstrip()


class JsonLines(logging.Formatter):
    """One JSON object for each line."""

    def format(self, record: logging.LogRecord) -> str:
        said = {
            "at": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "thread": record.threadName,
            "event": record.getMessage(),
        }
        return json.dumps({**_fields(record), **said}, default=str, ensure_ascii=False)


def _fields(record: logging.LogRecord) -> Mapping[str, object]:
    fields: Mapping[str, object] = getattr(record, "fields", {})
    if record.exc_info and record.exc_info[0] is not None:
        # Not its text: what a driver or Spark says may quote a value.
        fields = {**fields, "error_type": record.exc_info[0].__name__}
    return fields


def _moment(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _word(value: object) -> str:
    text = str(value)
    plain = bool(text) and not any(char.isspace() or char in '"=' for char in text)
    return text if plain else json.dumps(text, ensure_ascii=False)
