"""Bags of rows with signed weights: what every comparison of a test is made on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

Row = tuple[Any, ...]
Bag = dict[Row, int]


def canonical(value: Any) -> Any:
    """Return a hashable value that is equal for the same stored value and for no other."""
    if isinstance(value, float):
        if math.isnan(value):
            return ("nan",)
        return ("float", str(value))
    if isinstance(value, dict):
        return ("map", tuple(sorted((repr(k), canonical(v)) for k, v in value.items())))
    if isinstance(value, list | tuple):
        return tuple(canonical(item) for item in value)
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, bool) or value is None:
        return (type(value).__name__, value)
    return value


def bag_of(rows: Iterable[Iterable[Any]]) -> Bag:
    """Count equal rows."""
    bag: Bag = {}
    for row in rows:
        key = tuple(canonical(value) for value in row)
        bag[key] = bag.get(key, 0) + 1
    return bag


def add(bag: Bag, signed_rows: Iterable[Iterable[Any]]) -> Bag:
    """Add rows whose last value is a weight.

    Not Counter's `+=`, which drops rows whose count is negative and so hides a wrong delta.
    """
    total = dict(bag)
    for row in signed_rows:
        *values, weight = row
        key = tuple(canonical(value) for value in values)
        total[key] = total.get(key, 0) + int(weight)
        if total[key] == 0:
            del total[key]
    return total
