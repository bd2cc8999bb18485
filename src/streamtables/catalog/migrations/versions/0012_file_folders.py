"""Folders of files that are sources."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, ForeignKey, Text

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "file_folders",
        Column("source_id", Text, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
        Column("folder", Text, nullable=False),
        Column("format", Text, nullable=False),
        Column("pattern", Text, nullable=False),
        Column("schema", Text, nullable=False),
        Column("options", Text, nullable=False),
    )
