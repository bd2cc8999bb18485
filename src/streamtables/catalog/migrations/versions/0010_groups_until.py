"""Groups of sources that must have reached a time."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Text

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("watermark_groups", Column("until", Text))
