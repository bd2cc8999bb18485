"""Contributions added to stored state outside SQL, as the engine does on the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import localcontext
from typing import Any

from streamtables.compiler.maintenance import ROWS, StoredState
from tests.support.bags import canonical

Values = Mapping[str, Any]


def combined(
    state: StoredState, contributions: Sequence[Values], stored: Sequence[Values]
) -> list[tuple[Any, ...]]:
    """Return group and state columns of every group that the contributions name and that lives."""
    old = {_key(row, [shown for _, shown in state.group]): row for row in stored}
    found: list[tuple[Any, ...]] = []
    for row in contributions:
        before = old.get(_key(row, [inner for inner, _ in state.group]), {})
        with localcontext(prec=76):
            new = {
                item.name: before.get(item.name, 0)
                + row[item.plus]
                - (row[item.minus] if item.minus is not None else 0)
                for item in state.states
            }
        assert new[ROWS] >= 0, "changes take away rows that were not there"
        if new[ROWS] > 0 or state.single_row:
            found.append((*(row[inner] for inner, _ in state.group), *new.values()))
    return found


def copied(state: StoredState, group_and_state: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the visible columns where each of them is a group or a state column."""
    if state.copied is None:
        return None
    names = [inner for inner, _ in state.group] + [item.name for item in state.states]
    values = dict(zip(names, group_and_state, strict=True))
    return tuple(
        None
        if item.unless_zero is not None and not values[item.unless_zero]
        else values[item.state]
        for item in state.copied
    )


def _key(row: Values, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(canonical(row[name]) for name in names)
