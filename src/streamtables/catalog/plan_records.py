"""Compiled plans as records, so that a process need not compile what another one has.

The catalog does not look into a record.  All records of a table are of one fingerprint: whoever
writes the first of another one takes the old ones away.
"""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import delete, func, insert, or_, select
from sqlalchemy.exc import IntegrityError

from streamtables.catalog.database import Database
from streamtables.catalog.schema import plan_records
from streamtables.positions import InputId


class PlanRecords:
    """The part of the catalog that keeps compiled plans."""

    _database: Database

    def plan_record(self, table_id: InputId, fingerprint: str, part: str) -> bytes | None:
        """Return a record, if there is one."""
        statement = (
            select(plan_records.c.record)
            .where(plan_records.c.stream_table_id == table_id)
            .where(plan_records.c.part == part)
            .where(plan_records.c.fingerprint == fingerprint)
        )
        with self._database.reading() as connection:
            found = connection.execute(statement).scalar()
        return None if found is None else bytes(found)

    def put_plan_record(
        self, table_id: InputId, fingerprint: str, part: str, record: bytes
    ) -> None:
        """Keep a record in the place of another one, and let older fingerprints go."""
        kept = plan_records.c
        outdated = or_(kept.fingerprint != fingerprint, kept.part == part)
        row = {
            "stream_table_id": table_id,
            "part": part,
            "fingerprint": fingerprint,
            "record": record,
        }
        with self._database.writing() as connection:
            connection.execute(
                delete(plan_records).where(kept.stream_table_id == table_id).where(outdated)
            )
            # Another process may have kept the same, or dropped the table.
            with suppress(IntegrityError), connection.begin_nested():
                connection.execute(insert(plan_records), [row])

    def plan_record_count(self) -> int:
        """Return how many records there are."""
        with self._database.reading() as connection:
            return int(
                connection.execute(select(func.count()).select_from(plan_records)).scalar_one()
            )

    def clear_plan_records(self) -> int:
        """Let all records go; return how many there were."""
        with self._database.writing() as connection:
            return connection.execute(delete(plan_records)).rowcount
