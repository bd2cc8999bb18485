"""Whether a column is still the one that it was: a name may come to stand for other values.

With column mapping a column has a physical name that stays when it is renamed.  Two columns that
exchange their names look untouched, and no row changes; only the physical names tell.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from streamtables.engine.delta_log import DeltaLog
from streamtables.positions import Version

_PHYSICAL_NAME = "delta.columnMapping.physicalName"


def moved_columns(
    location: str, after: Version, upto: Version, columns: Sequence[str]
) -> tuple[str, ...]:
    """Return those of the columns that an ALTER in (after, upto] made another column.

    Raises:
        HistoryGoneError: the log no longer holds one of the versions.
    """
    log = DeltaLog(location)
    altered = [entry.schema_string for entry in log.entries(after, upto) if entry.schema_string]
    if not altered:
        return ()
    before, now = _identities(_schema_at(log, after)), _identities(altered[-1])
    names = (name.lower() for name in columns)
    return tuple(name for name in names if name in now and before.get(name) != now[name])


def _schema_at(log: DeltaLog, version: Version) -> str:
    """Return the schema that held at a version: the last one before it that the log tells."""
    for number in range(int(version), -1, -1):
        entry = log.entry(Version(number))
        if entry is None:
            return _schema_of_snapshot(log.location, version)
        if entry.schema_string:
            return entry.schema_string
    return _schema_of_snapshot(log.location, version)


def _schema_of_snapshot(location: str, version: Version) -> str:
    """Return the schema at a version whose own entry a checkpoint has replaced; "" if unknown."""
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        return str(DeltaTable(location, version=int(version)).schema().to_json())
    except (DeltaError, OSError):
        return ""


def _identities(schema: str) -> dict[str, tuple[str, str]]:
    """Return what each column is, by its name in lower case: physical name and type."""
    fields = json.loads(schema)["fields"] if schema else []
    return {field["name"].lower(): _identity(field) for field in fields}


def _identity(field: dict[str, object]) -> tuple[str, str]:
    metadata = field.get("metadata")
    known = metadata if isinstance(metadata, dict) else {}
    physical = str(known.get(_PHYSICAL_NAME, field["name"]))
    return physical, json.dumps(field["type"], sort_keys=True)
