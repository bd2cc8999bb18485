"""One entry of a Delta log, as far as this package looks at it.

The action types and their fields are those of the Delta protocol ("Actions").
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from streamtables.errors import SourceUnusableError
from streamtables.positions import CommitStamp, InputId, Version

# JSON values as json.loads gives them; each field is checked where it is read.
Json = dict[str, object]


# The numbers of a log have at most 64 bits; `isdigit` would take digits that `int` does not.
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,19}")

# Rows that were updated, merged and deleted, as Spark and deltalake name them.
_ROW_METRICS = (
    ("numUpdatedRows", "numTargetRowsUpdated", "num_updated_rows", "num_target_rows_updated"),
    (
        "numTargetRowsInserted",
        "numTargetRowsDeleted",
        "num_target_rows_inserted",
        "num_target_rows_deleted",
    ),
    ("numDeletedRows", "num_deleted_rows"),
)


@dataclass(frozen=True)
class LogEntry:
    """What one commit says about itself and about the table."""

    version: Version
    timestamp_ms: int
    # What the file is recognised by: another commit of the same number has another one.
    mark: str
    operation: str
    changes_rows: bool
    transactions: Mapping[InputId, int]
    stamp: CommitStamp | None
    # Set when the commit holds a metaData action: the table was made or altered.
    table_id: str | None = None
    schema_string: str | None = None
    partition_columns: tuple[str, ...] = ()
    configuration: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, int] = field(default_factory=dict)
    files_added: int = 0
    bytes_added: int = 0
    files_removed: int = 0
    # Whether every changed row is a row of an added file.
    only_adds: bool = False
    rows_added: int | None = 0
    rows_removed: int | None = 0
    # Bytes that a reader of the change feed has to open for this commit.
    feed_bytes: int = 0
    # The files that these are, as the log names them.
    feed_files: tuple[str, ...] = ()
    # Whether they are those of change files, and not of the files that came and went.
    has_change_files: bool = False
    # Why deltalake would read the change feed of this commit wrongly, if it would.
    feed_hazard: str | None = None

    @property
    def is_maintenance(self) -> bool:
        """Whether the commit moved or described data and changed neither rows nor schema."""
        return not self.changes_rows and self.schema_string is None

    @property
    def told_rows(self) -> int | None:
        """How many rows came and went by the commit's own metrics; an update is one of each."""
        updated, merged, deleted = (
            sum(self.metrics.get(name, 0) for name in names) for names in _ROW_METRICS
        )
        return 2 * updated + merged + deleted or None

    @property
    def changed_rows(self) -> int | None:
        """About how many rows came and went; None where the entry does not tell."""
        if not self.changes_rows:
            return 0
        if (told := self.told_rows) is not None:
            return told
        if self.has_change_files and self.rows_added and self.bytes_added:
            # As many as change files of their size hold, if a row takes what it takes elsewhere.
            return round(self.rows_added * self.feed_bytes / self.bytes_added)
        if self.rows_added is None or self.rows_removed is None:
            return None
        return self.rows_added + self.rows_removed


def parse_entry(version: Version, data: bytes, *, written_ms: int) -> LogEntry:
    """Read the actions of one entry file.

    Raises:
        SourceUnusableError: the file is not what the Delta protocol says it is.
    """
    actions = _actions(version, data)
    info = (actions.get("commitInfo") or [{}])[0]
    metadata = (actions.get("metaData") or [{}])[0]
    changing = [a for a in actions.get("add", []) if a.get("dataChange", True)]
    leaving = [a for a in actions.get("remove", []) if a.get("dataChange", True)]
    change_files = actions.get("cdc", [])
    return LogEntry(
        version=version,
        mark=blake2b(data, digest_size=12).hexdigest(),
        timestamp_ms=_integer(info.get("inCommitTimestamp") or info.get("timestamp"), written_ms),
        operation=str(info.get("operation", "")),
        changes_rows=bool(changing or leaving or change_files),
        transactions={
            InputId(str(a.get("appId", ""))): _integer(a.get("version"), 0)
            for a in actions.get("txn", [])
        },
        stamp=_stamp(info),
        table_id=_text(metadata.get("id")),
        schema_string=_text(metadata.get("schemaString")),
        partition_columns=_texts(metadata.get("partitionColumns")),
        configuration=_mapping(metadata.get("configuration")),
        metrics=_metrics(info.get("operationMetrics")),
        files_added=len(actions.get("add", [])),
        bytes_added=_sizes(actions.get("add", [])),
        files_removed=len(actions.get("remove", [])),
        only_adds=bool(changing) and not leaving and not change_files,
        rows_added=_rows(changing),
        rows_removed=_rows(leaving),
        feed_bytes=_sizes(change_files) if change_files else _sizes(changing + leaving),
        feed_files=tuple(str(a.get("path")) for a in change_files or changing + leaving),
        has_change_files=bool(change_files),
        feed_hazard=None if change_files else _feed_hazard(changing, leaving, info),
    )


def _actions(version: Version, data: bytes) -> dict[str, list[Json]]:
    """Return the actions of an entry by their kind, in the order of the file."""
    actions: dict[str, list[Json]] = {}
    # Lines end with a line feed alone: a text may hold what else counts as the end of a line.
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        action = _loaded(line)
        if not isinstance(action, dict) or not all(isinstance(b, dict) for b in action.values()):
            raise SourceUnusableError(
                f"version {version} of a Delta log cannot be read",
                detail="A line of its entry is not an action of the Delta protocol.",
                hint="Restore the file, or make the table anew from its data.",
            )
        for kind, body in action.items():
            actions.setdefault(kind, []).append(body)
    return actions


def _loaded(text: bytes | str) -> object:
    """Return JSON as values; None where it is none, or is nested beyond measure."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _feed_hazard(adds: list[Json], removes: list[Json], info: Json) -> str | None:
    """Say why the deletion vectors of a commit without change files mislead deltalake.

    deltalake 1.6 reads a pair (remove f, add f with a larger vector) rightly as the rows that the
    vector gained.  Of a removed file that had a vector it gives the rows that were deleted
    *before*, not those that the removal takes away.
    """
    added = {str(a.get("path")): _cardinality(a) for a in adds}
    removed = {str(a.get("path")): _cardinality(a) for a in removes}
    with_vectors = {p for side in (added, removed) for p, rows in side.items() if rows}
    if not with_vectors:
        return None
    if str(info.get("operation", "")).upper() == "RESTORE":
        return "a RESTORE over deletion vectors"
    for path in with_vectors:
        if path not in added or path not in removed:
            return "a whole file that had a deletion vector came or went"
        if added[path] <= removed[path]:
            return "a deletion vector that shrank"
    return None


def _cardinality(action: Json) -> int:
    vector = action.get("deletionVector")
    return _integer(vector.get("cardinality"), 0) if isinstance(vector, dict) else 0


def _stamp(info: Json) -> CommitStamp | None:
    text = info.get("userMetadata")
    return CommitStamp.from_json(text) if isinstance(text, str) else None


def _rows(actions: list[Json]) -> int | None:
    """Return the rows of the files, deleted ones taken off; None when a file does not tell."""
    total = 0
    for action in actions:
        stats = action.get("stats")
        told = _loaded(stats) if isinstance(stats, str) else None
        records = told.get("numRecords") if isinstance(told, dict) else None
        if not isinstance(records, int):
            return None
        total += records - _cardinality(action)
    return total


def _sizes(actions: Iterable[Json]) -> int:
    return sum(_integer(action.get("size"), 0) for action in actions)


def _metrics(value: object) -> Mapping[str, int]:
    pairs = value.items() if isinstance(value, dict) else ()
    return {str(k): int(v) for k, v in pairs if _WHOLE_NUMBER.fullmatch(str(v))}


def _mapping(value: object) -> Mapping[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _integer(value: object, otherwise: int) -> int:
    is_number = isinstance(value, int) or (
        isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value) is not None
    )
    return int(str(value)) if is_number and not isinstance(value, bool) else otherwise
