"""Tables at one moment under a label, and putting them back to it."""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import Input, StreamTable, new_refresh_id
from streamtables.catalog.snapshot_models import KeptSnapshot, KeptVersion
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.put_back import put_back
from streamtables.errors import ConfigError, NotFoundError, TableDamagedError
from streamtables.positions import CLOCK, Standing, Version
from streamtables.refresh.adopt import reconciled
from streamtables.refresh.decide import Decision
from streamtables.refresh.moments import one_moment
from streamtables.refresh.recording import Recording
from streamtables.refresh.results import Reason, Refresh
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task, TaskInput

RESTORED = "restored"


def take(
    label: str,
    tables: list[StreamTable],
    snapshot: CatalogSnapshot,
    around: Surroundings,
    epoch: int | None,
) -> KeptSnapshot:
    """Keep tables as they stand for one moment, now or at an epoch, under a label."""
    moment = one_moment(tables, snapshot, around, epoch)
    kept = tuple(
        _version(table, moment.versions[table.id], snapshot.standings.get(table.id))
        for table in tables
    )
    number = moment.epoch if moment.epoch is not None else around.catalog.last_epoch()
    found = KeptSnapshot(label, number, around.clock(), kept)
    around.catalog.keep_snapshot(found)
    return found


def _version(table: StreamTable, version: Version, now: Standing | None) -> KeptVersion:
    """Return a version with what its rows stand for: as recorded now, or as its commit says."""
    if now is not None and now.version == version:
        facts = (now.frontier, now.base_frontier, now.query_hash)
    else:
        entry = DeltaLog(table.location).entry(version)
        if entry is None or entry.stamp is None:
            raise NotFoundError(
                f'the log of "{table.name}" no longer tells what version {version} stands for',
                hint="Take the snapshot of a later epoch.",
            )
        facts = (entry.stamp.frontier, entry.stamp.base_frontier, entry.stamp.query_hash)
    return KeptVersion(table.id, table.name, version, *facts)


@dataclass(frozen=True)
class PutBack:
    """Puts one table back to a version that a snapshot keeps; used once."""

    around: Surroundings
    snapshot: CatalogSnapshot
    kept: KeptVersion
    label: str

    def check(self) -> None:
        """Refuse what cannot be put back, before any table is."""
        table = self._table()
        if table.defining_query_hash != self.kept.query_hash:
            raise ConfigError(
                f'the query of "{table.name}" is another one since the snapshot "{self.label}"',
                hint="Alter it back to the query of then, or leave the table out.",
            )

    def run(self) -> Refresh:
        """Commit the rows and the frontier of then; the next refresh goes on from there."""
        table, watch = self._table(), Stopwatch()
        known = self.snapshot.standings.get(table.id)
        found = reconciled(table, known, self.around.catalog, self.around.clock())
        if found is None:
            raise TableDamagedError(f'stream table "{table.name}" has no rows to put back')
        task = Task(
            table=table,
            definitions=self.snapshot.definitions,
            plan=self.around.plans.plan(table, self.snapshot.definitions),
            standing=found.standing,
            head=found.head,
            inputs=tuple(self._input(item) for item in table.inputs),
            base_frontier=self.kept.base_frontier,
            refresh_id=new_refresh_id(),
            clock=self.kept.frontier.get(CLOCK),
        )
        recording = Recording(task, self.around, watch)
        text = f'put back to the snapshot "{self.label}", version {self.kept.version}'
        recording.decided(Decision("whole", Reason(RESTORED, text)), rows_in=0)
        recording.began()
        with watch.step("apply", hand="deltalake"):
            stamp = task.stamp("differential")
            result = put_back(table.location, task.stored_version, self.kept.version, stamp)
        assert result.version is not None
        return recording.applied(result, result.version)

    def _table(self) -> StreamTable:
        return self.snapshot.stream_tables[self.kept.table_id]

    def _input(self, item: Input) -> TaskInput:
        entry = self.snapshot.sources.get(item.id) or self.snapshot.stream_tables[item.id]
        version = self.kept.frontier[item.id]
        return TaskInput(item.id, entry.name, entry.location, version, item.columns)
