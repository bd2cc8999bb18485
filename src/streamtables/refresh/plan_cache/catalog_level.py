"""The level in the catalog: a new machine, or one whose folder was cleared, starts with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from streamtables.catalog.store import Catalog
from streamtables.errors import StreamTablesError
from streamtables.positions import InputId
from streamtables.refresh.plan_cache.levels import LevelFaultError
from streamtables.refresh.plan_cache.records import RecordName

T = TypeVar("T")


@dataclass(frozen=True)
class CatalogLevel:
    """Records in the catalog's database."""

    catalog: Catalog

    @property
    def place(self) -> str:
        """Where the records are, for people."""
        return "the catalog"

    def find(self, name: RecordName) -> bytes | None:
        """Return the record of a name."""
        return _answered(
            lambda: self.catalog.plan_record(name.table_id, name.fingerprint, name.part)
        )

    def save(self, name: RecordName, record: bytes) -> int:
        """Keep a record; those of the table's earlier definitions go."""
        _answered(
            lambda: self.catalog.put_plan_record(name.table_id, name.fingerprint, name.part, record)
        )
        return 0

    def forget(self, table_ids: Iterable[InputId]) -> None:
        """Do nothing: the records of a table go with the table."""

    def clear(self) -> int:
        """Let everything go; return how many records there were."""
        return _answered(self.catalog.clear_plan_records)

    def count(self) -> int:
        """Return how many records there are."""
        return _answered(self.catalog.plan_record_count)

    def close(self) -> None:
        """Do nothing: the catalog is not this level's own."""


def _answered(question: Callable[[], T]) -> T:
    try:
        return question()
    except StreamTablesError as error:
        raise LevelFaultError(error.message) from error
