"""Files without statistics of floating-point columns, because those leave NaN out.

For Spark NaN is greater than every number.  By statistics that do not know of it, a reader takes a
file for one without such rows and passes over it: `x > 5` would lose NaN.  Spark itself writes no
bounds for a column with NaN; the Rust writer writes those of the other values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

if TYPE_CHECKING:
    from deltalake import WriterProperties

_COMPRESSION: Final = "SNAPPY"


def writer_properties(schema: pa.Schema) -> WriterProperties | None:
    """Return how rows of a schema are written; None where nothing floats."""
    floating = [field for field in schema if _floats(field.type)]
    if not floating:
        return None
    from deltalake import ColumnProperties, WriterProperties

    none, some = (ColumnProperties(statistics_enabled=kind) for kind in ("NONE", "CHUNK"))
    if not any(pa.types.is_nested(field.type) for field in floating):
        columns = {field.name: none for field in floating}
        return WriterProperties(compression=_COMPRESSION, column_properties=columns)
    # A field within a column cannot be named, so the plain columns are.
    plain = {f.name: some for f in schema if f not in floating and not pa.types.is_nested(f.type)}
    return WriterProperties(
        compression=_COMPRESSION, default_column_properties=none, column_properties=plain
    )


def _floats(kind: pa.DataType) -> bool:
    if pa.types.is_floating(kind):
        return True
    return any(_floats(kind.field(i).type) for i in range(kind.num_fields))
