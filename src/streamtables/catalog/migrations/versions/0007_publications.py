"""Publications of stream tables, and how far each of their subscribers is."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Double, ForeignKey, Text

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "publications",
        Column("id", Text, primary_key=True),
        Column("name", Text, nullable=False),
        Column("name_key", Text, nullable=False, unique=True),
        Column("table_name", Text, nullable=False),
        Column("table_key", Text, nullable=False, index=True),
        Column("created_at", Text, nullable=False),
    )
    op.create_table(
        "subscribers",
        Column(
            "publication_id",
            Text,
            ForeignKey("publications.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        Column("name", Text, primary_key=True),
        Column("incarnation", Text, nullable=False),
        Column("version", BigInteger),
        Column("offered", BigInteger),
        Column("sink", Text, nullable=False),
        Column("sink_options", Text, nullable=False),
        Column("expire_seconds", Double),
        Column("state", Text, nullable=False),
        Column("note", Text, nullable=False),
        Column("failures", BigInteger, nullable=False),
        Column("retry_at", Text),
        Column("created_at", Text, nullable=False),
        Column("acknowledged_at", Text, nullable=False),
    )
