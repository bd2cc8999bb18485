"""How the catalog's values are stored: JSON and times as text, the same on every database."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Generic, TypeVar

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

from streamtables.catalog.models import Column, JsonValue, Options, Step
from streamtables.positions import Frontier

T = TypeVar("T")


class UtcText(TypeDecorator[datetime]):
    """A time in UTC as text of one width, so that text order is time order."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """Return the text to store."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"The time {value} has no zone")
        return value.astimezone(UTC).isoformat(timespec="microseconds")

    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:
        """Return the time that was stored."""
        return None if value is None else datetime.fromisoformat(value)


class JsonText(TypeDecorator[T], Generic[T]):
    """A value as JSON text, by functions to what JSON can hold and back from the text."""

    impl = Text
    cache_ok = True

    def __init__(self, to_plain: Callable[[T], object], from_text: Callable[[str], T]) -> None:
        super().__init__()
        self.to_plain = to_plain
        self.from_text = from_text

    def process_bind_param(self, value: T | None, dialect: Dialect) -> str | None:
        """Return the text to store."""
        if value is None:
            return None
        return json.dumps(self.to_plain(value), separators=(",", ":"), ensure_ascii=False)

    def process_result_value(self, value: str | None, dialect: Dialect) -> T | None:
        """Return the value that was stored."""
        return None if value is None else self.from_text(value)


def _names_from_text(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _columns_to_plain(columns: tuple[Column, ...]) -> object:
    return [[column.name, column.type, column.nullable] for column in columns]


def _columns_from_text(text: str) -> tuple[Column, ...]:
    return tuple(Column(*parts) for parts in json.loads(text))


def _options_from_text(text: str) -> Options:
    options: dict[str, JsonValue] = json.loads(text)
    return options


def _steps_to_plain(steps: tuple[Step, ...]) -> object:
    return [{**step.facts, "name": step.name, "seconds": step.seconds} for step in steps]


def _steps_from_text(text: str) -> tuple[Step, ...]:
    return tuple(Step(step.pop("name"), step.pop("seconds"), step) for step in json.loads(text))


# Every round reads all standings, and few of them have moved since the last one.
@lru_cache(maxsize=16_384)
def _frontier_from_text(text: str) -> Frontier:
    return Frontier.from_dict(json.loads(text))


def names_text() -> JsonText[tuple[str, ...]]:
    """Return the type of a list of names."""
    return JsonText(list, _names_from_text)


def columns_text() -> JsonText[tuple[Column, ...]]:
    """Return the type of a table's columns."""
    return JsonText(_columns_to_plain, _columns_from_text)


def options_text() -> JsonText[Options]:
    """Return the type of a table's options."""
    return JsonText(dict, _options_from_text)


def steps_text() -> JsonText[tuple[Step, ...]]:
    """Return the type of a refresh's steps."""
    return JsonText(_steps_to_plain, _steps_from_text)


def frontier_text() -> JsonText[Frontier]:
    """Return the type of a frontier."""
    return JsonText(Frontier.to_dict, _frontier_from_text)
