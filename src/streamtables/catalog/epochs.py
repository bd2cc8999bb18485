"""Epochs: which versions of stream tables a round produced, and what each stands for.

An epoch keeps only the tables that moved in it.  A table that did not is in the epoch with the
version of its last move before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, delete, func, insert, select

from streamtables.catalog.database import Database
from streamtables.catalog.scheduler_models import EpochMove
from streamtables.catalog.scheduler_schema import epoch_moves, epochs
from streamtables.catalog.schema import catalog_meta, standings
from streamtables.positions import InputId

KEPT_EPOCHS = 10_000
"""How many epochs are kept; a table that did not move since keeps its last move."""


class Epochs:
    """The part of the catalog that knows which versions belong together."""

    _database: Database

    def record_epoch(self, tables: Collection[InputId], at: datetime) -> int | None:
        """Keep where some tables stand as an epoch; None where none moved since its last one.

        Where they stand is read here and not told by the round: what a process did before it died
        is kept by the next one, and a process that was overtaken brings back nothing old.
        """
        with self._database.writing() as connection:
            # One at a time, so that no two epochs have one number.
            connection.execute(select(catalog_meta.c.generation).with_for_update())
            moves = _moves_since(connection, tables)
            if not moves:
                return None
            number = _last(connection) + 1
            connection.execute(insert(epochs), [{"number": number, "at": at}])
            connection.execute(insert(epoch_moves), [{**move, "epoch": number} for move in moves])
        return number

    def last_epoch(self) -> int:
        """Return the number of the last epoch; 0 when there is none."""
        with self._database.reading() as connection:
            return _last(connection)

    def epoch_moves(
        self, tables: Sequence[InputId], upto: int | None = None, limit: int = 1_000
    ) -> list[EpochMove]:
        """Return the last moves of some tables, newest first."""
        statement = (
            select(epoch_moves)
            .where(epoch_moves.c.stream_table_id.in_(tables))
            .order_by(epoch_moves.c.epoch.desc())
            .limit(limit)
        )
        if upto is not None:
            statement = statement.where(epoch_moves.c.epoch <= upto)
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return [
            EpochMove(InputId(row.stream_table_id), row.delta_version, row.base_frontier, row.epoch)
            for row in rows
        ]

    def prune_epochs(self, keep: int = KEPT_EPOCHS) -> int:
        """Forget moves that a later one of the same table has followed for long."""
        newer = epoch_moves.alias()
        with self._database.writing() as connection:
            upto = _last(connection) - keep
            old = epoch_moves.c.epoch <= upto
            followed = (
                select(newer.c.epoch)
                .where(newer.c.stream_table_id == epoch_moves.c.stream_table_id)
                .where(newer.c.epoch > epoch_moves.c.epoch)
                .exists()
            )
            gone = connection.execute(delete(epoch_moves).where(old, followed)).rowcount
            # A number without moves says nothing.  Those after it still have theirs.
            kept = select(epoch_moves.c.epoch).where(epoch_moves.c.epoch <= upto)
            empty = epochs.c.number.not_in(kept)
            connection.execute(delete(epochs).where(epochs.c.number <= upto, empty))
            return gone


def _last(connection: Connection) -> int:
    return int(connection.execute(select(func.max(epochs.c.number))).scalar() or 0)


def _moves_since(connection: Connection, tables: Collection[InputId]) -> list[dict[str, Any]]:
    """Return where those of the tables stand that have moved since their last epoch."""
    table_id, moved_id = standings.c.stream_table_id, epoch_moves.c.stream_table_id
    earlier = epoch_moves.alias()
    # For each table by itself: that is one step in an index, and not a look at all moves.
    newest = (
        select(func.max(earlier.c.epoch))
        .where(earlier.c.stream_table_id == table_id)
        .scalar_subquery()
    )
    last = and_(moved_id == table_id, epoch_moves.c.epoch == newest)
    kept = epoch_moves.c.base_frontier.label("kept"), epoch_moves.c.delta_version.label("version")
    statement = (
        select(table_id, standings.c.delta_version, standings.c.base_frontier, *kept)
        .outerjoin_from(standings, epoch_moves, last)
        .where(table_id.in_(tables))
    )
    return [
        {
            "stream_table_id": row.stream_table_id,
            "delta_version": row.delta_version,
            "base_frontier": row.base_frontier,
        }
        for row in connection.execute(statement)
        if (row.version, row.kept) != (row.delta_version, row.base_frontier)
    ]
