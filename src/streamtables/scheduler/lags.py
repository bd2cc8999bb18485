"""How far each stream table is behind its sources now, for people: from logs and catalog alone.

The process that leads knows this from its own looks; here it is found anew, so that any process can
show it.  Looking moves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import RefreshRecord, Source, StreamTable
from streamtables.engine.delta_log import DeltaLog
from streamtables.errors import StreamTablesError
from streamtables.positions import InputId, Standing, Version
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.freshness import Freshness, Judgement, judge, lag
from streamtables.scheduler.options import read_options

Behind = Literal["current", "behind", "unfilled", "source-unreadable"]
_LOOKED_AT_MOST = 50
"""Log entries that are opened to find the first one that changes rows."""


@dataclass(frozen=True)
class TableLag:
    """One stream table against its sources, and how its last refresh ended."""

    name: str
    standing: Behind
    lag_seconds: float | None
    """For how long the oldest change that it lacks has been there; None where nobody can tell."""
    judgement: Judgement
    """Against the option `sla`, else `target_lag`; `ok` where neither is set."""
    last_outcome: str | None
    last_reason_code: str | None
    last_error_code: str | None
    last_error: str | None


@dataclass
class LagReader:
    """Finds lags in one snapshot; each source and version is looked at once."""

    snapshot: CatalogSnapshot
    around: Surroundings
    last: dict[InputId, RefreshRecord]
    _pending: dict[tuple[InputId, Version], datetime | None] = field(default_factory=dict)

    def of(self, table: StreamTable) -> TableLag:
        """Return where one table stands."""
        last = self.last.get(table.id)
        behind, seconds = self._lag(table)
        options = read_options(table.options)
        wanted = Freshness(options.target_lag, options.sla)
        typical = last.seconds if last else 0.0
        failed = last is not None and last.state == "failed"
        if failed and behind == "current":
            # Of what is captured only the mirror is looked at here: where nothing could be brought
            # to it, nobody knows what a table lacks.
            seconds = None
        return TableLag(
            name=table.name,
            standing=behind,
            lag_seconds=seconds,
            judgement=judge(wanted, seconds, typical) if seconds is not None else "ok",
            last_outcome=last.outcome if last else None,
            last_reason_code=last.reason_code if last else None,
            last_error_code=last.error_code if last and failed else None,
            last_error=last.error_text if last and failed else None,
        )

    def waiting_since(self, table: StreamTable, standing: Standing) -> datetime | None:
        """Return when the oldest change came that a table lacks; None where nobody can tell."""
        try:
            return self._oldest_pending(table, standing)
        except StreamTablesError:
            return None

    def _lag(self, table: StreamTable) -> tuple[Behind, float | None]:
        standing = self.snapshot.standings.get(table.id)
        if standing is None or self.snapshot.needs_fill(table.id):
            return "unfilled", None
        try:
            oldest = self._oldest_pending(table, standing)
        except StreamTablesError:
            # A source that cannot be read is shown by the refresh that fails on it.
            return "source-unreadable", None
        if oldest is None:
            return "current", 0.0
        return "behind", round(lag(self.around.clock(), None, oldest), 3)

    def _oldest_pending(self, table: StreamTable, standing: Standing) -> datetime | None:
        found: list[datetime] = []
        for root in self.snapshot.definitions.roots(table.id):
            consumed = standing.base_frontier.get(root)
            if consumed is None:
                continue
            if (root, consumed) not in self._pending:
                self._pending[root, consumed] = self._first_after(root, consumed)
            if (moment := self._pending[root, consumed]) is not None:
                found.append(moment)
        return min(found, default=None)

    def _first_after(self, root: InputId, consumed: Version) -> datetime | None:
        """Return when the first change of a source after a version came."""
        source = self.snapshot.sources[root]
        committed = self._first_commit_after(source, consumed)
        if source.kind != "files":
            return committed
        waiting = self.around.folders.waiting_since(source)
        return min((at for at in (committed, waiting) if at is not None), default=None)

    def _first_commit_after(self, source: Source, consumed: Version) -> datetime | None:
        at = self.around.watch.look(source, consumed).version
        if at <= consumed:
            return None
        log = DeltaLog(source.location)
        # Of a table that is gone it is below 0; all of the new one is lacking then.
        consumed = max(consumed, Version(-1))
        for version in range(consumed + 1, min(at, consumed + _LOOKED_AT_MOST) + 1):
            entry = log.entry(Version(version))
            # An entry that is gone was there before all that are left.
            if entry is not None and (not entry.is_maintenance or version == at):
                return datetime.fromtimestamp(entry.timestamp_ms / 1000, UTC)
        return self.around.clock()
