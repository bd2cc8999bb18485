"""Epochs: which versions of stream tables a round produced, and what each stands for.

An epoch keeps only the tables that moved in it.  A table that did not is in the epoch with the
version of its last move before.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, insert, select

from streamtables.catalog.database import Database
from streamtables.catalog.scheduler_models import EpochMove
from streamtables.catalog.scheduler_schema import epoch_moves, epochs
from streamtables.positions import InputId

KEPT_EPOCHS = 10_000
"""How many epochs are kept; a table that did not move since keeps its last move."""


class Epochs:
    """The part of the catalog that knows which versions belong together."""

    _database: Database

    def record_epoch(self, moves: Sequence[EpochMove], at: datetime) -> int:
        """Keep the moves of one round, and return the number of its epoch."""
        with self._database.writing() as connection:
            last = connection.execute(select(func.max(epochs.c.number))).scalar() or 0
            number = int(last) + 1
            connection.execute(insert(epochs), [{"number": number, "at": at}])
            rows = [
                {
                    "stream_table_id": move.stream_table_id,
                    "epoch": number,
                    "delta_version": move.delta_version,
                    "base_frontier": move.base_frontier,
                }
                for move in moves
            ]
            connection.execute(insert(epoch_moves), rows)
        return number

    def last_epoch(self) -> int:
        """Return the number of the last epoch; 0 when there is none."""
        with self._database.reading() as connection:
            return int(connection.execute(select(func.max(epochs.c.number))).scalar() or 0)

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
            last = connection.execute(select(func.max(epochs.c.number))).scalar() or 0
            old = epoch_moves.c.epoch <= int(last) - keep
            followed = (
                select(newer.c.epoch)
                .where(newer.c.stream_table_id == epoch_moves.c.stream_table_id)
                .where(newer.c.epoch > epoch_moves.c.epoch)
                .exists()
            )
            return connection.execute(delete(epoch_moves).where(old, followed)).rowcount
