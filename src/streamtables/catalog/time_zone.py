"""The time zone in which the queries of a warehouse are computed.

`CAST(at AS DATE)` and much else depend on the zone of the session.  A notebook in one zone and a
scheduler in another would write days of both into one table, so the first that computes fixes it.
"""

from __future__ import annotations

from sqlalchemy import insert, select

from streamtables.catalog.database import Database
from streamtables.catalog.schema import settings

_NAME = "time_zone"
_KNOWN = select(settings.c.value).where(settings.c.name == _NAME)


class TimeZones:
    """The part of the catalog that knows the zone."""

    _database: Database

    def time_zone(self, of_session: str) -> str:
        """Return the zone of this warehouse; where none is known yet, that of the session is it."""
        with self._database.reading() as connection:
            found = connection.execute(_KNOWN).scalar()
        if found is not None:
            return str(found)
        with self._database.writing() as connection:
            found = connection.execute(_KNOWN).scalar()
            if found is None:
                found = of_session
                connection.execute(insert(settings), [{"name": _NAME, "value": found}])
        return str(found)
