"""Finding the rows of tables that a program looks up, before Spark is asked for anything.

All the values are on the driver: of changes, and of rows that an earlier lookup found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.compiler.backend.statement import KeyValues, Lookup
from streamtables.engine import arrow_rows
from streamtables.engine.arrow_types import for_spark
from streamtables.engine.binding import TableVersion
from streamtables.engine.integrity import damaged
from streamtables.engine.names import WEIGHT
from streamtables.engine.outcomes import NotSmall
from streamtables.engine.row_pass import Asked, read_any
from streamtables.engine.small_commit import SmallHandle, reading

Place = Callable[[Lookup], TableVersion]
"""Says where the table of a lookup is, and its version after the changes."""
_TABLES_AT_ONCE = 4
"""In how many tables rows are looked up at the same time."""


@dataclass(frozen=True)
class LookupLimits:
    """What may be read and held on the driver."""

    rows: int
    """How many rows a lookup may find."""
    bytes: int
    """How many bytes of files a pass may have to read."""


def find_rows(
    lookups: Sequence[Lookup], held: Mapping[str, pa.Table], place: Place, limits: LookupLimits
) -> dict[str, pa.Table]:
    """Return the rows of each lookup under the name of its view, in the types of Spark.

    Raises:
        NotSmall: a table or what is found of it is too large, or only Spark can read it.
    """
    found = dict(held)
    waiting = list(lookups)
    while waiting:
        due = [item for item in waiting if _is_due(item, found)]
        if not due:
            raise NotSmall(f"what {waiting[0].view} is looked up by is not on the driver")
        by_table: dict[str, list[Lookup]] = {}
        for item in due:
            by_table.setdefault(item.table, []).append(item)
        for rows in _at_once(list(by_table.values()), found, place, limits):
            found.update(rows)
        waiting = [item for item in waiting if item.view not in found]
    return {lookup.view: found[lookup.view] for lookup in lookups}


def _at_once(
    groups: Sequence[Sequence[Lookup]],
    found: Mapping[str, pa.Table],
    place: Place,
    limits: LookupLimits,
) -> list[dict[str, pa.Table]]:
    """Return the rows of lookups in several tables; files are read while others are compared."""

    def in_table(lookups: Sequence[Lookup]) -> dict[str, pa.Table]:
        return _found_in(lookups, found, place(lookups[0]), limits)

    if len(groups) == 1:
        return [in_table(groups[0])]
    with ThreadPoolExecutor(_TABLES_AT_ONCE) as pool:
        return list(pool.map(in_table, groups))


def wanted_values(item: KeyValues, found: Mapping[str, pa.Table]) -> pa.Array:
    """Return every value that is wanted of a column, once.

    Raises:
        NotSmall: they are not all on the driver.
    """
    parts: list[pa.ChunkedArray] = []
    for view, column in item.held:
        if view not in found:
            raise NotSmall(f"the rows of {view} are not on the driver")
        parts.append(_column(found[view], column))
    kinds = {part.type for part in parts}
    if len(kinds) > 1:
        raise NotSmall(f"the values of {item.column} have several types")
    chunks = [chunk for part in parts for chunk in part.chunks]
    kind = kinds.pop() if kinds else pa.null()
    if item.null:
        chunks.append(pa.nulls(1, kind))
    values = pc.unique(pa.chunked_array(chunks, kind))
    return values.drop_null() if item.null_left_out else values


def _is_due(lookup: Lookup, found: Mapping[str, pa.Table]) -> bool:
    """Whether all that a lookup looks for is at hand."""
    return all(view in found for one in lookup.any_of for item in one for view, _ in item.held)


def _found_in(
    lookups: Sequence[Lookup],
    found: Mapping[str, pa.Table],
    table: TableVersion,
    limits: LookupLimits,
) -> dict[str, pa.Table]:
    """Return the rows of several lookups in one table, by one pass over it."""
    handle = SmallHandle.open(table.location, table.version)
    names = {name.lower(): name for name in handle.schema.names}
    columns = list(dict.fromkeys(names[c.lower()] for item in lookups for c in item.columns))
    _require_light(handle, len(columns), limits.bytes)
    sets = {
        one: {names[item.column.lower()]: wanted_values(item, found) for item in one}
        for lookup in lookups
        for one in lookup.any_of
    }
    asked = {
        lookup.view: Asked([sets[one] for one in lookup.any_of], lookup.conditions)
        for lookup in lookups
    }
    rows = read_any(handle, list(asked.values()), columns, rows_max=limits.rows)
    ready = for_spark(rows)
    return {item.view: _rows_of(item, ready, asked[item.view], found) for item in lookups}


def _require_light(handle: SmallHandle, columns: int, bytes_max: int) -> None:
    """Leave a table to Spark whose columns are more than one process should read."""
    with reading():
        actions = pa.table(handle.table.get_add_actions(flatten=True))
    size = pc.sum(actions.column("size_bytes")).as_py() or 0
    read = size * columns // max(len(handle.schema), 1)
    if read > bytes_max:
        raise NotSmall(f"about {read:,} bytes would have to be read to find the rows")


def _rows_of(
    lookup: Lookup, rows: pa.Table, asked: Asked, found: Mapping[str, pa.Table]
) -> pa.Table:
    """Return the rows of one lookup out of those that a pass found."""
    now = _shown(asked.among(rows), lookup.columns)
    if not lookup.changes:
        return now
    if lookup.changes not in found:
        raise NotSmall(f"the rows of {lookup.changes} are not on the driver")
    changes = asked.among(found[lookup.changes])
    return _before(now, _shown(changes, (*lookup.columns, WEIGHT)))


def _before(now: pa.Table, changes: pa.Table) -> pa.Table:
    """Return rows as they were before signed changes."""
    if changes.num_rows == 0:
        return now
    *_, last = changes.column_names
    undone = changes.drop_columns([last]).cast(now.schema)
    undone = undone.append_column(WEIGHT, pc.negate(changes.column(last)))
    both = pa.concat_tables([arrow_rows.with_weight(now, 1), undone])
    netted = arrow_rows.net(both, now.column_names)
    if unknown := pc.sum(pc.less(netted.column(WEIGHT), 0)).as_py():
        raise damaged(unknown)
    return arrow_rows.repeated(netted)


def _shown(rows: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Return columns under the names by which they are asked for, whatever their case."""
    return pa.table({name: _column(rows, name) for name in columns})


def _column(rows: pa.Table, name: str) -> pa.ChunkedArray:
    [stored] = [item for item in rows.column_names if item.lower() == name.lower()]
    return rows.column(stored)
