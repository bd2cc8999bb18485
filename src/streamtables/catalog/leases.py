"""The lease of the one process that leads.

Taking it, renewing it and learning the catalog's generation are one statement: that is all an idle
tick asks of the catalog.  A lease keeps two processes from doing the same work; what keeps the data
right when a leader stalls past its lease is the fencing in each table's own log.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

from sqlalchemy import case, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from streamtables.catalog.database import Database
from streamtables.catalog.models import Options
from streamtables.catalog.scheduler_models import Lease
from streamtables.catalog.scheduler_schema import leases
from streamtables.catalog.schema import catalog_meta

_NAME = "scheduler"
_GENERATION = select(catalog_meta.c.generation).scalar_subquery()


class Leases:
    """The part of the catalog that knows who leads."""

    _database: Database

    def lead(
        self, holder: str, now: datetime, seconds: float, facts: Options | None = None
    ) -> Lease | None:
        """Take or renew the lease; None while another holder's has not expired."""
        statement = (
            update(leases)
            .where(leases.c.name == _NAME)
            .where(or_(leases.c.holder == holder, leases.c.expires_at < now))
            .values(
                holder=holder,
                # Compared with the row as it was: a term ends when the holder is another one.
                term=leases.c.term + case((leases.c.holder == holder, 0), else_=1),
                expires_at=now + timedelta(seconds=seconds),
                facts=facts or {},
            )
            .returning(leases, _GENERATION.label("generation"))
        )
        # One statement is a transaction by itself.
        with self._database.reading() as connection:
            row = connection.execute(statement).first()
        if row is None:
            return self._first_lease(holder, now, seconds, facts)
        return Lease(row.holder, row.term, row.expires_at, row.generation, row.facts)

    def lease(self) -> Lease | None:
        """Return the lease as it stands, expired or not; None when nobody ever led."""
        statement = select(leases, _GENERATION.label("generation")).where(leases.c.name == _NAME)
        with self._database.reading() as connection:
            row = connection.execute(statement).first()
        if row is None:
            return None
        return Lease(row.holder, row.term, row.expires_at, row.generation, row.facts)

    def stop_leading(self, holder: str, now: datetime) -> None:
        """Give the lease up, so that the next leader need not wait for its end."""
        this = (leases.c.name == _NAME) & (leases.c.holder == holder)
        past = now - timedelta(microseconds=1)
        with self._database.reading() as connection:
            connection.execute(update(leases).where(this).values(expires_at=past))

    def _first_lease(
        self, holder: str, now: datetime, seconds: float, facts: Options | None
    ) -> Lease | None:
        """Take the lease that nobody has held yet."""
        if self.lease() is not None:
            return None
        expired = now - timedelta(seconds=1)
        row = {"name": _NAME, "holder": "", "term": 0, "expires_at": expired, "facts": {}}
        # Another process may be first to make it; the lease then decides who leads.
        with (
            self._database.writing() as connection,
            suppress(IntegrityError),
            connection.begin_nested(),
        ):
            connection.execute(insert(leases), [row])
        return self.lead(holder, now, seconds, facts)
