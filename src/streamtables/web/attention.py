"""What needs a person, the worst first, and what to do; tables with one cause are one need."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from streamtables.answers import TableLag, TableStatus
from streamtables.errors import StreamTablesError
from streamtables.web.conditions import WORDS, WORST_FIRST, Row, Word
from streamtables.web.rendering import seconds
from streamtables.web.shared import Shared

ILL: tuple[Word, ...] = ("stopped", "failed", "late", "at-risk", "paused")
"""The conditions that somebody should know of."""
_EXPLAINED_AT_MOST = 20
_MEANT = "Change the query, or set mode = 'full' to say that this is meant."
RECOMPUTED = {
    "rebuild": ("", "Once is fine; when it comes again, see what replaces its source."),
    "large-change": (
        "much of its sources had changed",
        "It was the faster way; full = 'forbid' rules it out.",
    ),
    "full-was-faster": (
        "that was predicted to be faster than following its changes",
        "It was the faster way; full = 'forbid' rules it out.",
    ),
}
"""Why tables that are kept by changes are recomputed, and what to do; without words of its own
each says its own reason."""


@dataclass(frozen=True)
class Action:
    """A button that does what a remedy says."""

    label: str
    address: str
    body: str = ""


@dataclass(frozen=True)
class Need:
    """Something that a person has to do, or should know; without a table it concerns all."""

    tables: tuple[str, ...]
    condition: Word
    label: str
    what: str
    remedy: str
    action: Action | None = None


def needs(rows: Sequence[Row], shared: Shared, *, led: bool) -> list[Need]:
    """Return what needs a person, the worst first, then what is only worth knowing."""
    return together(
        [*_all_stand(rows, led=led), *_ill(rows, led=led), *_computed_whole(rows, shared)]
    )


def is_unled(rows: Iterable[Row], *, led: bool) -> bool:
    """Whether tables have schedules that no process follows."""
    return not led and any(_waits_for_leader(status) for status, _, _ in rows)


def together(found: Iterable[Need]) -> list[Need]:
    """Make one need of those that differ in nothing but the table."""
    tables: dict[Need, list[str]] = defaultdict(list)
    first: dict[Need, Need] = {}
    for need in found:
        alike = replace(need, tables=(), action=None)
        tables[alike] += need.tables
        first.setdefault(alike, need)
    return [
        # A button is for one table: what helps one of many is tried there first.
        first[alike] if len(names) <= 1 else replace(alike, tables=tuple(names))
        for alike, names in tables.items()
    ]


def _all_stand(rows: Sequence[Row], *, led: bool) -> Iterator[Need]:
    if is_unled(rows, led=led):
        yield Need(
            (), "stopped", "no leader",
            "no process keeps the tables fresh: their schedules are followed by nobody",
            "Start one: streamtables run.",
        )  # fmt: skip


def _ill(rows: Sequence[Row], *, led: bool) -> Iterator[Need]:
    for status, lag, word in sorted(rows, key=lambda row: WORST_FIRST.index(row[2])):
        if word in ILL:
            yield _need(status, lag, word, led=led)
        elif status.state == "needs-rebuild":
            what = status.reason or "its rows have to be written anew"
            yield Need((status.name,), word, word, what, "Its next refresh rebuilds it.")


def _need(status: TableStatus, lag: TableLag, word: Word, *, led: bool) -> Need:
    what = status.reason or lag.last_error or WORDS[word]
    action = None
    match status.state, word:
        case "damaged", _:
            remedy = "Repair it: its rows are written again from its query."
        case "suspended", _:
            remedy, action = "Remove the cause, then resume it.", _resume(status.name)
        case "paused", _:
            remedy, action = "Resume it when the reason is over.", _resume(status.name)
        case _, "failed" if lag.standing == "source-unreadable":
            what, remedy = "a source of it cannot be read", "See that the source's table is there."
        case _, "failed" if led and _waits_for_leader(status):
            remedy = f"See to the cause{_code(lag)}; it is tried again by itself."
        case _, "failed":
            remedy = f"See to the cause{_code(lag)}, then refresh it."
            action = _refresh(status.name)
        case _:
            than = "longer than promised" if word == "late" else "past its target"
            what = f"its lag is {seconds(lag.lag_seconds)}, {than}"
            remedy, action = _when_late(status, led=led)
    return Need((status.name,), word, word, what, remedy, action)


def _code(lag: TableLag) -> str:
    return f" ({lag.last_error_code})" if lag.last_error_code else ""


def _when_late(status: TableStatus, *, led: bool) -> tuple[str, Action | None]:
    """Say what a table that is late waits for, as far as it is known."""
    if status.waits_for:
        return f"It is held back: {status.waits_for}.", None
    if status.schedule == "manual":
        return "Nobody refreshes it: its schedule is manual.", _refresh(status.name)
    if not led:
        return "Start a process that keeps it fresh: streamtables run.", _refresh(status.name)
    return "See on its page what its refreshes take, and on the workers' who waits.", None


def _computed_whole(rows: Sequence[Row], shared: Shared) -> Iterator[Need]:
    """Give what is not kept by changes though it was meant to be: worth knowing, and no more."""
    refused = 0
    for status, lag, word in rows:
        code = lag.last_reason_code
        if word in ILL or status.mode == "full":
            continue
        if code in RECOMPUTED:
            why, remedy = RECOMPUTED[code]
            what = f"recomputed in full: {why or status.last_reason or code}"
            yield Need((status.name,), "at-risk", "recomputed", what, remedy)
        if code == "not-incremental" and status.mode == "auto":
            # To explain is to compile; beyond some the reason of the last refresh has to do.
            found = _refusal(status.name, shared) if refused < _EXPLAINED_AT_MOST else {}
            refused += 1
            what = f"kept by full refreshes: {found.get('message') or status.last_reason or ''}"
            hint = str(found.get("hint") or _MEANT)
            yield Need((status.name,), "unfilled", "not incremental", what, hint)


def _refusal(name: str, shared: Shared) -> Mapping[str, object]:
    """Return the first reason why a query is not incremental; nothing where nobody can tell."""
    try:
        found = shared.facts.get(f"explain {name}", lambda db: db.explain(name), 600.0).data
    except StreamTablesError:
        # Its own page says what is wrong with it.
        return {}
    refusals = found.get("refusals")
    return refusals[0] if isinstance(refusals, list) and refusals else {}


def _waits_for_leader(status: TableStatus) -> bool:
    return status.state == "active" and status.schedule not in ("manual", "calculated")


def _resume(name: str) -> Action:
    return Action("Resume", "/api/resume", json.dumps({"name": name}))


def _refresh(name: str) -> Action:
    return Action("Refresh", f"/api/refresh/{quote(name, safe='')}")
