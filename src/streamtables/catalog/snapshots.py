"""Snapshots: labels for versions of tables that are kept until the label goes."""

from __future__ import annotations

from collections import defaultdict

from sqlalchemy import BigInteger, Column, ForeignKey, Table, Text, delete, insert, select
from sqlalchemy.exc import IntegrityError

from streamtables.catalog.column_types import UtcText, frontier_text
from streamtables.catalog.database import Database
from streamtables.catalog.schema import metadata
from streamtables.catalog.snapshot_models import KeptSnapshot, KeptVersion
from streamtables.errors import AlreadyExistsError, InternalError, NotFoundError
from streamtables.positions import InputId, Version

snapshots = Table(
    "snapshots",
    metadata,
    Column("label", Text, primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("taken_at", UtcText, nullable=False),
)

snapshot_tables = Table(
    "snapshot_tables",
    metadata,
    Column("label", Text, ForeignKey("snapshots.label", ondelete="CASCADE"), primary_key=True),
    Column(
        "stream_table_id",
        Text,
        ForeignKey("stream_tables.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("table_name", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("frontier", frontier_text(), nullable=False),
    Column("base_frontier", frontier_text(), nullable=False),
    Column("query_hash", Text, nullable=False),
)


class Snapshots:
    """The part of the catalog that knows which versions have a label."""

    _database: Database

    def keep_snapshot(self, snapshot: KeptSnapshot) -> None:
        """Keep versions under a label that is new."""
        head = {"label": snapshot.label, "epoch": snapshot.epoch, "taken_at": snapshot.taken_at}
        rows = [
            {
                "label": snapshot.label,
                "stream_table_id": item.table_id,
                "table_name": item.table,
                "version": item.version,
                "frontier": item.frontier,
                "base_frontier": item.base_frontier,
                "query_hash": item.query_hash,
            }
            for item in snapshot.tables
        ]
        try:
            with self._database.writing() as connection:
                connection.execute(insert(snapshots), [head])
                connection.execute(insert(snapshot_tables), rows)
        except InternalError as error:
            if isinstance(error.__cause__, IntegrityError):
                raise AlreadyExistsError(
                    f'there is a snapshot "{snapshot.label}" already',
                    hint="Choose another label, or drop that one.",
                ) from error
            raise

    def kept_snapshots(self) -> list[KeptSnapshot]:
        """Return all snapshots, the newest first."""
        order = (snapshots.c.taken_at.desc(), snapshots.c.label)
        with self._database.reading() as connection:
            heads = connection.execute(select(snapshots).order_by(*order)).all()
            rows = connection.execute(select(snapshot_tables)).all()
        tables: dict[str, list[KeptVersion]] = defaultdict(list)
        for row in rows:
            tables[row.label].append(
                KeptVersion(
                    table_id=InputId(row.stream_table_id),
                    table=row.table_name,
                    version=Version(row.version),
                    frontier=row.frontier,
                    base_frontier=row.base_frontier,
                    query_hash=row.query_hash,
                )
            )
        return [
            KeptSnapshot(
                head.label,
                head.epoch,
                head.taken_at,
                tuple(sorted(tables[head.label], key=lambda item: item.table)),
            )
            for head in heads
        ]

    def kept_snapshot(self, label: str) -> KeptSnapshot:
        """Return one snapshot by its label."""
        for found in self.kept_snapshots():
            if found.label == label:
                return found
        raise NotFoundError(
            f'there is no snapshot "{label}"', hint="`streamtables snapshot list` shows them."
        )

    def drop_snapshot(self, label: str) -> KeptSnapshot:
        """Forget a label; upkeep may then remove what only it needed."""
        found = self.kept_snapshot(label)
        with self._database.writing() as connection:
            connection.execute(delete(snapshots).where(snapshots.c.label == label))
        return found

    def labelled_versions(self, table: InputId) -> list[Version]:
        """Return the versions of a table that a label keeps."""
        this = snapshot_tables.c.stream_table_id == table
        with self._database.reading() as connection:
            found = connection.execute(select(snapshot_tables.c.version).where(this)).scalars()
            return [Version(version) for version in found]
