"""What is wrong with a warehouse, or soon will be: looked at without changing anything.

Each finding says how bad it is and what to do.  Nothing is computed and no row is read: catalog,
logs, servers and disk are asked.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Literal

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import RefreshRecord, Source, StreamTable
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.log_facts import facts_of
from streamtables.engine.stores import folders_in
from streamtables.engine.warehouses import Warehouse
from streamtables.errors import HistoryGoneError, StreamTablesError
from streamtables.positions import InputId, Standing, Tampered, Version, classify_log
from streamtables.refresh.surroundings import Surroundings
from streamtables.sources.postgres.health import capture_findings

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")

_FEW_BYTES = 1024**3
_LITTLE_SHARE = 0.05


@dataclass(frozen=True)
class HealthFinding:
    """One thing that a person should know."""

    severity: Severity
    code: str
    subject: str
    """The table, source, server or folder that it is about."""
    text: str
    action: str


def health_findings(around: Surroundings, snapshot: CatalogSnapshot) -> list[HealthFinding]:
    """Return everything that was found, the worst first."""
    last = around.catalog.last_refreshes()
    found = [
        finding
        for table in snapshot.stream_tables.values()
        for finding in _of_table(table, snapshot, last.get(table.id))
    ]
    found += [item for source in snapshot.sources.values() for item in _of_source(source)]
    found += _of_servers(around)
    found += _of_folders(around.warehouse, snapshot)
    found += _of_disk(around.warehouse)
    return sorted(found, key=lambda item: (SEVERITIES.index(item.severity), item.subject))


def _of_table(
    table: StreamTable, snapshot: CatalogSnapshot, last: RefreshRecord | None
) -> Iterator[HealthFinding]:
    yield from _of_state(table)
    if last is not None and last.state == "failed":
        text = f"its last refresh failed: {last.error_text} ({last.error_code})"
        action = "Remove the cause; the next refresh leads on."
        yield HealthFinding("warning", "refresh-failed", table.name, text, action)
    standing = snapshot.standings.get(table.id)
    if standing is None:
        text = "it has no rows yet"
        yield HealthFinding("info", "not-filled", table.name, text, "Refresh it.")
        return
    try:
        found = [*_of_log(table, standing)]
        for item in _inputs(table, snapshot):
            found += _of_history(table, standing, item)
    except OSError as error:
        action = "Look at the store of the table and of what it reads."
        found = [HealthFinding("error", "log-unreadable", table.name, str(error), action)]
    yield from found


_STATES: dict[str, tuple[Severity, str, str]] = {
    "damaged": ("error", "its stored rows cannot be trusted", 'Run repair("{name}").'),
    "suspended": ("error", "it is suspended", 'Remove the cause, then resume("{name}").'),
    "needs-rebuild": ("warning", "it will be rebuilt", "Refresh it."),
    "paused": ("info", "it is paused", 'resume("{name}") lets it go on.'),
}


def _of_state(table: StreamTable) -> Iterator[HealthFinding]:
    if (known := _STATES.get(table.state)) is not None:
        severity, text, action = known
        why = f"{text}: {table.state_reason}" if table.state_reason else text
        yield HealthFinding(severity, table.state, table.name, why, action.format(name=table.name))


def _of_log(table: StreamTable, standing: Standing) -> Iterator[HealthFinding]:
    """Compare where the catalog says that a table stands with the table's own log."""
    repair = f'Run repair("{table.name}").'
    log = DeltaLog(table.location)
    head = log.head(standing.version)
    if head is None or head < standing.version:
        text = "its Delta table is gone or was made again"
        yield HealthFinding("error", "table-gone", table.name, text, repair)
        return
    try:
        entries = facts_of(log.entries(standing.version, head))
    except HistoryGoneError:
        text = "its log was cut short"
        yield HealthFinding("error", "log-cut", table.name, text, repair)
        return
    found = classify_log(entries, table.id, standing.sequence, standing.refresh_id)
    if isinstance(found, Tampered):
        text = f"version {found.version} was not written by a refresh"
        yield HealthFinding("error", "foreign-commit", table.name, text, repair)


def _of_history(
    table: StreamTable, standing: Standing, item: Source | StreamTable
) -> Iterator[HealthFinding]:
    """Say whether the changes that a table lacks are still in the log of an input."""
    consumed = standing.frontier.get(item.id)
    log = DeltaLog(item.location)
    # Listed, and not probed from the known version on: an entry in between may be what is gone.
    head = log.head()
    if consumed is None or head is None or head <= consumed:
        return
    wanted = Version(consumed + 1)
    if log.entry(wanted) is None:
        text = f'version {wanted} of "{item.name}" is no longer in its log'
        action = "The next refresh is a full one; keep logs longer than tables stand still."
        yield HealthFinding("warning", "history-gone", table.name, text, action)


def _of_source(source: Source) -> Iterator[HealthFinding]:
    try:
        gone = DeltaLog(source.location).head() is None
    except (OSError, StreamTablesError) as error:
        text = f"it cannot be read: {error}"
        yield HealthFinding("error", "source-unreadable", source.name, text, "Look at its store.")
        return
    if gone:
        text = "its Delta table is gone"
        action = "Bring it back, or drop the source with the tables that read it."
        yield HealthFinding("error", "source-gone", source.name, text, action)


def _of_servers(around: Surroundings) -> Iterator[HealthFinding]:
    for item in capture_findings(around.catalog):
        severity: Severity = "error" if item.fault else "warning" if item.hint else "info"
        yield HealthFinding(severity, "capture", item.server, item.detail, item.hint)


def _of_folders(warehouse: Warehouse, snapshot: CatalogSnapshot) -> Iterator[HealthFinding]:
    """Find tables in the warehouse that nothing defines any more."""
    known = {item.location for item in snapshot.stream_tables.values()}
    known |= {item.location for item in snapshot.sources.values()}
    for name in folders_in(warehouse.inside("tables")):
        place = warehouse.inside("tables", name)
        if place not in known:
            text = "no stream table or source stands for this folder"
            by_hand = f"rm -r {quote(place)}" if warehouse.uri is None else place
            action = f"Remove it if nobody reads it: {by_hand}"
            yield HealthFinding("warning", "orphan", f"tables/{name}", text, action)


def _of_disk(warehouse: Warehouse) -> Iterator[HealthFinding]:
    if warehouse.uri is not None:
        return
    try:
        total, _, free = shutil.disk_usage(warehouse.home)
    except OSError:
        return
    if free < _FEW_BYTES or free < _LITTLE_SHARE * total:
        severity: Severity = "error" if free < _FEW_BYTES else "warning"
        text = f"{free / 2**30:,.1f} GB of {total / 2**30:,.0f} GB are free"
        action = "Make room; `streamtables maintain` removes files past their retention."
        yield HealthFinding(severity, "disk", "the warehouse", text, action)


def _inputs(table: StreamTable, snapshot: CatalogSnapshot) -> Iterator[Source | StreamTable]:
    for item in table.inputs:
        key: InputId = item.id
        yield snapshot.sources[key] if key in snapshot.sources else snapshot.stream_tables[key]
