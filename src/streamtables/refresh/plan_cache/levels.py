"""The two levels that outlive a process: the file of this machine, then the catalog.

A level that cannot answer is a level that holds nothing: the reason is noted and the refresh goes
on.  What the catalog had and the file had not is put into the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from streamtables.compiler.backend.statement import Program
from streamtables.compiler.plan_facts import PlanFacts
from streamtables.positions import InputId
from streamtables.refresh.plan_cache.counts import Counts, Level
from streamtables.refresh.plan_cache.records import (
    DamagedRecordError,
    RecordName,
    pack,
    unpack_facts,
    unpack_program,
)

T = TypeVar("T")


class LevelFaultError(Exception):
    """A level cannot answer, and says why."""


class RecordStore(Protocol):
    """A level: records by their names.  Every method may raise `LevelFaultError`."""

    @property
    def place(self) -> str: ...
    def find(self, name: RecordName) -> bytes | None: ...
    def save(self, name: RecordName, record: bytes) -> int:
        """Keep a record; return how many others had to go for it."""

    def forget(self, table_ids: Iterable[InputId]) -> None: ...
    def clear(self) -> int: ...
    def count(self) -> int: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class CacheLevel:
    """What a level holds now."""

    level: Level
    place: str
    entries: int | None
    """None where the level cannot answer."""
    fault: str = ""


class Levels:
    """The levels below the process, asked in order."""

    def __init__(self, counts: Counts, stores: dict[Level, RecordStore] | None = None) -> None:
        self.counts = counts
        self._stores = stores or {}

    def facts(self, name: RecordName) -> PlanFacts | None:
        """Return the facts that are kept under a name."""
        return self._find(name, unpack_facts)

    def program(self, name: RecordName) -> Program | None:
        """Return the program that is kept under a name."""
        return self._find(name, unpack_program)

    def save(self, name: RecordName, value: PlanFacts | Program) -> None:
        """Keep a value on every level."""
        record = pack(name, value)
        for level in self._stores:
            self._save(level, name, record)

    def forget(self, table_ids: Iterable[InputId]) -> None:
        """Let go of everything of some tables."""
        ids = tuple(table_ids)
        for level in self._stores:
            self._ask(level, lambda store: store.forget(ids))

    def clear(self) -> dict[Level, int]:
        """Empty every level; return how many records each held."""
        return {level: self._ask(level, lambda store: store.clear()) or 0 for level in self._stores}

    def held(self) -> list[CacheLevel]:
        """Return what every level holds."""
        found = []
        for level, store in self._stores.items():
            entries = self._ask(level, lambda store: store.count())
            found.append(CacheLevel(level, store.place, entries, self.counts.of(level).last_fault))
        return found

    def close(self) -> None:
        """Let go of files."""
        for store in self._stores.values():
            store.close()

    def _find(self, name: RecordName, unpack: Callable[[RecordName, bytes], T]) -> T | None:
        missed: list[Level] = []
        for level in self._stores:
            record = self._ask(level, lambda store: store.find(name))
            found = self._unpacked(level, name, record, unpack)
            self.counts.looked(level, found=found is not None)
            if found is not None and record is not None:
                for above in missed:
                    self._save(above, name, record)
                return found
            missed.append(level)
        return None

    def _unpacked(
        self,
        level: Level,
        name: RecordName,
        record: bytes | None,
        unpack: Callable[[RecordName, bytes], T],
    ) -> T | None:
        if record is None:
            return None
        try:
            return unpack(name, record)
        except DamagedRecordError as error:
            self.counts.fault(level, f"a damaged record was passed over: {error}")
            return None

    def _save(self, level: Level, name: RecordName, record: bytes) -> None:
        gone = self._ask(level, lambda store: store.save(name, record))
        self.counts.evicted(level, gone or 0)

    def _ask(self, level: Level, question: Callable[[RecordStore], T]) -> T | None:
        try:
            return question(self._stores[level])
        except LevelFaultError as fault:
            self.counts.fault(level, str(fault))
            return None
