"""Random tables and random histories that look for trouble.

Tiny domains, many NULLs, duplicates, updates in place, a row that goes and comes back in one batch,
keys that are swapped or given to another row, both sides of a join at once, batches without changes,
tables that run empty and are filled again, a clock that moves while rows stand on an edge, or not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise, product
from typing import Any

from streamtables.compiler.algebra import CLOCK_TABLE
from tests.support.choices import Choices
from tests.support.duckdb_oracle import Change

Row = tuple[Any, ...]
Batch = dict[str, list[Change]]

TABLES: dict[str, dict[str, str]] = {
    "r": {"id": "int", "a": "int", "b": "int", "s": "string"},
    "t": {"id": "int", "a": "int", "c": "decimal(10,2)", "s": "string"},
    "u": {"a": "int", "b": "int"},
    "v": {"a": "int", "d": "date", "f": "boolean", "x": "double"},
    "kv": {"a": "int", "n": "bigint", "s": "string"},
    "pair": {"a": "int", "b": "int", "n": "bigint"},
    "ev": {"id": "int", "a": "int", "ts": "timestamp", "d": "date"},
}
KEYS: dict[str, list[str]] = {
    "r": ["id"],
    "t": ["id"],
    "kv": ["a"],
    "pair": ["a", "b"],
    "ev": ["id"],
}

NOON = datetime(2024, 2, 28, 12, tzinfo=UTC)
"""The moment at which every history starts."""

STEPS = (
    timedelta(days=1),
    timedelta(0),
    timedelta(hours=12),
    timedelta(minutes=30),
    timedelta(days=31),
)

_DOMAINS: dict[str, tuple[Any, ...]] = {
    "int": (1, 2, None, 3, 0, -1),
    "bigint": (1, 2, None, 7),
    "string": ("x", "y", None, "", "X"),
    "date": (date(2024, 1, 1), date(2024, 2, 29), None),
    # On the moments that the clock passes, beside them, and further on than it goes.
    "timestamp": (
        NOON - timedelta(minutes=30),
        NOON,
        None,
        NOON + timedelta(hours=12),
        NOON + timedelta(days=1, seconds=1),
        NOON + timedelta(days=400),
    ),
    "boolean": (True, False, None),
    # Sums of these are exact in any order; NaN swallows all others.
    "double": (0.5, 1.0, None, -2.0, math.nan),
    "decimal(10,2)": (Decimal("1.00"), Decimal("2.50"), None, Decimal("-1.25"), Decimal("0.00")),
}

# Keys from a domain this small are given up and taken again, and meet the keys of other tables.
_KEY_VALUES = (1, 2, 3, 0)


@dataclass(frozen=True)
class History:
    """What tables hold at the start, and the batches that follow."""

    start: Mapping[str, list[Row]]
    batches: list[Batch]
    moments: list[datetime]
    """What the clock says at the start and after each batch."""

    def with_clock(self) -> list[Batch]:
        """Return the batches with what the clock does, which is a table of one row.

        It passes a moment on its way, so that half of a batch leaves it with one row too.
        """
        moves = [_moved(before, after) for before, after in pairwise(self.moments)]
        return [
            {**batch, CLOCK_TABLE: move} for batch, move in zip(self.batches, moves, strict=True)
        ]


def _moved(before: datetime, after: datetime) -> list[Change]:
    if before == after:
        return []
    between = before + (after - before) / 2
    steps = pairwise((before, between, after))
    return [change for a, b in steps for change in (Change((a,), -1), Change((b,), 1))]


def random_history(choices: Choices, tables: Mapping[str, Mapping[str, str]] = TABLES) -> History:
    """Choose a start and one to six batches."""
    writers = {
        name: _Writer(choices, columns, _small_key(name, columns))
        for name, columns in tables.items()
    }
    start: dict[str, list[Row]] = {}
    for name, writer in writers.items():
        for _ in range(choices.pick((2, 3, 4, 5, 6, 4, 1, 0))):
            writer.insert()
        start[name] = list(writer.rows)
    batches: list[Batch] = []
    for _ in range(choices.pick((1, 2, 3, 4, 2, 3, 5, 6))):
        batches.append({name: writer.batch() for name, writer in writers.items()})
    moments = [NOON]
    for _ in batches:
        moments.append(moments[-1] + choices.pick(STEPS))
    return History(start, batches, moments)


def _small_key(name: str, columns: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns of a key whose values come from a small domain."""
    key = KEYS.get(name, []) if TABLES.get(name) == columns else []
    return tuple(key) if key != ["id"] else ()


class _Writer:
    """Writes to one table; a column `id` is numbered, other keys are kept unique."""

    def __init__(
        self, choices: Choices, columns: Mapping[str, str], small_key: tuple[str, ...]
    ) -> None:
        self.choices = choices
        self.columns = columns
        self.names = list(columns)
        self.small_key = [self.names.index(name) for name in small_key]
        self.rows: list[Row] = []
        self.next_id = 1

    def batch(self) -> list[Change]:
        """Return the changes of one batch; half of the time a table rests."""
        changes: list[Change] = []
        for _ in range(self.choices.pick((0, 0, 0, 1, 2, 4))):
            changes += self._change()
        return changes

    def insert(self) -> list[Change]:
        """Add a row, unless all keys are taken."""
        row = [self._value(name, type_) for name, type_ in self.columns.items()]
        if self.small_key:
            free = self._free_keys()
            if not free:
                return []
            for place, value in zip(self.small_key, self.choices.pick(free), strict=True):
                row[place] = value
        if "id" in self.columns:
            self.next_id += 1
        self.rows.append(tuple(row))
        return [Change(tuple(row), 1)]

    def _change(self) -> list[Change]:
        kind = self.choices.pick(
            ("insert", "update", "delete", "duplicate", "return", "swap", "clear")
        )
        if kind == "insert" or not self.rows:
            return self.insert()
        victim = self.rows[self.choices.number(0, len(self.rows) - 1)]
        if kind == "duplicate" and not self._keyed():
            self.rows.append(victim)
            return [Change(victim, 1)]
        if kind == "return":
            return [Change(victim, -1), Change(victim, 1)]
        if kind == "clear" and self.choices.number(0, 3) == 3:
            return self._clear()
        if kind == "swap" and self._keyed():
            return self._swap(victim)
        self.rows.remove(victim)
        if kind in ("delete", "clear"):
            return [Change(victim, -1)]
        changed = self._updated(victim)
        self.rows.append(changed)
        return [Change(victim, -1), Change(changed, 1)]

    def _clear(self) -> list[Change]:
        """Empty the table, and perhaps fill it again in the same batch."""
        changes = [Change(row, -1) for row in self.rows]
        back = list(self.rows)
        self.rows.clear()
        if self.choices.number(0, 1):
            row = self.choices.pick(back)
            self.rows.append(row)
            changes += [Change(row, 1), *self.insert()]
        return changes

    def _swap(self, first: Row) -> list[Change]:
        """Give two rows each other's key, or one row a key that nobody has."""
        second = self.choices.pick(self.rows)
        if first is second:
            return self._rekey(first)
        places = self._key_places()
        swapped = (_with_key(first, second, places), _with_key(second, first, places))
        for row in (first, second):
            self.rows.remove(row)
        self.rows += swapped
        gone, come = [Change(row, -1) for row in (first, second)], [Change(r, 1) for r in swapped]
        return gone + come

    def _rekey(self, row: Row) -> list[Change]:
        free = self._free_keys() if self.small_key else []
        if not free:
            return []
        values = dict(zip(self.small_key, self.choices.pick(free), strict=True))
        changed = tuple(values.get(place, value) for place, value in enumerate(row))
        self.rows.remove(row)
        self.rows.append(changed)
        return [Change(row, -1), Change(changed, 1)]

    def _updated(self, row: Row) -> Row:
        fixed = self._key_places() if self._keyed() else []
        place = self.choices.pick([i for i in range(len(self.names)) if i not in fixed])
        name = self.names[place]
        value = self._value(name, self.columns[name])
        return (*row[:place], value, *row[place + 1 :])

    def _value(self, name: str, type_: str) -> Any:
        return self.next_id if name == "id" else self.choices.pick(_DOMAINS[type_])

    def _keyed(self) -> bool:
        return bool(self.small_key) or "id" in self.columns

    def _key_places(self) -> list[int]:
        return self.small_key or [self.names.index("id")]

    def _free_keys(self) -> list[Row]:
        taken = {tuple(row[place] for place in self.small_key) for row in self.rows}
        every = product(_KEY_VALUES, repeat=len(self.small_key))
        return [key for key in every if key not in taken]


def _with_key(row: Row, other: Row, places: list[int]) -> Row:
    return tuple(other[i] if i in places else value for i, value in enumerate(row))
