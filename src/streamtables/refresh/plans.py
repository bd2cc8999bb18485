"""Compiled plans of stream tables: those of this process first, then what others left.

    l1   this process    the objects themselves, the least recently used go (`plan_cache/lru.py`)
    l0   this machine    a file that all processes share (`plan_cache/shared_file.py`)
    l2   the catalog     for machines that have not seen the plan (`plan_cache/catalog_level.py`)

What is found nowhere is compiled, and left on every level.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from threading import Lock

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Source, StreamTable
from streamtables.catalog.store import Catalog
from streamtables.compiler.library import Entry
from streamtables.compiler.maintenance import Limits
from streamtables.compiler.schema import Schema, Table
from streamtables.positions import InputId
from streamtables.refresh.limits import limits_of
from streamtables.refresh.plan_cache import Basis, CacheLevel, KeptPlan, Levels
from streamtables.refresh.plan_cache.basis import InputBasis
from streamtables.refresh.plan_cache.catalog_level import CatalogLevel
from streamtables.refresh.plan_cache.counts import Counts, Level
from streamtables.refresh.plan_cache.levels import RecordStore
from streamtables.refresh.plan_cache.lru import Lru
from streamtables.refresh.plan_cache.shared_file import SharedFile
from streamtables.settings import Settings

_DEFAULT_CAPACITY = 256


def query_hash(query: str, used: Iterable[Entry] = ()) -> str:
    """Return the one stable fingerprint of a defining query and of what is inlined into it."""
    text = "\0".join([query.strip(), *(entry.fingerprint for entry in used)])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def schema_of(definitions: Definitions) -> Schema:
    """Return everything that a query may read, under its registered name."""
    found: dict[str, Table] = {}
    entries: list[Source | StreamTable] = [*definitions.sources.values()]
    entries += definitions.stream_tables.values()
    for entry in entries:
        ours = isinstance(entry, StreamTable) and entry.is_internal
        if entry.columns and not ours:
            found[entry.name] = InputBasis.of(entry).table()
    return found


@dataclass(frozen=True)
class ClearedCaches:
    """How many entries each level of the plan caches held when it was emptied."""

    l0: int
    l1: int
    l2: int


@dataclass(frozen=True)
class _Known:
    """A plan, what it was compiled from, and the last generation at which that was so."""

    plan: KeptPlan
    basis: Basis
    generation: int


class Plans:
    """The plans of one warehouse; safe between threads."""

    def __init__(
        self,
        levels: Levels | None = None,
        capacity: int = _DEFAULT_CAPACITY,
        limits: Limits | None = None,
    ) -> None:
        self._limits = limits or limits_of(Settings())
        self._levels = levels or Levels(Counts())
        self._known: Lru[InputId, _Known] = Lru(capacity)
        self._lock = Lock()
        self.counts = self._levels.counts

    @classmethod
    def of(cls, catalog: Catalog, settings: Settings) -> Plans:
        """Return the plans of a catalog, on all levels that the settings allow."""
        stores: dict[Level, RecordStore] = {}
        if settings.plan_cache_max_megabytes:
            folder = settings.plan_cache_dir
            stores["l0"] = SharedFile(folder, settings.plan_cache_max_megabytes)
        stores["l2"] = CatalogLevel(catalog)
        levels = Levels(Counts(), stores)
        return cls(levels, settings.template_cache_max_entries, limits_of(settings))

    def plan(self, table: StreamTable, definitions: Definitions) -> KeptPlan:
        """Return the plan of a table, compiling it when it is kept nowhere."""
        plan = self.unread(table, definitions)
        # Looked up here, so that an error of the query shows where the plan is asked for.
        _ = plan.facts
        return plan

    def unread(self, table: StreamTable, definitions: Definitions) -> KeptPlan:
        """Return the plan of a table, whose first use tells whether its query still compiles."""
        held = self._known.get(table.id)
        known = self._current(held, table, definitions)
        self.counts.looked("l1", found=known is not None)
        if known is None:
            basis = Basis.of(table, definitions)
            plan = KeptPlan(table.id, basis, self._levels, self._limits)
            known = _Known(plan, basis, definitions.generation)
        if known is not held:
            known = self._hold(table.id, known)
        return known.plan

    def peek(self, table: StreamTable, definitions: Definitions) -> KeptPlan | None:
        """Return the plan that this process holds, if it does, without counting it as used."""
        known = self._current(self._known.peek(table.id), table, definitions)
        return None if known is None else known.plan

    def forget(self, table_ids: Iterable[InputId]) -> None:
        """Let go of the plans of tables that were dropped."""
        ids = tuple(table_ids)
        for table_id in ids:
            self._known.remove(table_id)
        self._levels.forget(ids)

    def clear(self) -> ClearedCaches:
        """Empty every level; the next refresh fills them again."""
        held = self._known.clear()
        cleared = self._levels.clear()
        return ClearedCaches(l0=cleared.get("l0", 0), l1=held, l2=cleared.get("l2", 0))

    def held(self) -> list[CacheLevel]:
        """Return what every level holds."""
        return [CacheLevel("l1", "this process", len(self._known)), *self._levels.held()]

    def close(self) -> None:
        """Let go of files."""
        self._levels.close()

    def _current(
        self, known: _Known | None, table: StreamTable, definitions: Definitions
    ) -> _Known | None:
        """Return what is known of a table if it holds for these definitions."""
        if known is None or known.generation == definitions.generation:
            return known
        # Most changes of the catalog concern other tables.
        if known.basis != Basis.of(table, definitions):
            return None
        return replace(known, generation=definitions.generation)

    def _hold(self, table_id: InputId, known: _Known) -> _Known:
        """Hold a plan; of two threads that bring one, both get the first."""
        with self._lock:
            first = self._known.peek(table_id)
            if first is not None and first.basis == known.basis:
                known = replace(known, plan=first.plan)
            self.counts.evicted("l1", self._known.put(table_id, known))
            return known
