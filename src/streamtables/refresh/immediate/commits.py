"""The commits of a write: the source first, which is the point of no return, then each table."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

from streamtables.catalog.models import Source, new_refresh_id
from streamtables.engine import small_hand
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.outcomes import Applied, NotSmall, Superseded
from streamtables.engine.source_write import write_signed
from streamtables.errors import (
    CommitConflictError,
    SourceMissingError,
    SourceUnusableError,
    TableDamagedError,
)
from streamtables.fail_points import reach
from streamtables.positions import CommitFacts, CommitStamp, Frontier, InputId, Sequence, Version
from streamtables.refresh.adopt import reconciled
from streamtables.refresh.decide import Decision
from streamtables.refresh.immediate.prepared import Prepared, moved_to
from streamtables.refresh.recording import NO_EFFECT, Recording
from streamtables.refresh.results import Reason, Refresh
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task

WRITE = "write"
"""The mode of a commit that a write of ours made in a source."""


def head_of(source: Source) -> Version:
    """Return the last version of a source."""
    head = DeltaLog(source.location).head()
    if head is None:
        raise SourceMissingError(f'the table of source "{source.name}" is not there')
    return head


def only_writes(source: Source, since: Version, upto: Version) -> bool:
    """Whether nobody but writes of ours changed rows of a source since a version."""
    entries = DeltaLog(source.location).entries(since, upto)
    return all(
        entry.stamp is not None and entry.stamp.mode == WRITE
        for entry in entries
        if entry.changes_rows
    )


def unwritable(source: Source, declined: NotSmall) -> SourceUnusableError:
    """Say that a table can only be written by Spark."""
    return SourceUnusableError(
        f'source "{source.name}" cannot be written here',
        detail=f"Reason: {declined.reason}.",
        hint="Nothing was written. Write it with Spark, then refresh.",
    )


def commit_source(source: Source, signed: pa.Table, head: Version) -> Applied:
    """Write the change as the version after `head`.

    Raises:
        CommitConflictError: somebody else made that version.
        SourceUnusableError: the table can only be written by Spark; nothing has been written.
    """
    stamp = CommitStamp(
        table_id=source.id,
        sequence=Sequence(head + 1),
        refresh_id=new_refresh_id(),
        frontier=Frontier.EMPTY,
        base_frontier=Frontier.EMPTY,
        mode=WRITE,
        query_hash="",
    )
    try:
        handle = small_hand.open_at(source.location, head)
        return write_signed(handle, signed, source.key_columns, stamp)
    except NotSmall as declined:
        raise unwritable(source, declined) from declined


@dataclass
class TableCommits:
    """Commits the prepared changes, each with the versions that its inputs got."""

    around: Surroundings
    source: Source
    before: dict[InputId, Version]
    """What each input stood at when the write was allowed to go on."""
    versions: dict[InputId, Version]
    """What each input got."""

    def commit(self, prepared: Prepared) -> Refresh:
        """Commit and record the change of one table.

        Raises:
            CommitConflictError: somebody else moved the table.
        """
        task = self._task(prepared)
        recording = Recording(task, self.around, prepared.watch)
        text = f'{prepared.rows_in:,} changed rows, written to "{self.source.name}" just now'
        recording.decided(Decision("changes", Reason(WRITE, text)), rows_in=prepared.rows_in)
        assert task.standing is not None
        self.before[task.table.id] = task.standing.version
        self.versions[task.table.id] = task.standing.version
        if prepared.signed.num_rows == 0:
            return recording.no_change(NO_EFFECT, began=False)
        recording.began()
        with prepared.watch.step("commit", hand="deltalake"):
            result = self._applied(task, prepared.signed)
        reach("follower-committed")
        if result.version is None:
            return recording.no_change(NO_EFFECT, began=True)
        self.versions[task.table.id] = result.version
        return recording.applied(result, result.version)

    def _task(self, prepared: Prepared) -> Task:
        """Return the task as the table and its inputs stand now: other writes may have landed."""
        task = moved_to(prepared.task, self.versions, self.source.id)
        known = self.around.catalog.standing(task.table.id)
        found = reconciled(task.table, known, self.around.catalog, self.around.clock())
        if found is None or any(
            found.standing.frontier[item.id] != self.before.get(item.id, item.version)
            for item in task.inputs
        ):
            raise CommitConflictError(f'another process moved "{task.table.name}"')
        return replace(task, standing=found.standing, head=found.head)

    def _applied(self, task: Task, signed: pa.Table) -> Applied:
        try:
            result = small_hand.apply(
                small_hand.open_at(task.table.location, task.stored_version),
                signed,
                key_columns=task.plan.facts.key,
                stamp=task.stamp("differential"),
            )
        except NotSmall as declined:
            # The ordinary refresh, which follows, takes another hand.
            raise CommitConflictError(declined.reason) from declined
        except TableDamagedError as error:
            # Others changed these rows since; if it is more, the ordinary refresh says so.
            raise CommitConflictError(error.message) from error
        if isinstance(result, Superseded):
            raise CommitConflictError("another process moved the table")
        return result


def facts_since(source: Source, since: Version, upto: Version) -> list[CommitFacts]:
    """Return what happened to a source after a version."""
    entries = DeltaLog(source.location).entries(since, upto)
    return [CommitFacts(entry.version, entry.stamp, entry.changes_rows) for entry in entries]
