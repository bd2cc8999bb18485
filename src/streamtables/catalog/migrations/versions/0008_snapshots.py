"""Versions of tables that are kept under a label."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Text

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "snapshots",
        Column("label", Text, primary_key=True),
        Column("epoch", BigInteger, nullable=False),
        Column("taken_at", Text, nullable=False),
    )
    op.create_table(
        "snapshot_tables",
        Column("label", Text, ForeignKey("snapshots.label", ondelete="CASCADE"), primary_key=True),
        Column(
            "stream_table_id",
            Text,
            ForeignKey("stream_tables.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        Column("table_name", Text, nullable=False),
        Column("version", BigInteger, nullable=False),
        Column("frontier", Text, nullable=False),
        Column("base_frontier", Text, nullable=False),
        Column("query_hash", Text, nullable=False),
    )
