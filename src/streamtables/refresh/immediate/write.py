"""One write: into a source, and into every table that follows it at once.

    lock       what the batch touches
    settle     tables that are behind are brought forward first: also what a dead writer left
    compute    what the batch does to each table, with the source as it will be
    commit     the source, which is the point of no return; then the tables, each at the new version

Any error before the source's commit leaves everything as it was.  After it the write is there: what
could not be committed is done by an ordinary refresh, here or before the next write or read.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import pyarrow as pa

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import Source, StreamTable, new_id
from streamtables.engine import small_hand
from streamtables.engine.ahead import Ahead
from streamtables.engine.binding import TableVersion
from streamtables.engine.change_feed import read_small
from streamtables.engine.outcomes import Applied, NotSmall, TooLarge
from streamtables.engine.small_commit import SmallHandle
from streamtables.engine.source_write import typed_rows
from streamtables.engine.staging import staged
from streamtables.errors import CommitConflictError, ConfigError
from streamtables.fail_points import reach
from streamtables.positions import InputId, Version, last_row_change
from streamtables.refresh.immediate import IMMEDIATE
from streamtables.refresh.immediate.batch import Batch
from streamtables.refresh.immediate.commits import (
    TableCommits,
    commit_source,
    facts_since,
    head_of,
    only_writes,
    unwritable,
)
from streamtables.refresh.immediate.locking import Locks, lock_plan
from streamtables.refresh.immediate.permitted import whose_rows
from streamtables.refresh.immediate.prepared import Prepared, Preparing
from streamtables.refresh.immediate.settling import settle, settled
from streamtables.refresh.results import Refresh
from streamtables.refresh.surroundings import Surroundings

_ATTEMPTS = 5


@dataclass(frozen=True)
class Written:
    """What a write did: the version of the source, and the tables that include it."""

    source: str
    version: int | None
    rows_inserted: int
    rows_deleted: int
    lock_mode: str
    lock_reason: str
    refreshes: tuple[Refresh, ...]
    seconds: float


def followers(snapshot: CatalogSnapshot, source: InputId) -> tuple[StreamTable, ...]:
    """Return the tables that follow a source at once, each after what it reads."""
    reached = {source}
    for table in snapshot.definitions.dependants(source):
        if table.mode == IMMEDIATE and any(item.id in reached for item in table.inputs):
            reached.add(table.id)
    order = snapshot.definitions.order
    return tuple(snapshot.stream_tables[key] for key in order if key in reached - {source})


@dataclass
class Write:
    """One write of one batch; used once."""

    around: Surroundings
    source: Source
    changes: object

    def run(self) -> Written:
        """Write the batch; when others moved things in between, begin again."""
        started = time.monotonic()
        self._check()
        visible = [column.name for column in self.source.columns]
        batch = Batch(self.changes, visible, self.source.key_columns)
        if batch.size > (most := max(self.around.settings.driver_rows_max, 1)):
            raise ConfigError(
                f"a write carries at most {most:,} rows, and this one has {batch.size:,}",
                hint="Nothing was written. Write fewer rows at a time, or raise driver_rows_max.",
            )
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._attempt(batch, started)
            except CommitConflictError:
                if attempt == _ATTEMPTS:
                    raise
                self.around.pause(attempt)
        raise AssertionError("unreachable")

    def _check(self) -> None:
        if self.source.is_mirror:
            raise ConfigError(
                f'source "{self.source.name}" {whose_rows(self.source)}',
                hint="Write there; wait_for() waits until a table has it.",
            )

    def _attempt(self, batch: Batch, started: float) -> Written:
        around, source = self.around, self.source
        snapshot = around.catalog.snapshot()
        tables = followers(snapshot, source.id)
        plan = lock_plan(
            source, tables, lambda table: around.plans.plan(table, snapshot.definitions)
        )
        with Locks(around, plan) as locks:
            handle = self._opened(head_of(source))
            locks.take_first(source, tables, batch.keys(handle))
            handle = self._opened(head_of(source))
            signed = self._signed(batch, handle)
            locks.take_groups(signed)
            around.observer.write_locked(locks.plan.counted_as)
            if signed.num_rows == 0:
                return self._answer(None, locks, [], started)
            seen, prepared = self._prepared(tables, signed)
            reach("write-computed")
            locks.take_turn(source)
            head = head_of(source)
            self._require_undisturbed(locks, handle, head)
            result, done = self._committed(head, seen, signed, prepared)
            return self._answer(result, locks, done, started)

    def _opened(self, version: Version) -> SmallHandle:
        try:
            return small_hand.open_at(self.source.location, version)
        except NotSmall as declined:
            raise unwritable(self.source, declined) from declined

    def _signed(self, batch: Batch, handle: SmallHandle) -> pa.Table:
        try:
            signed = batch.signed(handle)
        except NotSmall as declined:
            raise unwritable(self.source, declined) from declined
        if self.around.settings.immediate_staging:
            return staged(f"{self.around.staging}/{new_id()}", signed)
        return signed

    def _require_undisturbed(self, locks: Locks, handle: SmallHandle, head: Version) -> None:
        """Begin again where others changed what this write read.

        The log decides, not the locks: those end with their time, and not everyone takes them.
        """
        source, since = self.source, handle.version
        if not any(item.changes_rows for item in facts_since(source, since, head)):
            return
        if only_writes(source, since, head):
            visible = [column.name for column in source.columns]
            limit = self.around.settings.driver_rows_max
            found = read_small(source.location, since, head, columns=visible, limit=limit)
            if not isinstance(found, TooLarge) and not locks.touch(
                source, typed_rows(found, handle)
            ):
                return
        raise CommitConflictError("others wrote while this write was computed")

    def _prepared(
        self, tables: tuple[StreamTable, ...], signed: pa.Table
    ) -> tuple[Version, list[Prepared]]:
        """Compute all changes; return the version of the source that they were computed from."""
        around, source = self.around, self.source
        snapshot = around.catalog.snapshot()
        if not tables:
            return head_of(source), []
        snapshot = settled(around, snapshot, tables)
        direct = [t for t in tables if any(item.id == source.id for item in t.inputs)]
        seen = snapshot.standings[direct[0].id].frontier[source.id]
        key = source.key_columns or None
        change = Ahead(TableVersion(source.location, seen), signed, key)
        preparing = Preparing(around, snapshot, source, {source.id: change})
        return seen, [preparing.prepare(table) for table in tables]

    def _committed(
        self, head: Version, seen: Version, signed: pa.Table, prepared: list[Prepared]
    ) -> tuple[Applied, list[Refresh]]:
        source = self.source
        now = last_row_change(facts_since(source, seen, head), seen)
        for item in prepared:
            self._require_at(item, now)
        result = commit_source(source, signed, head)
        reach("source-written")
        assert result.version is not None
        commits = TableCommits(self.around, source, {source.id: now}, {source.id: result.version})
        done: list[Refresh] = []
        try:
            for item in prepared:
                done.append(commits.commit(item))
        except CommitConflictError:
            snapshot = self.around.catalog.snapshot()
            left = tuple(item.table for item in prepared[len(done) :])
            names = {table.name for table in left}
            refreshed = settle(self.around, snapshot, left)
            return result, [*done, *(r for r in refreshed if r.table in names)]
        if prepared:
            moved = [item.table.id for item in prepared]
            self.around.catalog.record_epoch(moved, self.around.clock())
        return result, done

    def _require_at(self, item: Prepared, version: Version) -> None:
        """Refuse to go on where a table does not include every write so far."""
        standing = self.around.catalog.standing(item.table.id)
        frontier = standing.frontier if standing else {}
        if self.source.id in item.task.frontier and frontier.get(self.source.id) != version:
            raise CommitConflictError(f'"{item.table.name}" was moved meanwhile')

    def _answer(
        self, result: Applied | None, locks: Locks, done: list[Refresh], started: float
    ) -> Written:
        return Written(
            source=self.source.name,
            version=result.version if result else None,
            rows_inserted=(result.rows_inserted or 0) if result else 0,
            rows_deleted=(result.rows_deleted or 0) if result else 0,
            lock_mode=locks.plan.mode,
            lock_reason=locks.plan.why,
            refreshes=tuple(done),
            seconds=time.monotonic() - started,
        )
