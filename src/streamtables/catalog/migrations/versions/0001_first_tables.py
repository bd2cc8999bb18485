"""Sources, stream tables, what they read, where they stand, and their refreshes.

The tables are spelled out here and not taken from `schema.py`, which moves on.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, CheckConstraint, Column, Double, ForeignKey, Text, text

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "catalog_meta",
        Column("id", BigInteger, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
        Column("generation", BigInteger, nullable=False),
    )
    op.execute("INSERT INTO catalog_meta (id, generation) VALUES (1, 0)")
    op.create_table(
        "settings",
        Column("name", Text, primary_key=True),
        Column("value", Text, nullable=False),
    )
    _create_definitions()
    _create_positions()
    _create_refreshes()


def _create_definitions() -> None:
    op.create_table(
        "sources",
        Column("id", Text, primary_key=True),
        Column("name", Text, nullable=False),
        Column("name_key", Text, nullable=False, unique=True),
        *_required("kind", "location", "key_columns", "columns", "delta_table_id", "added_at"),
    )
    op.create_table(
        "stream_tables",
        Column("id", Text, primary_key=True),
        Column("name", Text, nullable=False),
        Column("name_key", Text, nullable=False, unique=True),
        *_required("query", "defining_query_hash", "schedule", "mode", "full_policy", "tier"),
        *_required("options", "location", "state", "state_reason", "columns"),
        Column("key_columns", Text),
        Column("owner_id", Text, ForeignKey("stream_tables.id", ondelete="CASCADE"), index=True),
        *_required("created_at", "altered_at"),
        Column("generation", BigInteger, nullable=False),
    )
    op.create_table(
        "dependencies",
        _stream_table_id(primary_key=True),
        Column("input_id", Text, primary_key=True),
        *_required("input_kind", "columns_read"),
    )


def _create_positions() -> None:
    op.create_table(
        "standings",
        _stream_table_id(primary_key=True),
        Column("delta_version", BigInteger, nullable=False),
        Column("sequence", BigInteger, nullable=False),
        *_required("refresh_id", "frontier", "base_frontier", "query_hash", "updated_at"),
    )


def _create_refreshes() -> None:
    op.create_table(
        "refreshes",
        Column("id", Text, primary_key=True),
        _stream_table_id(),
        Column("sequence", BigInteger, nullable=False),
        *_required("state", "mode", "reason_code", "reason_text", "strategy"),
        *_required("from_frontier", "to_frontier", "base_frontier"),
        Column("rows_inserted", BigInteger, nullable=False),
        Column("rows_deleted", BigInteger, nullable=False),
        Column("rows_in", BigInteger, nullable=False),
        Column("seconds", Double, nullable=False),
        *_required("steps", "notes", "error_code", "error_text", "process", "started_at"),
        Column("finished_at", Text),
    )
    op.create_index("refreshes_by_table", "refreshes", ["stream_table_id", "started_at"])
    running = text("state = 'running'")
    op.create_index(
        "refreshes_running",
        "refreshes",
        ["process"],
        sqlite_where=running,
        postgresql_where=running,
    )


def _required(*names: str) -> list[Column[str]]:
    return [Column(name, Text, nullable=False) for name in names]


def _stream_table_id(*, primary_key: bool = False) -> Column[str]:
    reference = ForeignKey("stream_tables.id", ondelete="CASCADE")
    return Column("stream_table_id", Text, reference, primary_key=primary_key, nullable=False)
