"""Changes as JSON, the same for webhooks, for Kafka and over HTTP."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

import pyarrow as pa

from streamtables.engine.names import WEIGHT
from streamtables.publish.reading import Changes


def head_of(changes: Changes) -> dict[str, Any]:
    """Return what a window of changes is, without its rows."""
    return {
        "publication": changes.publication,
        "table": changes.table,
        "key": changes.key,
        "incarnation": changes.incarnation,
        "after": changes.after,
        "upto": changes.upto,
        "reset": changes.reset,
        "key_columns": list(changes.key_columns) if changes.key_columns is not None else None,
    }


def rows_of(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """Give the changed rows of a batch, each with its weight."""
    for row in batch.to_pylist():
        weight = row.pop(WEIGHT)
        yield {"weight": weight, "row": plain(row)}


def text_of(value: object) -> str:
    """Return a value as one line of JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def plain(value: Any) -> Any:
    """Return a value that JSON holds: what it has no form for becomes text, binary base64."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return b64encode(value).decode("ascii")
        case dict():
            return {str(name): plain(item) for name, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
    return str(value)
