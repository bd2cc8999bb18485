"""The catalog's tables.

Column names are the field names of the models, so a row is a model without a mapping in between.
`catalog_meta` has one row; its generation moves with every change of a definition, and writers
lock it first, so definitions change one at a time.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

from streamtables.catalog.column_types import (
    UtcText,
    columns_text,
    frontier_text,
    names_text,
    options_text,
    steps_text,
)

metadata = MetaData()

catalog_meta = Table(
    "catalog_meta",
    metadata,
    Column("id", BigInteger, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("generation", BigInteger, nullable=False),
)

settings = Table(
    "settings",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

sources = Table(
    "sources",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("location", Text, nullable=False),
    Column("key_columns", names_text(), nullable=False),
    Column("columns", columns_text(), nullable=False),
    Column("delta_table_id", Text, nullable=False),
    Column("added_at", UtcText, nullable=False),
)

source_heads = Table(
    "source_heads",
    metadata,
    Column("source_id", Text, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("mark", Text, nullable=False),
)

file_folders = Table(
    "file_folders",
    metadata,
    Column("source_id", Text, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    Column("folder", Text, nullable=False),
    Column("format", Text, nullable=False),
    Column("pattern", Text, nullable=False),
    Column("schema", Text, nullable=False),
    Column("options", options_text(), nullable=False),
)

captures = Table(
    "captures",
    metadata,
    Column("source_id", Text, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    Column("server", Text, nullable=False),
    Column("database", Text, nullable=False, index=True),
    Column("tag", Text, nullable=False),
    Column("relation", BigInteger, nullable=False),
    Column("table_name", Text, nullable=False),
    Column("wish", Text, nullable=False),
    Column("mode", Text, nullable=False),
    Column("shape", Text, nullable=False),
    Column("overrides", options_text(), nullable=False),
    Column("moving_to", Text),
    Column("moving_since", BigInteger, nullable=False),
    Column("copy_reason", Text, nullable=False),
    Column("note", Text, nullable=False),
)

capture_events = Table(
    "capture_events",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("source_id", Text, ForeignKey("sources.id", ondelete="CASCADE"), nullable=False),
    Column("at", UtcText, nullable=False),
    Column("kind", Text, nullable=False),
    Column("reason", Text, nullable=False),
)
Index("capture_events_by_source", capture_events.c.source_id, capture_events.c.id)

drains = Table(
    "drains",
    metadata,
    Column("database", Text, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("snapshot", Text, nullable=False),
    Column("lsn", Text, nullable=False),
    Column("versions", frontier_text(), nullable=False),
    Column("lags", options_text(), nullable=False),
    Column("at", UtcText, nullable=False),
)

stream_tables = Table(
    "stream_tables",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False, unique=True),
    Column("query", Text, nullable=False),
    Column("defining_query_hash", Text, nullable=False),
    Column("schedule", Text, nullable=False),
    Column("mode", Text, nullable=False),
    Column("full_policy", Text, nullable=False),
    Column("tier", Text, nullable=False),
    Column("options", options_text(), nullable=False),
    Column("location", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("state_reason", Text, nullable=False),
    Column("columns", columns_text(), nullable=False),
    Column("key_columns", names_text()),
    Column("owner_id", Text, ForeignKey("stream_tables.id", ondelete="CASCADE"), index=True),
    Column("created_at", UtcText, nullable=False),
    Column("altered_at", UtcText, nullable=False),
    Column("generation", BigInteger, nullable=False),
    Column("uses", names_text(), nullable=False, server_default="[]"),
)

views = Table(
    "views",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False, unique=True),
    Column("query", Text, nullable=False),
    Column("uses", names_text(), nullable=False),
    Column("created_at", UtcText, nullable=False),
    Column("altered_at", UtcText, nullable=False),
)

functions = Table(
    "functions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False, unique=True),
    Column("language", Text, nullable=False),
    Column("parameters", columns_text(), nullable=False),
    Column("returns", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("deterministic", Boolean, nullable=False),
    Column("uses", names_text(), nullable=False),
    Column("created_at", UtcText, nullable=False),
    Column("altered_at", UtcText, nullable=False),
)


def _of_stream_table(*, primary_key: bool = False) -> Column[str]:
    return Column(
        "stream_table_id",
        Text,
        ForeignKey("stream_tables.id", ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=False,
    )


# The input is a source or a stream table, so no foreign key can hold it; the store does.
dependencies = Table(
    "dependencies",
    metadata,
    _of_stream_table(primary_key=True),
    Column("input_id", Text, primary_key=True),
    Column("input_kind", Text, nullable=False),
    Column("columns_read", names_text(), nullable=False),
)

standings = Table(
    "standings",
    metadata,
    _of_stream_table(primary_key=True),
    Column("delta_version", BigInteger, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("refresh_id", Text, nullable=False),
    Column("frontier", frontier_text(), nullable=False),
    Column("base_frontier", frontier_text(), nullable=False),
    Column("query_hash", Text, nullable=False),
    Column("updated_at", UtcText, nullable=False),
)

plan_records = Table(
    "plan_records",
    metadata,
    _of_stream_table(primary_key=True),
    Column("part", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("record", LargeBinary, nullable=False),
)

refreshes = Table(
    "refreshes",
    metadata,
    Column("id", Text, primary_key=True),
    _of_stream_table(),
    Column("sequence", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("mode", Text, nullable=False),
    Column("reason_code", Text, nullable=False),
    Column("reason_text", Text, nullable=False),
    Column("strategy", Text, nullable=False),
    Column("from_frontier", frontier_text(), nullable=False),
    Column("to_frontier", frontier_text(), nullable=False),
    Column("base_frontier", frontier_text(), nullable=False),
    Column("rows_inserted", BigInteger, nullable=False),
    Column("rows_deleted", BigInteger, nullable=False),
    Column("rows_in", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("steps", steps_text(), nullable=False),
    Column("notes", names_text(), nullable=False),
    Column("error_code", Text, nullable=False),
    Column("error_text", Text, nullable=False),
    Column("process", Text, nullable=False),
    Column("started_at", UtcText, nullable=False),
    Column("finished_at", UtcText),
)

Index("refreshes_by_table", refreshes.c.stream_table_id, refreshes.c.started_at)
# Start-up looks for refreshes that nobody finished; there are never many.
_RUNNING = text("state = 'running'")
Index("refreshes_running", refreshes.c.process, sqlite_where=_RUNNING, postgresql_where=_RUNNING)
