"""Mirrors: Delta tables with the rows of PostgreSQL tables, and the positions in their commits.

Invariant: the rows of a mirror's commit are the rows of its table at the position in that commit.
A mirror goes on from the position in its own last commit, or from the last recorded drain when it
has made no commit since.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streamtables.catalog.models import Source, new_refresh_id
from streamtables.engine import arrow_rows, small_hand
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.log_facts import facts_of
from streamtables.engine.mirror_merge import merge_spooled
from streamtables.engine.outcomes import Applied, NotSmall, Superseded
from streamtables.engine.small_commit import ROWS_MAX
from streamtables.errors import CommitConflictError, HistoryGoneError, TableDamagedError
from streamtables.positions import (
    COPY,
    CommitStamp,
    Drain,
    Frontier,
    MirrorStanding,
    NotWritten,
    PgPosition,
    RefreshId,
    Sequence,
    Tampered,
    Version,
    judge_mirror,
)
from streamtables.sources.postgres.captured import Captured, complete, with_marks
from streamtables.sources.postgres.spool import as_parquet
from streamtables.sources.postgres.touched import touched_columns

if TYPE_CHECKING:
    from streamtables.engine.session import SparkSessions

SMALL_ROWS = 200_000
"""Up to this many changed rows a mirror is written without Spark."""


@dataclass(frozen=True)
class Brought:
    """The version that shows a mirror's new position, and why Spark had to write it, if it had."""

    version: Version
    by_spark: str = ""


def standing_of(source: Source, recorded: Drain | None) -> tuple[MirrorStanding, Version]:
    """Return where a mirror stands by its own log, and the head of that log.

    Raises:
        TableDamagedError: somebody else wrote to it, or it is gone.
    """
    log = DeltaLog(source.location)
    known = _recorded(source, recorded, log)
    head = log.head(known.version if known else None)
    if head is None or (known is not None and head < known.version):
        raise _damaged(source, "it is gone or was made again")
    try:
        entries = facts_of(log.entries(known.version if known else Version(-1), head))
    except HistoryGoneError as error:
        raise _damaged(source, "its log was cut short") from error
    found = judge_mirror(entries, source.id, known)
    if isinstance(found, Tampered):
        raise _damaged(source, f"version {found.version} was not written by a drain")
    if isinstance(found, NotWritten):
        raise _damaged(source, "it was never filled")
    return found, head


def standing_since_copy(source: Source) -> tuple[MirrorStanding, Version]:
    """Return where a mirror stands that this drain has copied, whatever is recorded of it.

    A mirror that was lost begins anew, at versions that the record knows nothing of.
    """
    log = DeltaLog(source.location)
    head = log.head()
    for version in range(-1 if head is None else int(head), -1, -1):
        entry = log.entry(Version(version))
        if entry is None:
            break
        stamp = entry.stamp
        if stamp is not None and stamp.table_id == source.id and stamp.mode == COPY:
            assert head is not None
            entries = facts_of(log.entries(Version(version - 1), head))
            found = judge_mirror(entries, source.id, None)
            if isinstance(found, MirrorStanding):
                return found, head
            break
    raise _damaged(source, "its copy is not in its log")


def _recorded(source: Source, drain: Drain | None, log: DeltaLog) -> MirrorStanding | None:
    """Return what the last recorded drain says of a mirror."""
    if drain is None or source.id not in drain.versions:
        return None
    version = drain.versions[source.id]
    entry = log.entry(version)
    if entry is None or entry.stamp is None:
        raise _damaged(source, "its log was cut short")
    stamp = entry.stamp
    return MirrorStanding(version, stamp.sequence, stamp.refresh_id, drain.position)


def last_sequence(source: Source) -> Sequence:
    """Return the sequence of a mirror's last commit of ours, whatever came after it; 0 without."""
    log = DeltaLog(source.location)
    head = log.head()
    for version in range(-1 if head is None else int(head), -1, -1):
        entry = log.entry(Version(version))
        if entry is None:
            break
        if (number := entry.transactions.get(source.id)) is not None:
            return Sequence(number)
    return Sequence(0)


def next_stamp(
    source: Source, sequence: Sequence, position: PgPosition, *, mode: str = "drain"
) -> CommitStamp:
    """Return what rides in the commit that brings a mirror to a position."""
    return CommitStamp(
        table_id=source.id,
        sequence=Sequence(sequence + 1),
        refresh_id=RefreshId(new_refresh_id()),
        frontier=Frontier.EMPTY,
        base_frontier=Frontier.EMPTY,
        mode=mode,
        query_hash="",
        position=position,
    )


def apply_captured(
    source: Source,
    standing: MirrorStanding,
    head: Version,
    captured: Captured,
    position: PgPosition,
    sessions: SparkSessions,
    *,
    spark_only: bool = False,
) -> Brought:
    """Bring a mirror to a position by one commit.

    With `spark_only`, which is somebody's choice and so no news, no other hand writes.

    Raises:
        CommitConflictError: another process drained first.
    """
    stamp = next_stamp(source, standing.sequence, position)
    key = source.key_columns or None
    by_spark = ""
    if spark_only:
        done = _large(source, head, captured, stamp, key, sessions)
    else:
        try:
            done = _small(source, head, captured, stamp, key)
        except NotSmall as reason:
            by_spark = f"{captured.rows.num_rows:,} changed rows: {reason}"
            done = _large(source, head, captured, stamp, key, sessions)
    if isinstance(done, Superseded):
        raise CommitConflictError(f'another process drained "{source.name}" first')
    return Brought(standing.version if done.version is None else done.version, by_spark)


def _small(
    source: Source,
    head: Version,
    captured: Captured,
    stamp: CommitStamp,
    key: tuple[str, ...] | None,
) -> Applied | Superseded:
    if captured.rows.num_rows > _rows_max(captured):
        raise NotSmall("more rows changed than a driver should hold")
    handle = small_hand.open_at(source.location, head)
    if captured.cleared:
        return small_hand.replace_all(handle, captured.rows, key_columns=key, stamp=stamp)
    if captured.replaced is None:
        stamp = replace(stamp, changed=captured.changed or touched_columns(captured.rows))
        return small_hand.apply(handle, captured.rows, key_columns=key, stamp=stamp)
    # Rows are named by the replica identity, which need not be the primary key.
    named = tuple(captured.replaced.column_names)
    covered = small_hand.read_keys(handle, named, captured.replaced)
    stored = arrow_rows.semi_join(covered.rows, covered.keys, named)
    signed = complete(captured, stored, named)
    stamp = replace(stamp, changed=touched_columns(signed))
    return small_hand.apply(
        handle,
        signed,
        key_columns=key,
        stamp=stamp,
        covered=covered if named == key else None,
    )


def _rows_max(captured: Captured) -> int:
    """Return how many rows may be applied on the driver.

    Values that the server did not send are completed there with less reading.
    """
    return ROWS_MAX if captured.unsent else SMALL_ROWS


def _large(
    source: Source,
    head: Version,
    captured: Captured,
    stamp: CommitStamp,
    key: tuple[str, ...] | None,
    sessions: SparkSessions,
) -> Applied | Superseded:
    """Hand the changes to Spark through files: they may be more than a driver should hold."""
    stamp = replace(stamp, changed=captured.changed)
    with (
        as_parquet(with_marks(captured)) as changes,
        as_parquet(captured.replaced) as keys,
        sessions.lease("bulk", tag=stamp.refresh_id) as spark,
    ):
        return merge_spooled(
            spark,
            str(changes),
            source.location,
            stamp,
            key_columns=key,
            version=head,
            cleared=captured.cleared,
            keys=None if keys is None else str(keys),
        )


def _damaged(source: Source, reason: str) -> TableDamagedError:
    return TableDamagedError(
        f'the mirror of source "{source.name}" is damaged', detail=f"Reason: {reason}."
    )
