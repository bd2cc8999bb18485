"""Compiled plans, kept for processes that have not compiled them."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, ForeignKey, LargeBinary, Text

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "plan_records",
        Column(
            "stream_table_id",
            Text,
            ForeignKey("stream_tables.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        Column("part", Text, primary_key=True),
        Column("fingerprint", Text, nullable=False),
        Column("record", LargeBinary, nullable=False),
    )
