"""PostgreSQL tables as sources: how each is captured, and up to which position."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, Text

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "captures",
        Column("source_id", Text, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
        *_required("server", "database", "tag"),
        Column("relation", BigInteger, nullable=False),
        *_required("table_name", "wish", "mode", "shape", "overrides"),
        Column("moving_to", Text),
        Column("moving_since", BigInteger, nullable=False),
        *_required("copy_reason", "note"),
    )
    op.create_index("ix_captures_database", "captures", ["database"])
    op.create_table(
        "capture_events",
        Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
        Column("source_id", Text, ForeignKey("sources.id", ondelete="CASCADE"), nullable=False),
        *_required("at", "kind", "reason"),
    )
    op.create_index("capture_events_by_source", "capture_events", ["source_id", "id"])
    op.create_table(
        "drains",
        Column("database", Text, primary_key=True),
        Column("number", BigInteger, primary_key=True, autoincrement=False),
        *_required("snapshot", "lsn", "versions", "lags", "at"),
    )


def _required(*names: str) -> list[Column[str]]:
    return [Column(name, Text, nullable=False) for name in names]
