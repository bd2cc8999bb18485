"""Contributions put to stored state outside SQL, as the engine does on the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import localcontext
from typing import Any

from streamtables.compiler.maintenance import ROWS, StateColumn, StoredState
from tests.support.bags import canonical

Values = Mapping[str, Any]


LOST = "lost"
"""What stands for an extremum that the stored one does not tell."""

Groups = list[tuple[Any, ...]]


def combined(
    state: StoredState, contributions: Sequence[Values], stored: Sequence[Values]
) -> tuple[Groups, Groups]:
    """Return the groups that the contributions name and that live, and the keys of lost ones."""
    old = {_key(row, [shown for _, shown in state.group]): row for row in stored}
    found: Groups = []
    lost: Groups = []
    for row in contributions:
        before = old.get(_key(row, [inner for inner, _ in state.group]), {})
        new = _moved(state, row, before)
        assert new[ROWS] >= 0, "changes take away rows that were not there"
        if new[ROWS] > 0 or state.single_row:
            group = tuple(row[inner] for inner, _ in state.group)
            if any(value is LOST for value in new.values()):
                lost.append(group)
            else:
                found.append((*group, *new.values()))
    return found, lost


def _moved(state: StoredState, row: Values, before: Values) -> dict[str, Any]:
    with localcontext(prec=76):
        sums = {
            item.name: before.get(item.name, 0)
            + row[item.plus]
            - (row[item.minus] if item.minus is not None else 0)
            for item in state.states
            if item.kind == "sum"
        }
    return {
        item.name: sums[item.name] if item.kind == "sum" else _extremum(item, row, before, sums)
        for item in state.states
    }


def _extremum(item: StateColumn, row: Values, before: Values, sums: Values) -> Any:
    """Take the best of what stayed for sure and what came; say so where that is not enough."""
    assert item.minus is not None
    assert item.count is not None
    if sums[item.count] == 0:
        return None
    best = min if item.kind == "min" else max
    old, came, went = before.get(item.name), row[item.plus], row[item.minus]
    known = best(value for value in (old, came) if value is not None)
    if old is None or went is None or came == known:
        return known
    return LOST if best(old, went) == went else known


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
