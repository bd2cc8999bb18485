"""Times as Spark writes them, and what deltalake makes of them.

Spark writes a TIMESTAMP as INT96 unless it is told otherwise (our own sessions are).  deltalake
reads INT96 as nanoseconds in 64 bits, which go from 1677 to 2262: of 9999-12-31 it makes 1816, and
nothing says so.  Where it can be told to read microseconds it is (`scan`).  Its change feed, its
MERGE, its overwrite and its OPTIMIZE cannot be told: these are asked about first.

    far_times      of a change feed: whether a time in its files is out of that range
    has_far_times  of a table that is to be rewritten in part: whether one in any of its files is
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.engine.sql_text import identifier
from streamtables.engine.stores import local_path, open_store

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from pyarrow import fs
    from pyarrow.parquet import ParquetFile

_OLD = "INT96"
_SESSION = {
    "datafusion.execution.parquet.coerce_int96": "us",
    "datafusion.sql_parser.enable_ident_normalization": "false",
}
# What 64 bits of nanoseconds hold, in whole microseconds.
_FIRST, _LAST = -(2**63) // 1000 + 1, 2**63 // 1000 - 1
_AT_A_TIME = 16


def scan(
    table: DeltaTable, columns: Sequence[str], predicate: str | None = None
) -> pa.RecordBatchReader:
    """Return a stream of rows, whatever wrote their times."""
    from deltalake import QueryBuilder

    shown = ", ".join(identifier(name, "datafusion") for name in columns)
    where = "" if predicate is None else f" WHERE {predicate}"
    builder = QueryBuilder(_SESSION).register("stored", table)
    return pa.RecordBatchReader.from_stream(builder.execute(f"SELECT {shown} FROM stored{where}"))


def holds_times(schema: pa.Schema) -> bool:
    """Whether a column has a TIMESTAMP in it; one without a zone is never written as INT96."""
    return any(_is_time(field.type) for field in schema)


def has_far_times(table: DeltaTable, schema: pa.Schema) -> bool:
    """Whether some file of a table has times that deltalake would write back as others."""
    if not holds_times(schema):
        return False
    files = table.file_uris()
    with ThreadPoolExecutor(min(_AT_A_TIME, max(1, len(files)))) as threads:
        return any(threads.map(_is_far, files))


def far_times(location: str, files: Iterable[str], schema: pa.Schema) -> bool:
    """Whether a change feed over these files has times that deltalake would read wrongly.

    `files` are named as in the log; `schema` has the columns that are read.  A file that is not
    there any more is left to whoever reads the feed.
    """
    if not holds_times(schema):
        return False
    root = location.rstrip("/")
    return any(_is_far(path if "://" in path else f"{root}/{unquote(path)}") for path in files)


def _is_time(type_: pa.DataType) -> bool:
    if pa.types.is_timestamp(type_):
        return type_.tz is not None
    return any(_is_time(type_.field(at).type) for at in range(type_.num_fields))


@lru_cache(maxsize=100_000)
def _is_far(uri: str) -> bool:
    """Whether a file has a time out of range as INT96; files never change."""
    try:
        with _opened(uri) as file:
            old = sorted(set(_old_columns(file)))
            batches = file.iter_batches(columns=old) if old else ()
            return any(_holds_far(column) for rows in batches for column in rows.columns)
    except FileNotFoundError:
        return False


def _opened(uri: str) -> ParquetFile:
    from pyarrow import parquet

    path = local_path(uri)
    if path is not None:
        # Names of partitions stand in the log, and in what deltalake gives, with escapes.
        path = path if path.exists() else Path(unquote(str(path)))
        return parquet.ParquetFile(path, coerce_int96_timestamp_unit="us")
    system: fs.FileSystem
    system, inside = open_store(uri)
    return parquet.ParquetFile(inside, filesystem=system, coerce_int96_timestamp_unit="us")


def _old_columns(file: ParquetFile) -> Iterator[str]:
    """Yield the names of columns that have INT96 in them."""
    schema = file.schema
    for at in range(len(schema)):
        leaf = schema.column(at)
        if leaf.physical_type == _OLD:
            yield leaf.path.split(".")[0]


def _holds_far(values: pa.Array) -> bool:
    if pa.types.is_timestamp(values.type):
        moments = values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64())
        bounds = pc.min_max(moments)
        least, most = bounds["min"].as_py(), bounds["max"].as_py()
        return least is not None and (least < _FIRST or most > _LAST)
    if pa.types.is_nested(values.type):
        return any(_holds_far(part) for part in _parts(values))
    return False


def _parts(values: pa.Array) -> list[pa.Array]:
    """Return what stands directly in nested values."""
    if pa.types.is_struct(values.type):
        return list(values.flatten())
    if pa.types.is_map(values.type):
        return [values.keys, values.items]
    return [values.flatten()]
