"""Contributions put to stored state outside SQL, as the engine does on the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import localcontext
from typing import Any

from streamtables.compiler.maintenance import FLOAT_TOLERANCE, ROWS, StateColumn, StoredState
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
    new = dict(sums)
    for item in state.states:
        if item.kind in ("min", "max"):
            new[item.name] = _extremum(item, row, before, sums)
        if item.error is not None:
            [error] = [other for other in state.states if other.name == item.error]
            new |= _floats(item, error, row, before, sums)
    return {item.name: new[item.name] for item in state.states}


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


def _floats(
    item: StateColumn, error: StateColumn, row: Values, before: Values, sums: Values
) -> dict[str, Any]:
    """Add floats, and bound how far that may be off; say so where the bound is too wide."""
    old, off = before.get(item.name, 0.0), before.get(error.name, 0.0)
    if sums[item.count or ""] == 0:
        return {item.name: 0.0, error.name: 0.0}
    if sums[item.special or ""] != 0:
        return {item.name: LOST, error.name: LOST}
    moved = row[error.plus]
    if moved == 0:
        return {item.name: old, error.name: off}
    came, went = row[item.plus], row[item.minus or ""]
    new = old + came - went
    ulps = abs(old) + abs(came) + abs(went) + abs(new) + 128.0 * moved
    off += 2.0**-53 * ulps
    return {item.name: LOST if not off <= FLOAT_TOLERANCE * abs(new) else new, error.name: off}


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
