"""What the catalog holds, as frozen values.

    Source          a table that someone else writes
    StreamTable     a definition: a query, its options, where its rows are, and its state
    View            a query under a name, which readers inline
    Function        an expression in SQL, or the name of a function that a process registers
    Input           one edge: a stream table reads this source or stream table
    Standing        where a stream table stands (see `streamtables.positions`)
    RefreshRecord   one refresh: mode, reason, positions, rows, seconds of each step
    FileFolder      a folder whose files are the rows of a source
    Capture         how the changes of a PostgreSQL table reach its mirror
    CaptureEvent    one step of a capture: why it began, moved, copied anew or stopped

Times are in UTC and come from the caller; ids are never reused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypedDict
from uuid import uuid4

from streamtables.positions import (
    BaseFrontier,
    Frontier,
    InputId,
    RefreshId,
    Sequence,
    Standing,
)

__all__ = [
    "Alteration",
    "Capture",
    "CaptureEvent",
    "CaptureMode",
    "CaptureWish",
    "Column",
    "FileFolder",
    "Function",
    "FunctionLanguage",
    "Input",
    "InputKind",
    "JsonValue",
    "Options",
    "RefreshRecord",
    "RefreshState",
    "Source",
    "SourceKind",
    "Standing",
    "Step",
    "StreamTable",
    "TableState",
    "View",
    "new_id",
    "new_refresh_id",
]

SourceKind = Literal["delta", "postgres", "files"]
CaptureMode = Literal["triggers", "wal"]
CaptureWish = Literal["auto", "triggers", "wal"]
FunctionLanguage = Literal["sql", "python", "python-aggregate"]
InputKind = Literal["source", "stream-table"]
TableState = Literal["active", "paused", "suspended", "damaged", "needs-rebuild"]
RefreshState = Literal[
    "running", "applied", "no-change", "superseded", "deferred", "cancelled", "failed"
]
JsonValue = str | int | float | bool | None
Options = Mapping[str, JsonValue]


def new_id() -> InputId:
    """Return an id for whatever is defined; its hyphens keep it apart from any name."""
    return InputId(str(uuid4()))


def new_refresh_id() -> RefreshId:
    """Return an id for one attempt to refresh."""
    return RefreshId(str(uuid4()))


@dataclass(frozen=True)
class Column:
    """A column of a source or stream table, with its Spark SQL type."""

    name: str
    type: str
    nullable: bool = True


@dataclass(frozen=True)
class Source:
    """A table that someone else writes.

    `delta_table_id` is the id in the Delta table's metadata: another one at the same place means
    another table.
    """

    id: InputId
    name: str
    location: str
    columns: tuple[Column, ...]
    delta_table_id: str
    added_at: datetime
    key_columns: tuple[str, ...] = ()
    kind: SourceKind = "delta"

    @property
    def is_mirror(self) -> bool:
        """Whether its Delta table is written here, after something that is no Delta table."""
        return self.kind != "delta"


@dataclass(frozen=True)
class FileFolder:
    """A folder whose files are the rows of a source.

    `folder` is a path or a URI; `pattern` is for the names of files, "" for all; `schema` are the
    columns as a person gave them, "" where they are learnt from the files, and grow with them.
    """

    source_id: InputId
    folder: str
    format: str
    pattern: str = ""
    schema: str = ""
    options: Options = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Capture:
    """How the changes of a PostgreSQL table reach its mirror.

    `server` is the address as the user gave it, often a reference to a secret; `database` tells one
    database from another whatever the address.  `tag` is in the name of all that is ours there.
    While `moving_to` is set both ways capture, and a drain decides from which on the other counts.
    `shape` is what was known of the table at the last copy; `copy_reason` is why it has to be
    copied anew, or empty.
    """

    source_id: InputId
    server: str
    database: str
    tag: str
    relation: int
    table_name: str
    wish: CaptureWish
    mode: CaptureMode
    shape: str
    overrides: Options = field(default_factory=dict, hash=False)
    moving_to: CaptureMode | None = None
    moving_since: int = 0
    """The number of the last drain when the move began."""
    copy_reason: str = ""
    note: str = ""
    """Why it is not captured in a better way, or what last went wrong."""


@dataclass(frozen=True)
class CaptureEvent:
    """One step of a capture, with its reason."""

    source_id: InputId
    at: datetime
    kind: str
    reason: str


@dataclass(frozen=True)
class View:
    """A query under a name.

    `uses` are the ids of all that it reaches, directly or through others: sources, stream tables,
    views and functions.
    """

    id: InputId
    name: str
    query: str
    created_at: datetime
    altered_at: datetime
    uses: tuple[InputId, ...] = ()


@dataclass(frozen=True)
class Function:
    """A function of one value, or in Python also of the values of many rows.

    In SQL it has parameters and a body; in Python the catalog knows its name and type alone.
    """

    id: InputId
    name: str
    language: FunctionLanguage
    returns: str
    created_at: datetime
    altered_at: datetime
    parameters: tuple[Column, ...] = ()
    body: str = ""
    deterministic: bool = True
    uses: tuple[InputId, ...] = ()


@dataclass(frozen=True)
class Input:
    """A source or stream table that a stream table reads, and the columns it reads of it."""

    id: InputId
    kind: InputKind
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class StreamTable:
    """The definition of a stream table.

    `key_columns` is None for a bag, and empty for a table of at most one row.  `owner_id` is set
    on internal tables only.  `generation` is the catalog's generation at the last change of this
    definition, and `inputs` what it reads; the catalog fills in both.  `uses` are the ids of the
    views and functions that its query reaches.
    """

    id: InputId
    name: str
    query: str
    defining_query_hash: str
    location: str
    columns: tuple[Column, ...]
    created_at: datetime
    altered_at: datetime
    schedule: str = "manual"
    mode: str = "auto"
    full_policy: str = "allow"
    tier: str = "hot"
    options: Options = field(default_factory=dict, hash=False)
    state: TableState = "active"
    state_reason: str = ""
    key_columns: tuple[str, ...] | None = None
    owner_id: InputId | None = None
    generation: int = 0
    uses: tuple[InputId, ...] = ()
    inputs: tuple[Input, ...] = ()

    @property
    def is_internal(self) -> bool:
        """Whether the table holds the state of another one."""
        return self.owner_id is not None


class Alteration(TypedDict, total=False):
    """The parts of a definition that can be changed; a part that is absent stays as it is."""

    name: str
    query: str
    defining_query_hash: str
    location: str
    columns: tuple[Column, ...]
    schedule: str
    mode: str
    full_policy: str
    tier: str
    options: Options
    key_columns: tuple[str, ...] | None
    uses: tuple[InputId, ...]


CHOICE = "choose"
"""The step of a record that holds what was known when its way was chosen."""
OWN_SHARE = "own_share"
"""The fact of that step that says which share of its time a refresh would have taken alone."""

SHARE = "share"
"""The step in which one statement computes several tables, or waits for who does that."""

TOGETHER = "tables"
"""The fact of that step that says how many tables were computed; not there where it was none."""


@dataclass(frozen=True)
class Step:
    """One step of a refresh, with its seconds and what else was measured."""

    name: str
    seconds: float
    facts: Options = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class RefreshRecord:
    """One refresh, from its start; what is not known yet has its default."""

    id: RefreshId
    stream_table_id: InputId
    sequence: Sequence
    process: str
    started_at: datetime
    state: RefreshState = "running"
    mode: str = ""
    reason_code: str = ""
    reason_text: str = ""
    strategy: str = ""
    from_frontier: Frontier = Frontier.EMPTY
    to_frontier: Frontier = Frontier.EMPTY
    base_frontier: BaseFrontier = Frontier.EMPTY
    rows_inserted: int = 0
    rows_deleted: int = 0
    rows_in: int = 0
    seconds: float = 0.0
    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    error_code: str = ""
    error_text: str = ""
    finished_at: datetime | None = None

    @property
    def outcome(self) -> RefreshState:
        """How the refresh ended, by the name that its answer uses."""
        return self.state

    @property
    def own_share(self) -> float:
        """The share of its time that the refresh would have taken alone; 1 where it was."""
        facts = next((step.facts for step in self.steps if step.name == CHOICE), {})
        share = facts.get(OWN_SHARE)
        return float(share) if isinstance(share, int | float) else 1.0

    @property
    def computed_together(self) -> bool:
        """Whether a statement gave its rows that computed other tables too.

        What it took tells nothing of what the refresh takes alone.
        """
        return any(TOGETHER in step.facts for step in self.steps)

    @property
    def alone_seconds(self) -> float:
        """About what the refresh would have taken alone, without waiting for others in vain."""
        vain = sum(step.seconds for step in self.steps if step.name == SHARE)
        return max(0.0, self.seconds - vain) * self.own_share
