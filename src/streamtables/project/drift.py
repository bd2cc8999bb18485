"""Drift: where a warehouse is not as the project was last applied, because somebody changed it.

Pure: what is stored, what was applied and what the files say, in; sentences, out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from streamtables.project.said import Said, differences

_LONG = 60


@dataclass(frozen=True)
class Drift:
    """One way in which the warehouse and the project differ, and what becomes of it."""

    kind: str
    name: str
    text: str


@dataclass(frozen=True)
class Stored:
    """A table as the warehouse has it."""

    name: str
    said: Said
    state: str = "active"
    reason: str = ""


def table_drift(
    stored: Iterable[Stored],
    applied: Mapping[str, Said],
    wanted: Mapping[str, Said],
    *,
    prune: bool,
) -> list[Drift]:
    """Return how the stream tables of a warehouse differ; names are in lower case in mappings."""
    found: list[Drift] = []
    there = {table.name.lower(): table for table in stored}
    for name, table in there.items():
        if name not in wanted:
            if not prune:
                found.append(Drift("table", table.name, _stray(name in applied)))
            continue
        found += _by_hand(table, applied.get(name), wanted[name])
        if table.state != "active":
            why = f" ({table.reason})" if table.reason else ""
            text = f"is {table.state}{why}; apply leaves that as it is"
            found.append(Drift("table", table.name, text))
    gone = [name for name in applied if name in wanted and name not in there]
    found += [Drift("table", name, "was dropped by hand; apply makes it anew") for name in gone]
    return found


def source_drift(
    stored: Mapping[str, tuple[str, Said]],
    applied: Mapping[str, Said],
    wanted: Mapping[str, Said],
) -> list[Drift]:
    """Return how the sources of a warehouse differ; a mapping's names are in lower case."""
    found: list[Drift] = []
    for key, (name, said) in stored.items():
        if key not in wanted:
            text = "is in no file of the project; apply leaves it"
            found.append(Drift("source", name, text))
            continue
        last = applied.get(key, said)
        changed = [item for item in differences(last, said) if item[2] != wanted[key].get(item[0])]
        found += [
            Drift("source", name, f"{what} was changed by hand: {old} → {new}")
            for what, old, new in changed
        ]
    gone = [key for key in applied if key in wanted and key not in stored]
    found += [Drift("source", key, "was dropped by hand; apply adds it again") for key in gone]
    return found


def _stray(once: bool) -> str:
    where = "is no longer in a file" if once else "is in no file of the project"
    return f"{where}; apply --prune drops it"


def _by_hand(table: Stored, applied: Said | None, wanted: Said) -> list[Drift]:
    if applied is None:
        return []
    return [
        Drift(
            "table",
            table.name,
            f"{name} was changed by hand: {_short(old)} → {_short(new)}; "
            f"apply sets {_short(wanted.get(name) or 'none')}",
        )
        for name, old, new in differences(applied, table.said)
        if new != (wanted.get(name) or "none")
    ]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONG else f"{line[: _LONG - 1]}…"
