"""Random tables and random histories that look for trouble.

Tiny domains, many NULLs, duplicates, updates in place, a row that goes and comes back in one batch,
both sides of a join at once, batches without changes, tables that run empty.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from tests.support.choices import Choices
from tests.support.duckdb_oracle import Change

Row = tuple[Any, ...]
Batch = dict[str, list[Change]]

TABLES: dict[str, dict[str, str]] = {
    "r": {"id": "int", "a": "int", "b": "int", "s": "string"},
    "t": {"id": "int", "a": "int", "c": "decimal(10,2)", "s": "string"},
    "u": {"a": "int", "b": "int"},
    "v": {"a": "int", "d": "date", "f": "boolean", "x": "double"},
}
KEYS: dict[str, list[str]] = {"r": ["id"], "t": ["id"]}

_DOMAINS: dict[str, tuple[Any, ...]] = {
    "int": (1, 2, None, 3, 0, -1),
    "bigint": (1, 2, None, 7),
    "string": ("x", "y", None, "", "X"),
    "date": (date(2024, 1, 1), date(2024, 2, 29), None),
    "boolean": (True, False, None),
    # Sums of these are exact in any order; NaN swallows all others.
    "double": (0.5, 1.0, None, -2.0, math.nan),
    "decimal(10,2)": (Decimal("1.00"), Decimal("2.50"), None, Decimal("-1.25"), Decimal("0.00")),
}


@dataclass(frozen=True)
class History:
    """What tables hold at the start, and the batches that follow."""

    start: Mapping[str, list[Row]]
    batches: list[Batch]


def random_history(choices: Choices, tables: Mapping[str, Mapping[str, str]] = TABLES) -> History:
    """Choose a start and one to four batches."""
    ids = iter(range(1, 1_000_000))
    start = {
        name: [_row(choices, columns, name, ids) for _ in range(choices.number(0, 6))]
        for name, columns in tables.items()
    }
    current = {name: list(rows) for name, rows in start.items()}
    batches: list[Batch] = []
    for _ in range(choices.number(1, 4)):
        batches.append(_batch(choices, tables, current, ids))
    return History(start, batches)


def _batch(
    choices: Choices,
    tables: Mapping[str, Mapping[str, str]],
    current: dict[str, list[Row]],
    ids: Any,
) -> Batch:
    batch: Batch = {}
    for name, columns in tables.items():
        changes: list[Change] = []
        # Half of the time a table rests.
        for _ in range(choices.pick((0, 0, 0, 1, 2, 4))):
            changes += _change(choices, name, columns, current[name], ids)
        batch[name] = changes
    return batch


def _change(
    choices: Choices, name: str, columns: Mapping[str, str], rows: list[Row], ids: Any
) -> list[Change]:
    kind = choices.pick(("insert", "update", "delete", "duplicate", "return", "clear"))
    if kind == "insert" or not rows:
        row = _row(choices, columns, name, ids)
        rows.append(row)
        return [Change(row, 1)]
    victim = rows[choices.number(0, len(rows) - 1)]
    if kind == "duplicate" and name not in KEYS:
        rows.append(victim)
        return [Change(victim, 1)]
    if kind == "return":
        return [Change(victim, -1), Change(victim, 1)]
    if kind == "clear" and choices.number(0, 3) == 3:
        gone = [Change(row, -1) for row in rows]
        rows.clear()
        return gone
    rows.remove(victim)
    if kind in ("delete", "clear"):
        return [Change(victim, -1)]
    changed = _updated(choices, columns, name, victim)
    rows.append(changed)
    return [Change(victim, -1), Change(changed, 1)]


def _row(choices: Choices, columns: Mapping[str, str], name: str, ids: Any) -> Row:
    return tuple(
        next(ids) if column == "id" else choices.pick(_DOMAINS[type_])
        for column, type_ in columns.items()
    )


def _updated(choices: Choices, columns: Mapping[str, str], name: str, row: Row) -> Row:
    names = [column for column in columns if column != "id"]
    target = choices.pick(names)
    return tuple(
        choices.pick(_DOMAINS[type_]) if column == target else value
        for (column, type_), value in zip(columns.items(), row, strict=True)
    )
