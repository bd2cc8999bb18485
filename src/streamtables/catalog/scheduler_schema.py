"""The catalog's tables of the scheduler: who leads, what holds tables back, which moments exist."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, Table, Text

from streamtables.catalog.column_types import UtcText, frontier_text, names_text, options_text
from streamtables.catalog.schema import metadata

leases = Table(
    "leases",
    metadata,
    Column("name", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("term", BigInteger, nullable=False),
    Column("expires_at", UtcText, nullable=False),
    Column("facts", options_text(), nullable=False),
)

gates = Table(
    "gates",
    metadata,
    Column("source_id", Text, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    Column("reason", Text, nullable=False),
    Column("closed_at", UtcText, nullable=False),
)

watermark_groups = Table(
    "watermark_groups",
    metadata,
    Column("name", Text, primary_key=True),
    Column("sources", names_text(), nullable=False),
    Column("tolerance_seconds", Double, nullable=False),
    Column("until", UtcText),
)

watermarks = Table(
    "watermarks",
    metadata,
    Column("source_id", Text, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    Column("moment", UtcText, nullable=False),
)

# The scope is "all" or "namespace:<name>"; a single table has its own state.
pauses = Table(
    "pauses",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("reason", Text, nullable=False),
    Column("paused_at", UtcText, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("at", UtcText, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject_id", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("text", Text, nullable=False),
)
Index("events_by_subject", events.c.subject_id, events.c.id)

epochs = Table(
    "epochs",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", UtcText, nullable=False),
)

epoch_moves = Table(
    "epoch_moves",
    metadata,
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
    Column("base_frontier", frontier_text(), nullable=False),
)

Index("epoch_moves_by_epoch", epoch_moves.c.epoch)
