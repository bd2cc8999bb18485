"""Looking again and again: the part of the interface that screens and pages poll."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from streamtables.catalog import Catalog
from streamtables.errors import ConfigError
from streamtables.graph import Graph, graph_of
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.lags import LagReader, TableLag
from streamtables.sql_support import SqlSupport, sql_support

LONGEST_MINUTES = 24 * 60


@dataclass(frozen=True)
class RefreshCount:
    """How many refreshes began in a minute and ended alike."""

    minute: datetime
    outcome: str
    refreshes: int


@dataclass(frozen=True)
class Standstills:
    """What people have said holds tables back: scope or source → the reason."""

    pauses: Mapping[str, str]
    gates: Mapping[str, str]


class Watching:
    """The methods of an open warehouse that are made to be asked often."""

    _catalog: Catalog
    _around: Surroundings

    def activity_mark(self) -> str:
        """Return a text that changes with each definition, event, and start or end of a refresh."""
        return self._catalog.activity_mark()

    def lags(self) -> list[TableLag]:
        """Return how far every stream table is behind its sources, and how it last ended."""
        snapshot = self._catalog.snapshot()
        reader = LagReader(snapshot, self._around, self._catalog.last_refreshes())
        tables = snapshot.definitions.stream_tables.values()
        return [reader.of(table) for table in tables if not table.is_internal]

    def refreshes_per_minute(self, minutes: int = 60) -> list[RefreshCount]:
        """Return how many refreshes began in each of the last minutes, by outcome, oldest first."""
        if not 1 <= minutes <= LONGEST_MINUTES:
            raise ConfigError(
                f"{minutes} minutes is out of bounds", detail=f"Permitted: 1 to {LONGEST_MINUTES}."
            )
        now = self._around.clock().replace(second=0, microsecond=0)
        found = self._catalog.refreshes_per_minute(now - timedelta(minutes=minutes - 1))
        return [RefreshCount(minute, state, count) for minute, state, count in found]

    def graph(self) -> Graph:
        """Return the sources and stream tables, and who reads whom."""
        return graph_of(self._catalog.snapshot().definitions)

    def standstills(self) -> Standstills:
        """Return the pauses and the closed gates that hold now."""
        rules, names = self._catalog.rules(), {s.id: s.name for s in self._catalog.sources()}
        return Standstills(
            pauses={scope: pause.reason for scope, pause in sorted(rules.pauses.items())},
            gates={names[key]: gate.reason for key, gate in rules.gates.items() if key in names},
        )

    def sql_support(self) -> SqlSupport:
        """Return what of Spark SQL is maintained incrementally."""
        return sql_support()
