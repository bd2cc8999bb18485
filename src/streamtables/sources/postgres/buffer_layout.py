"""What a change buffer says of itself, in the comment of its table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from psycopg import Connection, sql

from streamtables.sources.postgres.buffer_columns import Captured
from streamtables.sources.postgres.server import SCHEMA

LAYOUT = 2
"""The version of the buffer's columns; 1 had an old and a new column for each one of the source."""

_COMMENTS = """
SELECT c.relname::text, pg_catalog.obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = ANY (%s)
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
    return read_layouts(connection, [tag]).get(tag)


def read_layouts(connection: Connection[Any], tags: Sequence[str]) -> dict[str, Layout]:
    """Return the layouts of the buffers that are there, by tag, in one statement."""
    named = {f"changes_{tag}": tag for tag in tags}
    found = connection.execute(_COMMENTS, (SCHEMA, list(named))).fetchall()
    return {named[name]: _layout(comment) for name, comment in found}


def _layout(comment: str | None) -> Layout:
    said = json.loads(comment or "{}")
    # The first version wrote no comment.
    return Layout(said.get("layout", 1), said.get("source", 0), tuple(said.get("columns", ())))
