"""What the materialization `stream_table` asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.streamtables.connections import (
    WAREHOUSES,
    StreamTablesConnectionManager,
    told_by_dbt,
)
from dbt_common.exceptions import DbtRuntimeError

from streamtables.catalog.models import StreamTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dbt.adapters.spark.relation import SparkRelation

    from streamtables.api import StreamTables

_CHOICES = ("schedule", "mode", "full", "tier")
_REFUSING = ("append_new_columns", "fail")


class StreamTablesAdapter(SparkAdapter):
    """dbt-spark's adapter, with stream tables."""

    ConnectionManager = StreamTablesConnectionManager

    @available
    def keep_stream_table(
        self,
        relation: SparkRelation,
        sql: str,
        inputs: Sequence[Mapping[str, str]],
        config: Mapping[str, Any],
        full_refresh: bool,
    ) -> dict[str, Any]:
        """Define or alter a stream table, bring it up to date, and say what became of it."""
        with told_by_dbt():
            db = WAREHOUSES.get(self.config.credentials)
            name = _name(relation.schema, relation.identifier)
            for item in inputs:
                _know(db, item, enable=bool(config.get("enable_change_feed", False)))
            table = self._defined(db, name, sql, config)
            said: dict[str, Any] = {"message": "defined", "rows": 0}
            if config.get("refresh", True):
                result = db.refresh(name, full=full_refresh)
                rows = result.rows_inserted + result.rows_deleted
                said = {
                    "message": f"{result.mode} +{result.rows_inserted} -{result.rows_deleted} "
                    f"({result.reason.code})",
                    "rows": rows,
                }
            return {
                **said,
                "location": table.location,
                "columns": [column.name for column in table.columns],
            }

    def _defined(
        self, db: StreamTables, name: str, sql: str, config: Mapping[str, Any]
    ) -> StreamTable:
        choices = {key: str(config[key]) for key in _CHOICES if config.get(key) is not None}
        options = dict(config.get("options") or {})
        known = {table.name.lower(): table for table in db.stream_tables()}.get(name.lower())
        if known is None:
            return db.create(name, sql, options=options, **choices)
        wanted = config.get("on_schema_change")
        if wanted in _REFUSING:
            before = [column.name for column in known.columns]
            _refuse_columns(name, before, _columns(db, sql), wanted)
        return db.create(name, sql, options=options, replace=True, **choices)


def _name(schema: str | None, identifier: str | None) -> str:
    return f"{schema}.{identifier}"


def _know(db: StreamTables, item: Mapping[str, str], *, enable: bool) -> None:
    """Add what a model reads as a source, unless it is known."""
    name = _name(item["schema"], item["identifier"])
    known = {entry.name.lower() for entry in (*db.sources(), *db.stream_tables(), *db.views())}
    if name.lower() not in known:
        db.add_source(name, table=name, enable_change_feed=enable)


def _columns(db: StreamTables, sql: str) -> list[str]:
    return [column["name"] for column in db.validate(sql).data["output"]]


def _refuse_columns(name: str, before: list[str], after: list[str], wanted: str) -> None:
    gone = [column for column in before if column not in after]
    new = [column for column in after if column not in before]
    if gone or (new and wanted == "fail"):
        raise DbtRuntimeError(
            f'the columns of "{name}" would change, and on_schema_change is {wanted}.\n'
            f"New: {', '.join(new) or 'none'}. Gone: {', '.join(gone) or 'none'}."
        )
