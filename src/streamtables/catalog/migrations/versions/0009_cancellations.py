"""Refreshes that somebody asked to stop."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, ForeignKey, Text

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "cancellations",
        Column(
            "refresh_id", Text, ForeignKey("refreshes.id", ondelete="CASCADE"), primary_key=True
        ),
        Column("asked_by", Text, nullable=False),
        Column("asked_at", Text, nullable=False),
    )
