"""Views and functions, and which of them each stream table uses."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Boolean, Column, Text

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table("views", *_named(), *_required("query", "uses", "created_at", "altered_at"))
    op.create_table(
        "functions",
        *_named(),
        *_required("language", "parameters", "returns", "body"),
        Column("deterministic", Boolean, nullable=False),
        *_required("uses", "created_at", "altered_at"),
    )
    # Tables that were there before use neither.
    op.add_column("stream_tables", Column("uses", Text, nullable=False, server_default="[]"))


def _named() -> list[Column[str]]:
    return [
        Column("id", Text, primary_key=True),
        Column("name", Text, nullable=False),
        Column("name_key", Text, nullable=False, unique=True),
    ]


def _required(*names: str) -> list[Column[str]]:
    return [Column(name, Text, nullable=False) for name in names]
