"""Where stream tables stand: read all at once, moved forward only.

The catalog's copy is never the first to know: a refresh moves it after its Delta commit, or when it
found no row to change.  So a move that comes late is refused, not an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, true, update

from streamtables.catalog.database import Database
from streamtables.catalog.models import Standing
from streamtables.catalog.scheduler_schema import epoch_moves
from streamtables.catalog.schema import catalog_meta, standings, stream_tables
from streamtables.errors import NotFoundError
from streamtables.positions import OF_NO_QUERY, InputId, of_gone_table

# An outer join, so that the generation comes back when no table has been filled yet.
_ALL = select(catalog_meta.c.generation.label("catalog_generation"), standings).select_from(
    catalog_meta.outerjoin(standings, true())
)


class Standings:
    """The part of the catalog that knows where stream tables stand."""

    _database: Database

    def standing(self, table_id: InputId) -> Standing | None:
        """Return where a stream table stands, or None when it was never filled."""
        statement = select(standings).where(standings.c.stream_table_id == table_id)
        with self._database.reading() as connection:
            row = connection.execute(statement).first()
        return _standing(row) if row else None

    def standings(self) -> Mapping[InputId, Standing]:
        """Return where all stream tables stand, with one statement."""
        with self._database.reading() as connection:
            return load_standings(connection)[1]

    def adopt_standing(self, table_id: InputId, standing: Standing) -> bool:
        """Record what a Delta commit says; False when the catalog is already past it."""
        with self._database.writing() as connection:
            return move_standing(connection, table_id, standing)


def load_standings(connection: Connection) -> tuple[int, Mapping[InputId, Standing]]:
    """Return the catalog's generation and where all stream tables stand, with one statement."""
    rows = connection.execute(_ALL).all()
    found = {InputId(row.stream_table_id): _standing(row) for row in rows if row.stream_table_id}
    return rows[0].catalog_generation, MappingProxyType(found)


def move_standing(connection: Connection, table_id: InputId, standing: Standing) -> bool:
    """Move a table's standing forward inside a transaction; False when it would go back."""
    # The lock is on the definition, as there is no standing to lock before the first fill.  The
    # standing is read by a statement after it: one that waited would see what was before the wait.
    table = select(stream_tables.c.id).where(stream_tables.c.id == table_id)
    if connection.execute(table.with_for_update(key_share=True)).first() is None:
        raise NotFoundError("the stream table is no longer in the catalog")
    this = standings.c.stream_table_id == table_id
    row = connection.execute(select(standings).where(this)).first()
    recorded = _standing(row) if row else None
    if not standing.may_replace(recorded):
        return False
    if recorded is None:
        values = {"stream_table_id": table_id, **standing_values(standing)}
        connection.execute(insert(standings), [values])
    else:
        connection.execute(update(standings).where(this).values(standing_values(standing)))
    return True


def stand_for_no_query(connection: Connection, table_id: InputId) -> None:
    """Have a table rebuilt whenever it is refreshed next: its rows are of no query that it has."""
    this = standings.c.stream_table_id == table_id
    connection.execute(update(standings).where(this).values(query_hash=OF_NO_QUERY))


def stand_for_gone_table(connection: Connection, table_id: InputId, root: InputId) -> None:
    """Note that the version of a source that a table stands for is gone, with its table.

    Past epochs would be taken for some of the table that is there now, so they are forgotten.
    """
    connection.execute(delete(epoch_moves).where(epoch_moves.c.stream_table_id == table_id))
    this = standings.c.stream_table_id == table_id
    row = connection.execute(select(standings.c.base_frontier).where(this)).first()
    if row is not None and root in row.base_frontier:
        gone = of_gone_table(row.base_frontier[root])
        base = row.base_frontier.with_version(root, gone)
        connection.execute(update(standings).where(this).values(base_frontier=base))


def _standing(row: Row[Any]) -> Standing:
    return Standing(
        version=row.delta_version,
        sequence=row.sequence,
        refresh_id=row.refresh_id,
        frontier=row.frontier,
        base_frontier=row.base_frontier,
        query_hash=row.query_hash,
        updated_at=row.updated_at,
    )


def standing_values(standing: Standing) -> dict[str, Any]:
    """Return the columns of a standing's row."""
    return {
        "delta_version": standing.version,
        "sequence": standing.sequence,
        "refresh_id": standing.refresh_id,
        "frontier": standing.frontier,
        "base_frontier": standing.base_frontier,
        "query_hash": standing.query_hash,
        "updated_at": standing.updated_at,
    }
