"""Locks of writes that tables follow at once."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Text

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "write_locks",
        Column("name", Text, primary_key=True),
        Column("key", Text, primary_key=True),
        Column("holder", Text, nullable=False),
        Column("expires_at", Text, nullable=False),
    )
