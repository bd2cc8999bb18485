"""Whether the commits of an input leave alone what a reader looks at, by their own words."""

from __future__ import annotations

from collections.abc import Iterable

from streamtables.engine.log_entry import LogEntry
from streamtables.engine.names import RESERVED_PREFIX
from streamtables.positions import InputId


def leave_alone(entries: Iterable[LogEntry], input_id: InputId, columns: Iterable[str]) -> bool:
    """Whether no reader of these columns sees anything of some commits.

    Only a commit of the input's own that names what it touched counts, or one that changed no row.
    """
    read = {name.lower() for name in columns}
    if any(name.startswith(RESERVED_PREFIX) for name in read):
        # Commits do not speak of hidden columns.
        return False
    return all(entry.is_maintenance or _spares(entry, input_id, read) for entry in entries)


def _spares(entry: LogEntry, input_id: InputId, read: set[str]) -> bool:
    stamp = entry.stamp
    if stamp is None or stamp.table_id != input_id or stamp.changed is None:
        return False
    return entry.schema_string is None and read.isdisjoint(map(str.lower, stamp.changed))
