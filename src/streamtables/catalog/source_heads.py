"""The last version of each Delta source that was looked at, and a mark of its commit.

A table that was put back from a copy keeps its id, and its versions take the numbers of others that
stream tables have read.  The mark tells one from the other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from streamtables.catalog.database import Database
from streamtables.catalog.schema import source_heads
from streamtables.positions import InputId, Version


@dataclass(frozen=True)
class Head:
    """A version, and what its commit is recognised by."""

    version: Version
    mark: str


class SourceHeads:
    """The part of the catalog that knows the histories of sources."""

    _database: Database

    def heads(self, sources: Collection[InputId]) -> Mapping[InputId, Head]:
        """Return what was last seen of some sources, with one statement."""
        these = select(source_heads).where(source_heads.c.source_id.in_(sources))
        with self._database.reading() as connection:
            rows = connection.execute(these).all()
        return {InputId(row.source_id): Head(Version(row.version), row.mark) for row in rows}

    def note_heads(self, heads: Mapping[InputId, Head]) -> None:
        """Keep what was seen, before anything is read of it; who saw more was here already."""
        if not heads:
            return
        # In one order, so that two who note the same sources never wait for each other.
        values = [
            {"source_id": key, "version": heads[key].version, "mark": heads[key].mark}
            for key in sorted(heads)
        ]
        with self._database.writing() as connection:
            local = connection.dialect.name == "sqlite"
            made = (sqlite if local else postgresql).insert(source_heads).values(values)
            new = {"version": made.excluded.version, "mark": made.excluded.mark}
            further = made.excluded.version >= source_heads.c.version
            key = [source_heads.c.source_id]
            connection.execute(
                made.on_conflict_do_update(index_elements=key, set_=new, where=further)
            )


def forget_head(connection: Connection, source_id: InputId) -> None:
    """Forget a history that is no longer that of the source."""
    connection.execute(delete(source_heads).where(source_heads.c.source_id == source_id))
