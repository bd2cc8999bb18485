"""Changes of a catalog that was put back from a backup, before anybody uses it.

A restored table may stand before what the catalog recorded, so here, and only here, a standing may
go back.  What was read of a PostgreSQL server since the backup is no longer there to be read, so
every captured table is marked for a copy.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import delete, insert, select, update

from streamtables.catalog.database import Database
from streamtables.catalog.models import Standing
from streamtables.catalog.scheduler_schema import epoch_moves
from streamtables.catalog.schema import (
    captures,
    catalog_meta,
    sources,
    standings,
    stream_tables,
)
from streamtables.catalog.standings import standing_values
from streamtables.positions import InputId


class Restoring:
    """The part of the catalog that is used by a restore alone."""

    _database: Database

    def relocate(self, places: Mapping[InputId, str]) -> None:
        """Keep where tables and sources are now."""
        with self._database.writing() as connection:
            for key, place in places.items():
                for table in (sources, stream_tables):
                    this = update(table).where(table.c.id == key)
                    connection.execute(this.values(location=place))
            following = catalog_meta.c.generation + 1
            connection.execute(update(catalog_meta).values(generation=following))

    def put_standing(self, table_id: InputId, standing: Standing | None) -> None:
        """Have a table stand where its own log says; None for a table without rows."""
        with self._database.writing() as connection:
            connection.execute(delete(standings).where(standings.c.stream_table_id == table_id))
            # Versions of another history have the same numbers.
            moves = delete(epoch_moves).where(epoch_moves.c.stream_table_id == table_id)
            connection.execute(moves)
            if standing is not None:
                values = {"stream_table_id": table_id, **standing_values(standing)}
                connection.execute(insert(standings), [values])

    def copy_captured(self, reason: str) -> tuple[InputId, ...]:
        """Mark every captured table for a copy; return their sources."""
        with self._database.writing() as connection:
            connection.execute(update(captures).values(copy_reason=reason))
            return tuple(map(InputId, connection.execute(select(captures.c.source_id)).scalars()))
