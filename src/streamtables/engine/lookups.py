"""Finding the rows of tables that a program looks up, before Spark is asked for anything.

All the values are on the driver: of changes, and of rows that an earlier lookup found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.compiler.backend.statement import KeyValues, Lookup
from streamtables.engine.arrow_types import for_spark
from streamtables.engine.binding import TableVersion
from streamtables.engine.outcomes import NotSmall
from streamtables.engine.padded_text import is_padded, padded
from streamtables.engine.row_pass import read_any
from streamtables.engine.small_commit import SmallHandle, reading

Place = Callable[[Lookup], TableVersion]
"""Says which version of which table a lookup reads."""


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
    for lookup in lookups:
        table = place(lookup)
        handle = SmallHandle.open(table.location, table.version)
        names = {name.lower(): name for name in handle.schema.names}
        columns = [names[column.lower()] for column in lookup.columns]
        _require_light(handle, len(columns), limits.bytes)
        any_of = [
            {names[item.column.lower()]: _values(item, found) for item in wanted}
            for wanted in lookup.any_of
        ]
        for wanted in any_of:
            _require_stored_as_read(handle.schema, list(wanted))
        rows = padded(read_any(handle, any_of, columns, rows_max=limits.rows), handle.schema)
        found[lookup.view] = for_spark(rows.rename_columns(list(lookup.columns)))
    return {lookup.view: found[lookup.view] for lookup in lookups}


def _require_light(handle: SmallHandle, columns: int, bytes_max: int) -> None:
    """Leave a table to Spark whose columns are more than one process should read."""
    with reading():
        actions = pa.table(handle.table.get_add_actions(flatten=True))
    size = pc.sum(actions.column("size_bytes")).as_py() or 0
    read = size * columns // max(len(handle.schema), 1)
    if read > bytes_max:
        raise NotSmall(f"about {read:,} bytes would have to be read to find the rows")


def _require_stored_as_read(schema: pa.Schema, columns: Sequence[str]) -> None:
    """Leave text to Spark that it compares with blanks which the files may lack."""
    if padded_names := [name for name in columns if is_padded(schema.field(name))]:
        raise NotSmall(f"{padded_names[0]} is CHAR, which files may hold without its blanks")


def _values(item: KeyValues, found: Mapping[str, pa.Table]) -> pa.Array:
    """Return every value that is wanted of a column, once."""
    parts: list[pa.ChunkedArray] = []
    for view, column in item.held:
        if view not in found:
            raise NotSmall(f"the rows of {view} are not on the driver")
        rows = found[view]
        names = {name.lower(): name for name in rows.column_names}
        parts.append(rows.column(names[column.lower()]))
    kinds = {part.type for part in parts}
    if len(kinds) > 1:
        raise NotSmall(f"the values of {item.column} have several types")
    chunks = [chunk for part in parts for chunk in part.chunks]
    kind = kinds.pop() if kinds else pa.null()
    if item.null:
        chunks.append(pa.nulls(1, kind))
    return pc.unique(pa.chunked_array(chunks, kind))
