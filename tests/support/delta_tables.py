"""Small Delta tables that tests make and change without Spark."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

Row = Sequence[Any]
_ARROW = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "string": pa.string(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "float": pa.float32(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def _arrow_type(kind: str) -> pa.DataType:
    if match := re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", kind):
        return pa.decimal128(int(match[1]), int(match[2]))
    if match := re.fullmatch(r"array<(.+)>", kind):
        return pa.list_(_arrow_type(match[1]))
    if match := re.fullmatch(r"map<(\w+),\s*(\w+)>", kind):
        return pa.map_(_arrow_type(match[1]), _arrow_type(match[2]))
    return _ARROW[kind]


class DeltaTableFile:
    """A Delta table with its change feed on, at a path."""

    def __init__(self, path: Path, columns: Mapping[str, str], rows: Iterable[Row] = ()) -> None:
        self.path = path
        self.schema = pa.schema(
            [pa.field(name, _arrow_type(kind)) for name, kind in columns.items()]
        )
        write_deltalake(
            str(path),
            self._arrow(rows),
            configuration={"delta.enableChangeDataFeed": "true"},
        )

    def append(self, *rows: Row) -> None:
        """Add rows."""
        write_deltalake(str(self.path), self._arrow(rows), mode="append")

    def overwrite(self, rows: Iterable[Row]) -> None:
        """Replace all rows."""
        write_deltalake(str(self.path), self._arrow(rows), mode="overwrite")

    def delete(self, predicate: str) -> None:
        """Delete the rows for which a predicate is true."""
        self.open().delete(predicate)

    def update(self, predicate: str, **updates: str) -> None:
        """Set columns to SQL expressions where a predicate is true."""
        self.open().update(updates=updates, predicate=predicate)

    def open(self) -> DeltaTable:
        """Open the table as it is now."""
        return DeltaTable(str(self.path))

    def _arrow(self, rows: Iterable[Row]) -> pa.Table:
        listed = [list(row) for row in rows]
        columns = [
            pa.array([_value(row[i], field.type) for row in listed], field.type)
            for i, field in enumerate(self.schema)
        ]
        return pa.Table.from_arrays(columns, schema=self.schema)


def merge_changes(path: Path, rows: pa.Table, key: Sequence[str]) -> None:
    """Give each key its new row, or take it away where the column `gone` is true, in one commit."""
    same_key = " AND ".join(f"target.{name} = source.{name}" for name in key)
    values = {name: f"source.{name}" for name in rows.column_names if name != "gone"}
    (
        DeltaTable(str(path))
        .merge(rows, same_key, source_alias="source", target_alias="target")
        .when_matched_delete("source.gone")
        .when_matched_update(values)
        .when_not_matched_insert(values, "NOT source.gone")
        .execute()
    )


def _value(value: Any, kind: pa.DataType) -> Any:
    if pa.types.is_decimal(kind) and value is not None:
        return Decimal(str(value))
    if pa.types.is_map(kind) and value is not None:
        return list(value.items())
    return value


def take_log_away(table: Path) -> Callable[[], None]:
    """Make the log of a table unreadable, for the superuser too; return what gives it back."""
    log, aside = table / "_delta_log", table / "_delta_log_aside"
    log.rename(aside)
    log.symlink_to(log)

    def give_back() -> None:
        log.unlink()
        aside.rename(log)

    return give_back
