"""What each Delta source's history is recognised by."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Text

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "source_heads",
        Column("source_id", Text, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
        Column("version", BigInteger, nullable=False),
        Column("mark", Text, nullable=False),
    )
