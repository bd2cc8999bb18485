"""Rows from a server as columns of text, in blocks of bounded size.

The server sends one message per row, so a block of messages is a block of whole rows, whatever
line ends the values have.  The texts are what the types' output functions print.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa
from psycopg import Connection, sql
from pyarrow import csv

_SLICE = 500
"""How many rows are taken before their size is looked at."""
_BLOCK_BYTES = 64 << 20


def copied(
    connection: Connection[Any], select: sql.Composable, width: int, batch_rows: int
) -> Iterator[pa.Table]:
    """Give the rows of a query as texts, in tables of at most `batch_rows`, named f0, f1, ….

    A NULL is an empty field without quotes, and every value has quotes.
    """
    statement = sql.SQL("COPY ({}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)").format(select)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        rows = iter(copy)
        while block := _block(rows, batch_rows):
            yield _parsed(block, width)


def _block(rows: Iterator[Any], batch_rows: int) -> bytes:
    taken: list[bytes] = []
    count = size = 0
    while count < batch_rows and size < _BLOCK_BYTES:
        some = list(islice(rows, min(_SLICE, batch_rows - count)))
        if not some:
            break
        taken.append(b"".join(some))
        count += len(some)
        size += len(taken[-1])
    return b"".join(taken)


def _parsed(block: bytes, width: int) -> pa.Table:
    names = [f"f{n}" for n in range(width)]
    return csv.read_csv(
        pa.BufferReader(block),
        read_options=csv.ReadOptions(
            column_names=names, block_size=len(block) + 1, use_threads=False
        ),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.large_string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
