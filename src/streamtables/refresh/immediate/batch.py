"""What a person wants written, as signed rows of the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.engine import arrow_rows
from streamtables.engine.arrow_types import for_delta, for_spark
from streamtables.engine.names import WEIGHT
from streamtables.engine.outcomes import NotSmall
from streamtables.engine.small_commit import SmallHandle
from streamtables.engine.source_write import rows_like, rows_of_keys, typed
from streamtables.errors import ConfigError, DuplicateKeyError, NotFoundError

KINDS = ("insert", "upsert", "delete")


class Batch:
    """Rows to insert, to put in the place of those with the same key, and to delete."""

    def __init__(self, changes: object, columns: Sequence[str], key: Sequence[str]) -> None:
        self.columns = tuple(columns)
        self.key = tuple(key)
        given = changes if isinstance(changes, Mapping) else {"insert": changes}
        if unknown := [str(kind) for kind in given if kind not in KINDS]:
            raise ConfigError(
                f'"{unknown[0]}" is no kind of change',
                detail=f"Permitted: {', '.join(KINDS)}.",
                hint='Give rows to insert, or {"insert": rows, "upsert": rows, "delete": rows}.',
            )
        self.insert, self.upsert, self.delete = (self._rows(given, kind) for kind in KINDS)
        if self.upsert is not None and not self.key:
            raise ConfigError(
                "rows can only be put in the place of others where the source has a key",
                hint="Add the source with key=…, or delete and insert whole rows.",
            )

    @property
    def size(self) -> int:
        """How many rows were given."""
        return sum(part.num_rows for part in self._parts)

    def keys(self, handle: SmallHandle) -> pa.Table | None:
        """The keys that the batch names, in the table's types; None for a source without a key."""
        if not self.key or not self._parts:
            return None
        return pa.concat_tables([_as(part.select(list(self.key)), handle) for part in self._parts])

    @property
    def _parts(self) -> list[pa.Table]:
        return [part for part in (self.insert, self.upsert, self.delete) if part is not None]

    def signed(self, handle: SmallHandle) -> pa.Table:
        """Return the net change of the table as it is at the handle's version.

        Raises:
            NotFoundError: a row to delete is not there.
            DuplicateKeyError: a row to insert has a key that is there already.
        """
        parts = [_filled(part, handle, 1) for part in (self.insert, self.upsert) if part]
        if self.key:
            parts += self._leaving_by_key(handle)
        elif self.delete:
            going = _filled(self.delete, handle, 1)
            self._require_there(rows_like(handle, going), going)
            parts.append(_weighted(going.drop_columns([WEIGHT]), -1))
        schema = typed(_empty(handle), handle).schema
        joined = pa.concat_tables([schema.empty_table(), *(typed(part, handle) for part in parts)])
        net = arrow_rows.net(for_spark(joined), self.columns)
        self._require_one_each(net)
        return net

    def _leaving_by_key(self, handle: SmallHandle) -> list[pa.Table]:
        every = self.keys(handle)
        if every is None:
            return []
        stored = rows_of_keys(handle, self.key, every)
        deleted = None if self.delete is None else _as(self.delete.select(list(self.key)), handle)
        if deleted is not None:
            wanted = arrow_rows.with_weight(arrow_rows.distinct(deleted, self.key), 1)
            self._require_there(stored, wanted, self.key)
        if self.insert is not None:
            self._require_new(stored, handle, deleted)
        going = [part for part in (self.upsert, self.delete) if part is not None]
        if not going:
            return []
        named = pa.concat_tables([_as(part.select(list(self.key)), handle) for part in going])
        leaving = arrow_rows.semi_join(stored, arrow_rows.distinct(named, self.key), self.key)
        return [_weighted(leaving, -1)]

    def _require_new(self, stored: pa.Table, handle: SmallHandle, deleted: pa.Table | None) -> None:
        assert self.insert is not None
        keys = arrow_rows.distinct(_as(self.insert.select(list(self.key)), handle), self.key)
        there = arrow_rows.semi_join(stored, keys, self.key)
        if deleted is not None and there.num_rows:
            gone = arrow_rows.with_weight(arrow_rows.distinct(deleted, self.key), 1)
            there, _ = arrow_rows.subtract(there.select(list(self.key)), gone, self.key)
        if there.num_rows:
            raise DuplicateKeyError(
                f"{there.num_rows} rows to insert have a key that is there already",
                detail=f"The first: {there.select(list(self.key)).slice(0, 1).to_pylist()[0]}.",
                hint='Give them as "upsert" to put them in the place of the stored rows.',
            )

    def _require_there(
        self, stored: pa.Table, going: pa.Table, columns: Sequence[str] | None = None
    ) -> None:
        _, missing = arrow_rows.subtract(
            for_spark(stored), for_spark(going), columns or self.columns
        )
        if missing:
            raise NotFoundError(
                f"{missing} rows to delete are not in the table",
                hint="Nothing was written. Give rows as they are stored now.",
            )

    def _require_one_each(self, net: pa.Table) -> None:
        coming, _ = arrow_rows.split_by_sign(net)
        if not self.key or not coming.num_rows:
            return
        heavy = pc.any(pc.greater(coming.column(WEIGHT), 1)).as_py()
        if heavy or arrow_rows.has_duplicates(coming, self.key):
            raise DuplicateKeyError(
                "two rows of the batch have the same key",
                hint="Nothing was written. Give each key once.",
            )

    def _rows(self, given: Mapping[Any, Any], kind: str) -> pa.Table | None:
        if given.get(kind) is None:
            return None
        rows = _as_arrow(given[kind], kind)
        if rows.num_rows == 0:
            return None
        unknown = [name for name in rows.column_names if name not in self.columns]
        if unknown:
            raise ConfigError(
                f'the source has no column "{unknown[0]}"',
                detail=f"Its columns: {', '.join(self.columns)}.",
            )
        needed = self.key if kind == "delete" and self.key else ()
        needed = (self.key if kind == "upsert" else needed) or ()
        needed = self.columns if kind == "delete" and not self.key else needed
        if missing := [name for name in needed if name not in rows.column_names]:
            raise ConfigError(
                f'rows to {kind} lack the column "{missing[0]}"',
                hint="A source with a key takes keys to delete, one without takes whole rows.",
            )
        return rows


def _as_arrow(rows: object, kind: str) -> pa.Table:
    try:
        if isinstance(rows, pa.Table):
            return rows
        if isinstance(rows, Sequence) and not isinstance(rows, str | bytes):
            names = dict.fromkeys(name for row in rows for name in row)
            return pa.table({name: [row.get(name) for row in rows] for name in names})
        if hasattr(rows, "toArrow"):
            return cast("pa.Table", rows.toArrow())
        return pa.table(rows)
    except (TypeError, ValueError, AttributeError, pa.ArrowException) as error:
        raise ConfigError(
            f"rows to {kind} cannot be read",
            detail=f"{error}.",
            hint="Give a list of dicts, an Arrow table, or anything that gives Arrow data.",
        ) from error


def _as(rows: pa.Table, handle: SmallHandle) -> pa.Table:
    """Return some columns in the types of the table, as Spark reads them."""
    schema = pa.schema([handle.schema.field(name) for name in rows.column_names])
    return _cast(rows, schema)


def _cast(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    try:
        return for_spark(for_delta(for_spark(rows), schema))
    except (pa.ArrowException, ValueError, NotSmall) as error:
        raise ConfigError(
            "a value does not fit its column",
            detail=f"{error}.",
            hint="Nothing was written.",
        ) from error


def _filled(rows: pa.Table, handle: SmallHandle, weight: int) -> pa.Table:
    """Return rows with every column of the table: NULL where none was given."""
    for name in handle.schema.names:
        if name not in rows.column_names:
            field = handle.schema.field(name)
            if not field.nullable:
                raise ConfigError(f'the column "{name}" takes no NULL, and no value was given')
            rows = rows.append_column(name, pa.nulls(rows.num_rows, field.type))
    return _weighted(_cast(rows.select(handle.schema.names), handle.schema), weight)


def _weighted(rows: pa.Table, weight: int) -> pa.Table:
    return arrow_rows.with_weight(rows, weight)


def _empty(handle: SmallHandle) -> pa.Table:
    return _weighted(for_spark(handle.schema.empty_table()), 1)
