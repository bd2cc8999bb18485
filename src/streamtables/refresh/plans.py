"""Compiled plans of stream tables, kept for as long as what they were compiled from stays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Column, Source, StreamTable
from streamtables.compiler import Plan, compile_query
from streamtables.compiler.library import Entry
from streamtables.compiler.maintenance import ChangedTables
from streamtables.compiler.schema import Schema, Table
from streamtables.positions import InputId
from streamtables.refresh.library import library_of


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
        if entry.columns:
            found[entry.name] = Table.of(entry.name, _types(entry.columns), _key(entry) or None)
    return found


def _types(columns: tuple[Column, ...]) -> Mapping[str, str]:
    return {c.name: c.type for c in columns if not c.name.startswith("__st_")}


def _key(entry: Source | StreamTable) -> tuple[str, ...]:
    key = entry.key_columns or ()
    return () if any(name.startswith("__st_") for name in key) else key


@dataclass
class Plans:
    """Plans by table and generation of its definition; safe to share between threads."""

    compiled: int = 0
    _plans: dict[InputId, tuple[int, Plan]] = field(default_factory=dict)
    _programs: dict[tuple[InputId, int, frozenset[str], bool], ChangedTables] = field(
        default_factory=dict
    )
    _lock: Lock = field(default_factory=Lock)

    def plan(self, table: StreamTable, definitions: Definitions) -> Plan:
        """Return the plan of a table, compiling it when its definition moved."""
        with self._lock:
            known = self._plans.get(table.id)
            if known is not None and known[0] == definitions.generation:
                return known[1]
        plan = compile_query(table.query, schema_of(definitions), library_of(definitions))
        with self._lock:
            self.compiled += 1
            self._plans[table.id] = (definitions.generation, plan)
        return plan

    def programs(
        self,
        table: StreamTable,
        definitions: Definitions,
        changed: frozenset[str],
        *,
        small: bool,
    ) -> ChangedTables:
        """Return the programs of a refresh in which only these tables changed."""
        key = (table.id, definitions.generation, changed, small)
        with self._lock:
            if key in self._programs:
                return self._programs[key]
        programs = self.plan(table, definitions).maintenance.restricted_to(changed, small=small)
        with self._lock:
            self._programs = {k: v for k, v in self._programs.items() if k[1] == key[1]}
            self._programs[key] = programs
        return programs
