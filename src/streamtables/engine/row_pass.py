"""One pass over a table's files that keeps the rows with certain values, however many values.

deltalake reads the columns that are asked for; what is kept of each batch is chosen by Arrow.  The
time it takes is that of reading, and does not grow with the values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.compiler.algebra.plain_conditions import PlainCondition
from streamtables.engine.arrow_types import for_delta
from streamtables.engine.key_predicate import EVERY_ROW, key_range
from streamtables.engine.outcomes import NotSmall
from streamtables.engine.row_conditions import meeting, meets
from streamtables.engine.small_commit import SmallHandle, reading, scan

ValueSets = Mapping[str, pa.Array]
"""Columns, and the values of which each must have one; NULL is a value like any other."""
_PIECE_ROWS = 131_072
"""How many rows are compared at once: for each time Arrow makes a table of the values."""


@dataclass(frozen=True)
class Asked:
    """Rows that have, by one of the sets, a value in each column, and meet all conditions."""

    any_of: Sequence[ValueSets]
    conditions: Sequence[PlainCondition] = ()

    def among(self, rows: pa.Table) -> pa.Table:
        """Return those of some rows."""
        return meeting(rows.filter(_holds_any(rows, self.any_of)), self.conditions)

    def holds(self, rows: pa.Table) -> pa.ChunkedArray:
        """Return for each row whether it is one of them."""
        found = _holds_any(rows, self.any_of)
        return pc.and_(found, meets(rows, self.conditions)) if self.conditions else found


def read_any(
    handle: SmallHandle, asked: Sequence[Asked], columns: Sequence[str], *, rows_max: int
) -> pa.Table:
    """Return those columns of all rows that anyone asks for.

    Raises:
        NotSmall: there are more than `rows_max` such rows, or deltalake cannot read the table.
    """
    schema = pa.schema([handle.schema.field(name) for name in columns])
    # Who asks for a table now and before asks by the same sets.
    any_of = list({id(one): one for item in asked for one in item.any_of}.values())
    judged = asked if any(item.conditions for item in asked) else ()
    found: list[pa.Table] = []
    count = 0
    with reading():
        for rows in _pieces(scan(handle, _range(any_of), list(columns))):
            part = _with_values(rows, any_of, schema)
            if judged:
                # Only now: there are far fewer rows to compare.
                part = part.filter(reduce(pc.or_, (item.holds(part) for item in judged)))
            count += part.num_rows
            if count > rows_max:
                raise NotSmall(f"the keys cover more than {rows_max} stored rows")
            found.append(part)
    return pa.concat_tables(found) if found else schema.empty_table()


def _range(any_of: Sequence[ValueSets]) -> str:
    """Return a predicate by which files can be passed over; one range, or none."""
    if len(any_of) != 1:
        return EVERY_ROW
    for name, values in any_of[0].items():
        predicate = key_range(pa.table({name: values}), [name], "datafusion")
        if predicate != EVERY_ROW:
            return predicate
    return EVERY_ROW


def _pieces(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Return the rows of a stream in pieces that are worth the making of a table of values."""
    batches: list[pa.RecordBatch] = []
    for batch in reader:
        batches.append(batch)
        if sum(item.num_rows for item in batches) >= _PIECE_ROWS:
            yield pa.Table.from_batches(batches)
            batches = []
    if batches:
        yield pa.Table.from_batches(batches)


def _with_values(rows: pa.Table, any_of: Sequence[ValueSets], schema: pa.Schema) -> pa.Table:
    places = pc.indices_nonzero(_holds_any(rows, any_of))
    # Taken column by column: views of text have no kernel of their own.
    parts = {name: _taken(rows.column(name), places) for name in schema.names}
    return for_delta(pa.table(parts), schema)


def _holds_any(rows: pa.Table, any_of: Sequence[ValueSets]) -> pa.ChunkedArray:
    return reduce(pc.or_, (_holds_all(rows, wanted) for wanted in any_of))


def _holds_all(rows: pa.Table, wanted: ValueSets) -> pa.ChunkedArray:
    columns = ((rows.column(name), values) for name, values in wanted.items())
    return reduce(
        pc.and_,
        (pc.is_in(column.cast(values.type), value_set=values) for column, values in columns),
    )


def _taken(column: pa.ChunkedArray, places: pa.Array) -> pa.ChunkedArray:
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    elif pa.types.is_binary_view(column.type):
        column = column.cast(pa.binary())
    return column.take(places)
