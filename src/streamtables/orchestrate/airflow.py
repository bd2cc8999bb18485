"""Stream tables in Airflow 3: `RefreshStreamTables` and `StreamTableSensor`.

    RefreshStreamTables(task_id="revenue", warehouse="warehouse", tables=["revenue"])
    StreamTableSensor(task_id="fresh", warehouse="warehouse", table="revenue", within="10 minutes")

What a refresh did is the value of its task.  Errors that pass are left to Airflow's retries; one
that a person has to mend fails the task at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow.sdk import BaseOperator, BaseSensorOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException

from streamtables.api import StreamTables
from streamtables.catalog.names import not_found
from streamtables.errors import ConfigError, StreamTablesError, TransientError, UserError
from streamtables.orchestrate.told import facts_of, opened, refreshed, sentence_of
from streamtables.scheduler.durations import parse_duration


class RefreshStreamTables(BaseOperator):
    """Bring some stream tables, or all, to their sources as they are now."""

    template_fields: Sequence[str] = ("warehouse", "catalog", "tables", "full")

    def __init__(
        self,
        *,
        warehouse: str,
        tables: Sequence[str] | None = None,
        catalog: str | None = None,
        full: bool = False,
        **operator: Any,
    ) -> None:
        super().__init__(**operator)
        self.warehouse = warehouse
        self.catalog = catalog
        self.tables = list(tables) if tables is not None else None
        self.full = full

    def execute(self, context: Any) -> list[dict[str, Any]]:
        """Refresh, and return what each refresh did."""
        try:
            with opened(self.warehouse, self.catalog) as db:
                results = refreshed(db, self.tables, full=self.full)
        except StreamTablesError as error:
            raise _told(error) from error
        for result in results:
            self.log.info(sentence_of(result))
        return [facts_of(result) for result in results]


class StreamTableSensor(BaseSensorOperator):
    """Wait until a stream table is fresh enough, or includes a position of its sources.

    `within` is how old a change that the table lacks may be.  `position` is as for `wait_for`: what
    `pg_current_xact_id()` gave, or a version of each source by its name.  Nothing is refreshed.
    """

    template_fields: Sequence[str] = ("warehouse", "catalog", "table", "within", "position")

    def __init__(
        self,
        *,
        warehouse: str,
        table: str,
        within: str | None = None,
        position: str | int | Mapping[str, int | str] | None = None,
        catalog: str | None = None,
        **sensor: Any,
    ) -> None:
        super().__init__(**sensor)
        self.warehouse = warehouse
        self.catalog = catalog
        self.table = table
        self.within = within
        self.position = position

    def poke(self, context: Any) -> bool:
        """Look once."""
        try:
            if (self.within is None) == (self.position is None):
                raise ConfigError("the sensor waits for freshness or for a position: name one")
            with opened(self.warehouse, self.catalog) as db:
                return self._is_fresh(db) if self.within is not None else self._includes(db)
        except StreamTablesError as error:
            raise _told(error) from error

    def _is_fresh(self, db: StreamTables) -> bool:
        most = parse_duration(str(self.within), "within")
        lags = {item.name.lower(): item.lag_seconds for item in db.lags()}
        if self.table.lower() not in lags:
            raise not_found("stream table", self.table, lags)
        lag = lags[self.table.lower()]
        self.log.info("%s lacks changes of %s s", self.table, "unknown" if lag is None else lag)
        return lag is not None and lag <= most

    def _includes(self, db: StreamTables) -> bool:
        try:
            db.wait_for(self.table, self.position, timeout=0, refresh=False)
        except TransientError:
            return False
        return True


def _told(error: StreamTablesError) -> AirflowException:
    text = "\n".join(part for part in (f"[{error.code}] {error}", error.hint) if part)
    kind = AirflowFailException if isinstance(error, UserError) else AirflowException
    return kind(text)
