"""Which locks a write needs, and waiting for them.

    key         each row touches its own group: writes without a common one run side by side
    table       a table joins, or has one row for all: one write at a time
    exclusive   it cannot be told what a write touches: nothing else is written

Whoever holds the locks of its groups waits for nobody any more, so nobody waits for ever.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

from streamtables.catalog.models import Source, StreamTable, new_id
from streamtables.catalog.write_locks import ALL, WriteLock
from streamtables.compiler.maintenance.reach import reached_by
from streamtables.engine import arrow_rows
from streamtables.engine.names import WEIGHT
from streamtables.errors import StreamTablesError, TransientError
from streamtables.refresh.plan_cache import KeptPlan
from streamtables.refresh.processes import has_died
from streamtables.refresh.surroundings import Surroundings

Mode = Literal["key", "table", "exclusive"]

KEYS_MAX = 1_000
"""A write that touches more keys locks the whole table."""
_HASHED = ("bigint", "int", "smallint", "tinyint", "string", "date", "boolean", "timestamp")
"""Types whose equal values have one image; the others may be equal and look different."""


@dataclass(frozen=True)
class LockPlan:
    """How a write is locked: the mode, why, and for each table the columns that name its groups."""

    mode: Mode
    why: str
    counted_as: str
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)


def lock_plan(
    source: Source, tables: Sequence[StreamTable], plan_of: Callable[[StreamTable], KeptPlan]
) -> LockPlan:
    """Say how a write to a source is locked, from the queries that follow it."""
    groups: dict[str, tuple[str, ...]] = {}
    for table in tables:
        try:
            columns = _groups(source, table, plan_of(table))
        except StreamTablesError as error:
            why = f'"{table.name}" cannot be analysed: {error.message}'
            return LockPlan("exclusive", why, "exclusive_due_to_parse_error")
        if isinstance(columns, str):
            return LockPlan("table", f'"{table.name}" {columns}', "table")
        groups[table.id] = columns
    if not source.key_columns:
        return LockPlan("table", f'source "{source.name}" has no key', "table")
    types = {column.name: column.type for column in source.columns}
    named = {name for columns in groups.values() for name in columns} | {*source.key_columns}
    if odd := [name for name in sorted(named) if not _is_hashed(types[name])]:
        return LockPlan("table", f'values of "{odd[0]}" are not told apart by their bytes', "table")
    return LockPlan("key", "each row touches its own group only", "key", groups)


def _groups(source: Source, table: StreamTable, plan: KeptPlan) -> tuple[str, ...] | str:
    """Return the columns that name what a row touches in a table, or why it may touch anything."""
    if [item.id for item in table.inputs] != [source.id]:
        return "reads more than this source"
    reach = reached_by(plan.tree.maintenance)
    if reach is None:
        return "has rows that follow from more than one group of rows"
    spelled = {column.name.lower(): column.name for column in source.columns}
    return tuple(spelled[name.lower()] for name in reach)


def _is_hashed(type_: str) -> bool:
    return type_.lower() in _HASHED or type_.lower().startswith("decimal")


def key_locks(name: str, rows: pa.Table, columns: Iterable[str]) -> set[WriteLock] | None:
    """Return a lock for each distinct value of some columns; None where they are too many."""
    names = list(columns)
    distinct = arrow_rows.distinct(rows.select(names), names)
    if distinct.num_rows > KEYS_MAX:
        return None
    return {WriteLock(name, _image(row)) for row in distinct.to_pylist()}


def _image(row: dict[str, object]) -> str:
    return hashlib.sha256(repr(tuple(row.values())).encode()).hexdigest()[:32]


@dataclass
class Locks:
    """The locks of one write; leaving it gives them back."""

    around: Surroundings
    plan: LockPlan
    held: set[WriteLock] = field(default_factory=set)
    holder: str = ""

    def __post_init__(self) -> None:
        self.holder = f"{self.around.process}:{new_id()}"

    def __enter__(self) -> Locks:
        return self

    def __exit__(self, *_: object) -> None:
        if self.held:
            self.around.catalog.unlock_write(self.holder)

    def take_first(
        self, source: Source, tables: Sequence[StreamTable], keys: pa.Table | None
    ) -> None:
        """Lock what the batch names by itself."""
        found = None
        if self.plan.mode == "key" and keys is not None:
            found = key_locks(source.id, keys, source.key_columns)
        if found is None and self.plan.mode == "key":
            self.plan = LockPlan("table", f"it touches more than {KEYS_MAX:,} keys", "table")
        if self.plan.mode == "exclusive":
            self._take({WriteLock(ALL)})
        elif found is None:
            self._take({WriteLock(source.id), *(WriteLock(table.id) for table in tables)})
        else:
            self._take(found)

    def take_groups(self, signed: pa.Table) -> None:
        """Lock the groups that the changed rows, old and new, belong to."""
        if self.plan.mode != "key" or not signed.num_rows:
            return
        wanted: set[WriteLock] = set()
        for table, columns in self.plan.groups.items():
            if columns:
                found = key_locks(table, signed.drop_columns([WEIGHT]), columns)
                wanted |= {WriteLock(table)} if found is None else found
        if wanted:
            self._take(wanted)

    def take_turn(self, source: Source) -> None:
        """Lock the commits: what writes did side by side is committed one after the other."""
        self._take({WriteLock(f"{source.id}/commits")})

    def touch(self, source: Source, rows: pa.Table) -> bool:
        """Whether rows that others changed concern a key or group of this write."""
        if self.plan.mode != "key":
            return True
        columns = {source.id: source.key_columns, **self.plan.groups}
        for name, named in columns.items():
            found = key_locks(name, rows, named) if named else set()
            if found is None or found & self.held or (found and WriteLock(name) in self.held):
                return True
        return False

    def _take(self, wanted: set[WriteLock]) -> None:
        settings, catalog = self.around.settings, self.around.catalog
        deadline = time.monotonic() + settings.write_lock_wait_seconds
        seconds = settings.write_lock_seconds
        attempt = 0
        while True:
            dead = [name for name in catalog.write_lock_holders() if _is_dead(name, self.around)]
            others = catalog.lock_for_write(self.holder, wanted, self.around.clock(), seconds, dead)
            if not others:
                self.held |= wanted
                return
            if time.monotonic() > deadline:
                raise TransientError(
                    "another write holds what this one needs",
                    detail=f"Held by {', '.join(sorted(others))}.",
                    hint="Nothing was written. Try again, or raise write_lock_wait_seconds.",
                )
            attempt = min(attempt + 1, 3)
            self.around.sleep(0.005 * 2**attempt)


def _is_dead(holder: str, around: Surroundings) -> bool:
    """Whether a holder was a process of this machine that is no more."""
    process, _, _ = holder.rpartition(":")
    return has_died(process, around.process)
