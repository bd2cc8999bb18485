"""The Spark way: any amount of changes, and FULL; every byte goes through Spark."""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.compiler.backend.statement import view_name
from streamtables.compiler.maintenance import STORED
from streamtables.engine import spark_hand
from streamtables.engine.binding import TableVersion, bind, read_version
from streamtables.engine.handles import Rows, Session
from streamtables.engine.names import ORDINALS, without_ordinals
from streamtables.engine.outcomes import Applied, Superseded
from streamtables.engine.programs import run_large
from streamtables.engine.spark_append import append_signed
from streamtables.engine.spark_merge import merge_difference, merge_signed
from streamtables.fail_points import reach
from streamtables.refresh.clock import bind_clock
from streamtables.refresh.old_versions import bind_before
from streamtables.refresh.stopwatch import Stopwatch
from streamtables.refresh.stored_columns import require_hidden
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task
from streamtables.sources.changes import SharedChanges


@dataclass(frozen=True)
class SparkRefresh:
    """One refresh that Spark computes and writes."""

    task: Task
    changes: SharedChanges
    around: Surroundings
    watch: Stopwatch

    def full(self, *, query_changed: bool = False) -> Applied | Superseded:
        """Compute the table from its query and put it in the place of all stored rows.

        Where the stored rows have the same columns and most of them may stay, only the difference
        is written.
        """
        task = self.task
        with self.around.sessions.lease(
            "bulk", tag=task.refresh_id, label=task.table.name
        ) as spark:
            with self.watch.step("bind"):
                self._bind_after(spark)
                rows = self._query(spark)
            reach("delta-computed")
            with self.watch.step("compute and apply", hand="spark"):
                if self._may_stay(query_changed=query_changed) and self._can_merge(spark, rows):
                    return self._merged_difference(spark, rows, query_changed=query_changed)
                return spark_hand.overwrite(
                    spark,
                    rows,
                    task.table.location,
                    task.stamp("full"),
                    key_columns=self._key,
                    known=task.stored_version if task.standing else None,
                )

    def _may_stay(self, *, query_changed: bool) -> bool:
        """Whether writing the difference alone is worth comparing with the stored rows."""
        task = self.task
        if task.standing is None or task.table.state == "damaged":
            return False
        if query_changed:
            return not task.full
        if task.rebuild is None:
            return bool(task.definitions.direct_readers(task.table.id))
        # An input that was altered breaks the history, and often leaves these rows as they were.
        lost = task.table.state != "needs-rebuild"
        return lost and any(item.kind == "stream-table" for item in task.table.inputs)

    def _can_merge(self, spark: Session, rows: Rows) -> bool:
        """Whether the stored rows have the columns of the new ones, and ordinals where needed."""
        ordinals = ORDINALS if self._key is None else ()
        stored = self._stored(spark)
        if set(stored.columns) != {*rows.columns, *ordinals}:
            return False
        kept = without_ordinals(stored.columns)
        types = [(stored.schema[name].dataType, rows.schema[name].dataType) for name in kept]
        return kept == tuple(rows.columns) and all(old == new for old, new in types)

    def _merged_difference(
        self, spark: Session, rows: Rows, *, query_changed: bool
    ) -> Applied | Superseded:
        """Apply `new − stored`, so that readers see what changed and not everything anew."""
        task = self.task
        return merge_difference(
            spark,
            rows,
            self._stored(spark),
            task.table.location,
            task.stamp("full"),
            bag=self._key is None,
            version=task.stored_version,
            always=not query_changed and task.rebuild is None,
        )

    def _stored(self, spark: Session) -> Rows:
        return read_version(spark, TableVersion(self.task.table.location, self.task.stored_version))

    def differential(self) -> Applied | Superseded:
        """Compute the signed change of the stored rows, and write it.

        Raises:
            OtherColumns: the stored rows lack hidden columns; nothing happened.
        """
        task = self.task
        grows = self._only_grows()
        with self.around.sessions.lease(
            "bulk", tag=task.refresh_id, label=task.table.name
        ) as spark:
            with self.watch.step("bind"):
                self._bind_after(spark)
                self._bind_changes(spark, added=grows)
                stored = TableVersion(task.table.location, task.stored_version)
                rows = bind(spark, view_name(STORED, "now"), stored)
                require_hidden(task.plan.facts, rows.columns)
                delta = task.plan.changes(task.changed_names, small=False)
                bind_before(spark, task, delta)
                signed = run_large(spark, delta)
            reach("delta-computed")
            with self.watch.step("compute and apply", hand="spark"):
                write = append_signed if grows else merge_signed
                return write(
                    spark,
                    signed,
                    task.table.location,
                    task.stamp("differential"),
                    key_columns=self._key,
                    version=task.stored_version,
                    netted=True,
                )

    def _only_grows(self) -> bool:
        """Whether no stored row can go: rows only came, and the query takes none away for that."""
        task = self.task
        if not task.plan.facts.only_grows or self._key == () or task.clock_moved:
            return False
        return self.changes.only_adds(task.window(item) for item in task.changed)

    @property
    def _key(self) -> tuple[str, ...] | None:
        return self.task.plan.facts.key

    def _query(self, spark: Session) -> Rows:
        return run_large(spark, self.task.plan.stored)

    def _bind_after(self, spark: Session) -> None:
        bind_clock(spark, self.task)
        for item in self.task.inputs:
            bind(spark, view_name(item.name, "after"), TableVersion(item.location, item.version))

    def _bind_changes(self, spark: Session, *, added: bool) -> None:
        read = self.changes.large_added if added else self.changes.large
        for item in self.task.changed:
            rows = read(spark, self.task.window(item), item.columns)
            bind(spark, view_name(item.name, "changes"), rows)
