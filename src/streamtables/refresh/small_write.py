"""Writing a small change: by deltalake here, or by Spark where that touches too many files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.catalog.models import JsonValue
from streamtables.engine import small_hand
from streamtables.engine.arrow_types import for_spark
from streamtables.engine.binding import bind
from streamtables.engine.handles import Session
from streamtables.engine.names import WEIGHT, without_ordinals
from streamtables.engine.outcomes import Applied, Superseded
from streamtables.engine.spark_merge import merge_signed
from streamtables.engine.touched_files import all_files, touched_files
from streamtables.refresh.past_book import REMEMBERED
from streamtables.refresh.routes import route_facts
from streamtables.refresh.routing import ROUTED_FROM, Route, Write, route
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task

_CHANGE = "__st_small_change"
OPTION = "merge_strategy"
"""The option of a table that names the hand."""


@dataclass(frozen=True)
class SmallWrite:
    """The write of one small change."""

    task: Task
    around: Surroundings
    handle: small_hand.SmallHandle
    signed: pa.Table
    covered: small_hand.Covered | None = None
    """The stored rows of the touched groups, where they were read."""

    def run(
        self, spark: Session, facts: dict[str, JsonValue], notes: list[str]
    ) -> Applied | Superseded:
        """Commit the change; what was weighed goes to the facts of the step.

        Raises:
            NotSmall: only Spark can do this; nothing has been written.
        """
        wanted = self.task.table.options.get(OPTION, "auto")
        chosen = self._route() if wanted == "auto" else None
        if chosen is not None:
            facts.update(route_facts(chosen))
            if chosen.flipped is not None:
                notes.append(chosen.flipped)
        if (chosen.hand if chosen else wanted) == "merge" and self._going.num_rows:
            facts["hand"] = "spark"
            return self._merged(spark)
        return small_hand.apply(
            self.handle,
            self.signed,
            key_columns=self.task.plan.facts.key,
            stamp=self.task.stamp("differential"),
            covered=self.covered,
        )

    def _route(self) -> Route | None:
        """Weigh the two hands; None where so little is touched that there is nothing to weigh."""
        if not self.around.settings.adaptive_merge_strategy:
            return None
        if all_files(self.handle).size < ROUTED_FROM:
            return None
        going = self._going
        if going.num_rows == 0:
            return None
        key = self.task.plan.facts.key
        named = list(without_ordinals(going.column_names)) if key is None else list(key)
        touched = touched_files(self.handle, going.select(named))
        if touched.size < ROUTED_FROM:
            return None
        table, catalog = self.task.table.id, self.around.catalog
        past = self.around.writes.past(table, lambda: catalog.history(table, REMEMBERED))
        return route(Write(self.signed.num_rows, touched.count, touched.size), past)

    @cached_property
    def _going(self) -> pa.Table:
        """The stored rows that go; without one, rows are only added."""
        return self.signed.filter(pc.less(self.signed.column(WEIGHT), 0))

    def _merged(self, spark: Session) -> Applied | Superseded:
        rows = bind(spark, _CHANGE, for_spark(self.signed))
        return merge_signed(
            spark,
            rows,
            self.task.table.location,
            self.task.stamp("differential"),
            key_columns=self.task.plan.facts.key,
            version=self.task.stored_version,
            materialised=True,
        )
