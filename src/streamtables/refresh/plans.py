"""Compiled plans of stream tables, kept for as long as what they were compiled from stays."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Column, Source, StreamTable
from streamtables.compiler import Plan, compile_query
from streamtables.compiler.library import Entry
from streamtables.compiler.maintenance import ChangedTables, Limits
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


@dataclass(frozen=True)
class _Compiled:
    """A plan, what it was compiled from, and the last generation at which that was so."""

    plan: Plan
    basis: Hashable
    generation: int
    programs: dict[Hashable, ChangedTables] = field(default_factory=dict)


@dataclass
class Plans:
    """Plans by table, kept while what they were compiled from stays; safe between threads."""

    compiled: int = 0
    _known: dict[InputId, _Compiled] = field(default_factory=dict)
    _schema: tuple[int, Schema] | None = None
    _lock: Lock = field(default_factory=Lock)

    def plan(self, table: StreamTable, definitions: Definitions) -> Plan:
        """Return the plan of a table, compiling it when its definition moved."""
        return self._compiled(table, definitions).plan

    def programs(
        self,
        table: StreamTable,
        definitions: Definitions,
        changed: frozenset[str],
        *,
        small: bool,
        limits: Limits,
    ) -> ChangedTables:
        """Return the programs of a refresh in which only these tables changed."""
        compiled = self._compiled(table, definitions)
        key = (changed, small, limits)
        found = compiled.programs.get(key)
        if found is None:
            maintenance = compiled.plan.maintenance
            found = maintenance.restricted_to(
                changed,
                small=small,
                before=limits.before(maintenance.definition),
                scans_at_most=limits.scans,
            )
            compiled.programs[key] = found
        return found

    def _compiled(self, table: StreamTable, definitions: Definitions) -> _Compiled:
        with self._lock:
            known = self._known.get(table.id)
        if known is not None and known.generation == definitions.generation:
            return known
        # Most changes of the catalog concern other tables.
        basis = _basis(table, definitions)
        if known is not None and known.basis == basis:
            found = replace(known, generation=definitions.generation)
        else:
            schema = self._schema_at(definitions)
            plan = compile_query(table.query, schema, library_of(definitions))
            found = _Compiled(plan, basis, definitions.generation)
            self.compiled += 1
        with self._lock:
            self._known[table.id] = found
        return found

    def _schema_at(self, definitions: Definitions) -> Schema:
        known = self._schema
        if known is None or known[0] != definitions.generation:
            known = self._schema = (definitions.generation, schema_of(definitions))
        return known[1]


def _basis(table: StreamTable, definitions: Definitions) -> Hashable:
    """Return everything that the plan of a table depends on.

    The hash of the query covers the views and functions that are inlined into it.
    """
    entries: list[Source | StreamTable] = [
        definitions.sources.get(item.id) or definitions.stream_tables[item.id]
        for item in table.inputs
    ]
    read = tuple((entry.name, entry.columns, entry.key_columns) for entry in entries)
    return table.query, table.defining_query_hash, read
