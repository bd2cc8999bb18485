"""The scheduler: its lease, gates, watermarks, pauses, events and epochs."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Double, ForeignKey, Integer, Text

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "leases",
        Column("name", Text, primary_key=True),
        *_required("holder"),
        Column("term", BigInteger, nullable=False),
        *_required("expires_at", "facts"),
    )
    op.create_table("gates", _source(), *_required("reason", "closed_at"))
    op.create_table(
        "watermark_groups",
        Column("name", Text, primary_key=True),
        *_required("sources"),
        Column("tolerance_seconds", Double, nullable=False),
    )
    op.create_table("watermarks", _source(), *_required("moment"))
    op.create_table(
        "pauses", Column("scope", Text, primary_key=True), *_required("reason", "paused_at")
    )
    op.create_table(
        "events",
        Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
        *_required("at", "kind", "subject_id", "subject", "text"),
    )
    op.create_index("events_by_subject", "events", ["subject_id", "id"])
    _create_epochs()


def _create_epochs() -> None:
    op.create_table(
        "epochs",
        Column("number", BigInteger, primary_key=True, autoincrement=False),
        *_required("at"),
    )
    op.create_table(
        "epoch_moves",
        Column(
            "stream_table_id",
            Text,
            ForeignKey("stream_tables.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        Column(
            "epoch",
            BigInteger,
            ForeignKey("epochs.number", ondelete="CASCADE"),
            primary_key=True,
            autoincrement=False,
        ),
        Column("delta_version", BigInteger, nullable=False),
        *_required("base_frontier"),
    )


def _source() -> Column[str]:
    return Column("source_id", Text, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True)


def _required(*names: str) -> list[Column[str]]:
    return [Column(name, Text, nullable=False) for name in names]
