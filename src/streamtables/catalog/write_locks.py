"""Who is writing what: locks of writes that tables follow at once.

A lock is a table and a key in it, or all of the table, or everything.  It ends with its holder: by
release, by its time, or because the process is no more.  Locks keep writers from computing what
cannot be committed; what keeps the data right when a holder stalls is the source's own log.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Column, Table, Text, delete, insert, select

from streamtables.catalog.column_types import UtcText
from streamtables.catalog.database import Database
from streamtables.catalog.schema import catalog_meta, metadata

ALL = "*"

write_locks = Table(
    "write_locks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("expires_at", UtcText, nullable=False),
)


@dataclass(frozen=True)
class WriteLock:
    """What is locked: the id of a table and a key in it; `ALL` stands for any."""

    name: str
    key: str = ALL

    def meets(self, other: WriteLock) -> bool:
        """Whether two holders may not have both."""
        if ALL in (self.name, other.name):
            return True
        return self.name == other.name and (self.key == other.key or ALL in (self.key, other.key))


class WriteLocks:
    """The part of the catalog that knows who is writing."""

    _database: Database

    def lock_for_write(
        self,
        holder: str,
        wanted: Collection[WriteLock],
        now: datetime,
        seconds: float,
        dead: Collection[str] = (),
    ) -> frozenset[str]:
        """Take all locks or none; return who is in the way, nobody where they were taken."""
        with self._database.writing() as connection:
            # One writer of locks at a time, also where transactions run side by side.
            connection.execute(select(catalog_meta.c.generation).with_for_update())
            gone = (write_locks.c.expires_at < now) | write_locks.c.holder.in_(list(dead))
            connection.execute(delete(write_locks).where(gone))
            held = connection.execute(select(write_locks)).all()
            mine = {WriteLock(row.name, row.key) for row in held if row.holder == holder}
            others = [(WriteLock(row.name, row.key), row.holder) for row in held]
            in_the_way = frozenset(
                other
                for lock, other in others
                if other != holder and any(lock.meets(want) for want in wanted)
            )
            missing = set(wanted) - mine
            if not in_the_way and missing:
                until = now + timedelta(seconds=seconds)
                rows = [
                    {"name": lock.name, "key": lock.key, "holder": holder, "expires_at": until}
                    for lock in missing
                ]
                connection.execute(insert(write_locks), rows)
        return in_the_way

    def write_lock_holders(self) -> frozenset[str]:
        """Return who holds any lock."""
        with self._database.reading() as connection:
            return frozenset(connection.execute(select(write_locks.c.holder).distinct()).scalars())

    def unlock_write(self, holder: str) -> None:
        """Give all locks of a holder back."""
        with self._database.writing() as connection:
            connection.execute(delete(write_locks).where(write_locks.c.holder == holder))
