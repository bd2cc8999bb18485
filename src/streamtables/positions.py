"""Where everything stands: versions, frontiers, pins, and the rules that keep them true.

A *root* is a source that someone else writes; an *input* of a stream table is a root or another
stream table.  Both are named by ids that are never reused, so a source that is dropped and added
again is a new one.

    Frontier        direct input → version that a stream-table version has consumed
    BaseFrontier    root → version that a stream-table version stands for
    Pins            root → version that one round of refreshes moves to
    CommitStamp     all of it, written into the Delta commit that it describes
    PgPosition      a moment of a PostgreSQL database: what it shows, and how far its log reaches
    Drain           a position, and the version of every mirror of the database that shows it
    Standing        the catalog's copy: where a stream table stands

Invariant: a stream-table version equals its query at its base frontier.  Data and stamp are one
commit, so they cannot part; the catalog only holds a copy.

Invariant: sequences in a table's log have no gaps.  A refresh that changes no row makes no commit
and takes no sequence; if it took one, a second leader could write the next one over a commit that
its delta never saw, and Delta would let it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar, Literal, NewType

from streamtables.errors import EnvironmentFaultError

InputId = NewType("InputId", str)
Version = NewType("Version", int)
Sequence = NewType("Sequence", int)
RefreshId = NewType("RefreshId", str)


COPY = "copy"
"""The mode of a commit that puts all rows of a mirror anew."""

CLOCK = InputId("clock")
"""The clock is a root like any other; its version is the moment, in microseconds since 1970."""


class Frontier(Mapping[InputId, Version]):
    """An immutable map from inputs to the version of each that has been consumed."""

    EMPTY: ClassVar[Frontier]
    __slots__ = ("_versions",)

    def __init__(self, versions: Mapping[InputId, Version] | None = None) -> None:
        self._versions: dict[InputId, Version] = dict(sorted((versions or {}).items()))

    def __getitem__(self, input_id: InputId) -> Version:
        return self._versions[input_id]

    def __contains__(self, input_id: object) -> bool:
        return input_id in self._versions

    def __iter__(self) -> Iterator[InputId]:
        return iter(self._versions)

    def __len__(self) -> int:
        return len(self._versions)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frontier) and self._versions == other._versions

    def __hash__(self) -> int:
        return hash(tuple(self._versions.items()))

    def __repr__(self) -> str:
        return f"Frontier({self._versions})"

    def covers(self, other: Frontier) -> bool:
        """Whether this frontier is at or past `other` on every input that `other` names."""
        return all(key in self and self[key] >= version for key, version in other.items())

    def join(self, other: Frontier) -> Frontier:
        """Return the greater version of each input that either frontier names."""
        merged = dict(self._versions)
        for key, version in other.items():
            merged[key] = max(merged.get(key, version), version)
        return Frontier(merged)

    def agrees_with(self, other: Frontier) -> bool:
        """Whether both name the same version for each input that both name."""
        return all(self[key] == version for key, version in other.items() if key in self)

    def restricted_to(self, inputs: frozenset[InputId]) -> Frontier:
        """Return the part of this frontier that names `inputs`."""
        return Frontier({key: version for key, version in self.items() if key in inputs})

    def with_version(self, input_id: InputId, version: Version) -> Frontier:
        """Return a copy in which `input_id` stands at `version`."""
        return Frontier({**self._versions, input_id: version})

    def to_dict(self) -> dict[str, int]:
        """Return a JSON-ready copy."""
        return {str(key): int(version) for key, version in self.items()}

    @classmethod
    def from_dict(cls, versions: Mapping[str, int]) -> Frontier:
        """Read what `to_dict` wrote."""
        return cls({InputId(key): Version(int(version)) for key, version in versions.items()})


Frontier.EMPTY = Frontier()
BaseFrontier = Frontier
Pins = Frontier


@dataclass(frozen=True)
class PgPosition:
    """A moment of a PostgreSQL database.

    `snapshot` is what `pg_current_snapshot()` gave: the transactions whose changes are in.  `lsn`
    is a place in the log that was written after them all.
    """

    snapshot: str
    lsn: str

    def to_dict(self) -> dict[str, str]:
        """Return a JSON-ready copy."""
        return {"snapshot": self.snapshot, "lsn": self.lsn}

    @classmethod
    def from_dict(cls, data: Mapping[str, str]) -> PgPosition:
        """Read what `to_dict` wrote."""
        return cls(data["snapshot"], data["lsn"])


@dataclass(frozen=True)
class Drain:
    """The version of every mirror of a database at one position of it.

    It is recorded after all mirrors have committed, and only what is recorded may be pinned: so no
    transaction of the database is ever seen in half, across tables too.
    """

    database: str
    number: int
    position: PgPosition
    versions: Frontier
    at: datetime
    lags: Mapping[InputId, float] = field(default_factory=dict)
    """For how many seconds the oldest change of a source had been committed, where it had any."""


@dataclass(frozen=True)
class CommitStamp:
    """What rides in the Delta commit of a refresh, or of a drain, beside the rows."""

    table_id: InputId
    sequence: Sequence
    refresh_id: RefreshId
    frontier: Frontier
    base_frontier: Frontier
    mode: str
    query_hash: str
    position: PgPosition | None = None
    """Of a mirror's commit: the moment of the PostgreSQL database that its rows show."""
    changed: frozenset[str] | None = None
    """Of a mirror's commit: the columns without which nothing changed; None is all of them."""

    FORMAT: ClassVar[int] = 1

    def to_json(self) -> str:
        """Return the text that goes into the commit's metadata."""
        data: dict[str, object] = {
            "streamtables": self.FORMAT,
            "table_id": self.table_id,
            "sequence": self.sequence,
            "refresh_id": self.refresh_id,
            "frontier": self.frontier.to_dict(),
            "base_frontier": self.base_frontier.to_dict(),
            "mode": self.mode,
            "query_hash": self.query_hash,
        }
        if self.position is not None:
            data["position"] = self.position.to_dict()
        if self.changed is not None:
            data["changed"] = sorted(self.changed)
        return json.dumps(data, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> CommitStamp | None:
        """Read a stamp back; None when the text is not one of ours."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return None
        # Whoever may write to a table may write any text into its commits.
        if not isinstance(data, dict) or not _is_whole(data.get("streamtables")):
            return None
        if data["streamtables"] != cls.FORMAT:
            raise EnvironmentFaultError(
                f"a commit has a stamp of the format {data['streamtables']}",
                detail=f"This release reads the format {cls.FORMAT}.",
                hint="Upgrade streamtables to the release that wrote the commit.",
            )
        if not _has_form_of_stamp(data):
            return None
        return cls(
            table_id=InputId(data["table_id"]),
            sequence=Sequence(data["sequence"]),
            refresh_id=RefreshId(data["refresh_id"]),
            frontier=Frontier.from_dict(data["frontier"]),
            base_frontier=Frontier.from_dict(data["base_frontier"]),
            mode=data["mode"],
            query_hash=data["query_hash"],
            position=PgPosition.from_dict(data["position"]) if "position" in data else None,
            changed=frozenset(data["changed"]) if "changed" in data else None,
        )


def _has_form_of_stamp(data: Mapping[str, object]) -> bool:
    texts = (data.get(name) for name in ("table_id", "refresh_id", "mode", "query_hash"))
    versions = [data.get("frontier"), data.get("base_frontier")]
    position, changed = data.get("position"), data.get("changed", [])
    return (
        all(isinstance(text, str) for text in texts)
        and _is_whole(data.get("sequence"))
        and all(isinstance(v, dict) and all(map(_is_whole, v.values())) for v in versions)
        and ("position" not in data or _is_position(position))
        and isinstance(changed, list)
        and all(isinstance(name, str) for name in changed)
    )


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_position(value: object) -> bool:
    parts = [value.get("snapshot"), value.get("lsn")] if isinstance(value, dict) else [None]
    return all(isinstance(part, str) for part in parts)


_GONE = 1 << 40


def of_gone_table(version: Version) -> Version:
    """Return how a base frontier names a version of a table in whose place another one is now.

    It is below 0, so no version of the new table is mistaken for it; two tables that had read the
    same still have, and two that had not still have not.

    >>> of_gone_table(Version(3)) < 0
    True
    """
    return Version(version - _GONE)


OF_NO_QUERY = "of no query"
"""The query hash of rows that have to be computed anew, whatever the query of the table is."""


@dataclass(frozen=True)
class Standing:
    """Where a stream table stands: the last version that a refresh wrote, and what it stands for.

    The frontiers may be past those in the commit's stamp: a refresh that found no row to change
    moves them here alone.  `query_hash` is that of the query the rows follow; a leader that has
    not seen the query change may still land rows of the last one.
    """

    version: Version
    sequence: Sequence
    refresh_id: RefreshId
    frontier: Frontier
    base_frontier: BaseFrontier
    query_hash: str
    updated_at: datetime

    @classmethod
    def from_stamp(cls, stamp: CommitStamp, version: Version, at: datetime) -> Standing:
        """Return the standing that a commit describes by itself."""
        return cls(
            version=version,
            sequence=stamp.sequence,
            refresh_id=stamp.refresh_id,
            frontier=stamp.frontier,
            base_frontier=stamp.base_frontier,
            query_hash=stamp.query_hash,
            updated_at=at,
        )

    def may_replace(self, recorded: Standing | None) -> bool:
        """Whether this may be recorded over `recorded` without going back.

        A later commit always may, even when its base frontier is behind: the stored rows are its
        rows.  For one and the same commit the greater frontier counts.
        """
        if recorded is None or self.sequence != recorded.sequence:
            return recorded is None or self.sequence > recorded.sequence
        return (
            self.refresh_id == recorded.refresh_id
            and self.version == recorded.version
            and self.base_frontier.covers(recorded.base_frontier)
        )


@dataclass(frozen=True)
class CommitFacts:
    """What the rules need to know about one entry of a table's log."""

    version: Version
    stamp: CommitStamp | None
    changes_rows: bool
    is_maintenance: bool = False


@dataclass(frozen=True)
class Clean:
    """Nothing was written since the recorded refresh but maintenance."""


@dataclass(frozen=True)
class Adopt:
    """The table is ahead of the catalog: `stamp` is the last refresh in its log."""

    stamp: CommitStamp
    version: Version


@dataclass(frozen=True)
class Tampered:
    """The commit `version` changed rows and is not one of our refreshes."""

    version: Version


@dataclass(frozen=True)
class Landed:
    """Our write is in the log as `version`."""

    version: Version


@dataclass(frozen=True)
class Superseded:
    """Another attempt took our sequence; `stamp` is the last refresh in the log."""

    stamp: CommitStamp
    version: Version


@dataclass(frozen=True)
class NotWritten:
    """No commit carries our sequence."""


def classify_log(
    entries: Iterable[CommitFacts],
    table_id: InputId,
    sequence: Sequence,
    refresh_id: RefreshId | None,
) -> Clean | Adopt | Tampered:
    """Judge every log entry after the recorded commit of (`sequence`, `refresh_id`).

    Each must be the refresh with the next sequence, or change no row.  A maintenance commit may
    restate the stamp of the refresh below it, and of no other: anything else would put a frontier
    over rows that it does not describe.  A table that was never recorded has sequence 0.
    """
    found: Adopt | Clean = Clean()
    for entry in entries:
        stamp = entry.stamp if entry.stamp and entry.stamp.table_id == table_id else None
        if stamp is None or entry.is_maintenance:
            restated = stamp is None or (stamp.sequence, stamp.refresh_id) == (sequence, refresh_id)
            if entry.changes_rows or not restated:
                return Tampered(entry.version)
        elif stamp.sequence != sequence + 1:
            return Tampered(entry.version)
        else:
            sequence, refresh_id = stamp.sequence, stamp.refresh_id
            found = Adopt(stamp, entry.version)
    return found


def judge_write(
    entries: Iterable[CommitFacts], standing: Standing | None, attempt: CommitStamp
) -> Landed | Superseded | Tampered | NotWritten:
    """Say what became of a write that returned, from every log entry after `standing`.

    A Delta write whose sequence is taken returns as if it had worked, so only the log knows.
    """
    entries = tuple(entries)
    recorded = (standing.sequence, standing.refresh_id) if standing else (Sequence(0), None)
    outcome = classify_log(entries, attempt.table_id, *recorded)
    if not isinstance(outcome, Adopt):
        return outcome if isinstance(outcome, Tampered) else NotWritten()
    for entry in entries:
        if entry.stamp == attempt and not entry.is_maintenance:
            return Landed(entry.version)
    taken = outcome.stamp.sequence >= attempt.sequence
    return Superseded(outcome.stamp, outcome.version) if taken else NotWritten()


@dataclass(frozen=True)
class MirrorStanding:
    """Where a mirror stands: its last commit of ours, and the position that its rows show."""

    version: Version
    sequence: Sequence
    refresh_id: RefreshId
    position: PgPosition


def judge_mirror(
    entries: Iterable[CommitFacts], source_id: InputId, recorded: MirrorStanding | None
) -> MirrorStanding | Tampered | NotWritten:
    """Say where a mirror stands, from every log entry after the recorded one.

    A commit ahead of the record counts with its own position: its changes are in, whatever became
    of the drain that made it.  Without one the recorded position counts, which may be past that
    of the recorded commit: the drain found nothing for this mirror.
    """
    entries = tuple(entries)
    known = (recorded.sequence, recorded.refresh_id) if recorded else (Sequence(0), None)
    # A copy puts all rows anew, so what was written before it no longer counts.
    for place, entry in reversed(tuple(enumerate(entries))):
        stamp = entry.stamp
        if stamp is not None and stamp.table_id == source_id and stamp.mode == COPY:
            # An empty table over an empty mirror changes no row, and is a copy all the same.
            copy = replace(entry, is_maintenance=False)
            entries, known = (copy, *entries[place + 1 :]), (Sequence(stamp.sequence - 1), None)
            break
    found = classify_log(entries, source_id, *known)
    if isinstance(found, Tampered):
        return found
    if isinstance(found, Adopt) and found.stamp.position is not None:
        stamp = found.stamp
        assert stamp.position is not None
        return MirrorStanding(found.version, stamp.sequence, stamp.refresh_id, stamp.position)
    return recorded or NotWritten()


def next_base_frontier(upstream: Iterable[BaseFrontier], pins: Pins) -> BaseFrontier | None:
    """Return what a new version stands for, or None where its inputs disagree about a root.

    `upstream` are the base frontiers of the stream tables among the inputs, `pins` the versions
    of the roots among them.  Inputs that disagree would mix two moments in one result.
    """
    joined: BaseFrontier = pins
    for base_frontier in upstream:
        if not joined.agrees_with(base_frontier):
            return None
        joined = joined.join(base_frontier)
    return joined


def pins_at_least(pins: Pins, touched: Iterable[BaseFrontier]) -> Pins:
    """Return `pins`, none of them behind the base frontier of any table the round touches."""
    for base_frontier in touched:
        pins = pins.join(base_frontier)
    return pins


Currency = Literal["current", "behind", "ahead"]


def decide_current(pins: Pins, frontier: Frontier) -> Currency:
    """Say how a table at `frontier` stands to `pins`, which name the table's own inputs only.

    "ahead" means past the pins on at least one input: no refresh can move it to them, and a
    reader that needs the pins has to wait for later ones.
    """
    if any(key in frontier and frontier[key] > version for key, version in pins.items()):
        return "ahead"
    equal = all(frontier.get(key) == version for key, version in pins.items())
    return "current" if equal else "behind"


def last_row_change(entries: Iterable[CommitFacts], otherwise: Version) -> Version:
    """Return the last version that changed rows, or `otherwise` where none did.

    A commit that changes no row is not a change, so pins never name it.
    """
    return max((entry.version for entry in entries if entry.changes_rows), default=otherwise)
