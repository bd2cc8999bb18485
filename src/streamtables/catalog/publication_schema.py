"""The catalog's tables of publications."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Table, Text

from streamtables.catalog.column_types import UtcText, options_text
from streamtables.catalog.schema import metadata

# By the table's name and not by its id: a publication outlives a table that is made anew, so that
# its subscribers can be told.
publications = Table(
    "publications",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False, unique=True),
    Column("table_name", Text, nullable=False),
    Column("table_key", Text, nullable=False, index=True),
    Column("created_at", UtcText, nullable=False),
)

subscribers = Table(
    "subscribers",
    metadata,
    Column(
        "publication_id", Text, ForeignKey("publications.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("name", Text, primary_key=True),
    Column("incarnation", Text, nullable=False),
    Column("version", BigInteger),
    Column("offered", BigInteger),
    Column("sink", Text, nullable=False),
    Column("sink_options", options_text(), nullable=False),
    Column("expire_seconds", Double),
    Column("state", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("failures", BigInteger, nullable=False),
    Column("retry_at", UtcText),
    Column("created_at", UtcText, nullable=False),
    Column("acknowledged_at", UtcText, nullable=False),
)
