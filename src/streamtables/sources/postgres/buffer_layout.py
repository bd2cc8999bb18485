"""What a change buffer says of itself, in the comment of its table."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from psycopg import Connection, sql

from streamtables.sources.postgres.buffer_columns import Captured
from streamtables.sources.postgres.server import SCHEMA

LAYOUT = 2
"""The version of the buffer's columns; 1 had an old and a new column for each one of the source."""

_COMMENT = """
SELECT pg_catalog.obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s
"""


@dataclass(frozen=True)
class Layout:
    """The version of a buffer's columns, the oid of its source, and the captured columns."""

    layout: int
    source: int
    columns: tuple[str, ...]


def layout_of(captured: Captured) -> Layout:
    """Return the layout of a buffer that is made now."""
    return Layout(LAYOUT, captured.source, tuple(column.name for column in captured.columns))


def describe_buffer(captured: Captured) -> sql.Composed:
    """Return the statement that writes the layout down."""
    return sql.SQL("COMMENT ON TABLE {} IS {}").format(
        captured.buffer, sql.Literal(json.dumps(asdict(layout_of(captured))))
    )


def read_layout(connection: Connection[Any], tag: str) -> Layout | None:
    """Return the layout of the buffer that is there; None when there is no buffer."""
    row = connection.execute(_COMMENT, (SCHEMA, f"changes_{tag}")).fetchone()
    if row is None:
        return None
    said = json.loads(row[0] or "{}")
    # The first version wrote no comment.
    return Layout(said.get("layout", 1), said.get("source", 0), tuple(said.get("columns", ())))
