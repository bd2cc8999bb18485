"""Values of the API as JSON-ready data."""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from enum import Enum

from streamtables.errors import StreamTablesError

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def to_json(value: object) -> Json:
    """Return `value` as data that JSON can hold.

    What JSON has no form for becomes text: decimals keep every digit, times are ISO 8601,
    NaN and the infinities are spelled out. Binary is base64.
    """
    match value:
        case Enum():
            return to_json(value.value)
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case StreamTablesError():
            return {"code": value.code, "message": value.message, "hint": value.hint}
        case _:
            return _structure_to_json(value)


def _structure_to_json(value: object) -> Json:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: to_json(getattr(value, name)) for name in names}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: to_json(getattr(value, name)) for name in value._fields}
    if isinstance(value, Mapping):
        return {str(to_json(key)): to_json(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        items = [to_json(item) for item in value]
        # A set has no order of its own; the same answer must print the same way.
        return sorted(items, key=str) if isinstance(value, set | frozenset) else items
    return str(value)


def pick(value: object, *names: str) -> dict[str, Json]:
    """Return the named attributes of `value` as JSON-ready data; an absent one is null."""
    return {name: to_json(getattr(value, name, None)) for name in names}
