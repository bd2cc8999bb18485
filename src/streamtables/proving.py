"""Proof and repair: the part of the interface that compares tables with their queries."""

from __future__ import annotations

import random

from streamtables.catalog import Catalog
from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import StreamTable
from streamtables.errors import ConfigError, HistoryGoneError, TableDamagedError
from streamtables.positions import InputId
from streamtables.refresh.mending import Mend
from streamtables.refresh.results import Refresh
from streamtables.refresh.round import Round, with_ancestors
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.verify import Verification, verify

WAYS = ("auto", "rows", "table")


class Proving:
    """The methods of an open warehouse that check and mend its tables."""

    _catalog: Catalog
    _around: Surroundings

    def verify(self, name: str, *, share: float = 1.0) -> Verification:
        """Recompute a table at its own base frontier, and compare as bags, both ways.

        A `share` below one compares that part of the rows, another one each time.
        """
        snapshot = self._catalog.snapshot()
        table = snapshot.definitions.stream_table(name)
        draw = random.randrange(2**31) if share < 1.0 else 0
        return verify(table, snapshot, self._around, share=share, draw=draw)

    def repair(self, name: str, *, way: str = "auto") -> Refresh:
        """Make a table right again, and all tables that stand on it.

        `rows` writes only what differs from the query, `table` builds all of it anew; `auto` writes
        rows where that can be done.  What the table stands on is mended first.
        """
        if way not in WAYS:
            raise ConfigError(
                f'"{way}" is no way of repair', detail=f"Permitted: {', '.join(WAYS)}."
            )
        snapshot = self._catalog.snapshot()
        table = snapshot.definitions.stream_table(name)
        if way == "table" or (way == "auto" and table.state != "active"):
            return self._rebuilt(table, snapshot)
        results = self._mended(table, snapshot, rows_only=way == "rows")
        return results[table.id]

    def _mended(
        self, table: StreamTable, snapshot: CatalogSnapshot, *, rows_only: bool
    ) -> dict[InputId, Refresh]:
        """Mend a table, what it stands on, and what stands on it, each after what it reads."""
        tables = with_ancestors(snapshot, (table, *snapshot.definitions.dependants(table.id)))
        results = self._refreshed(tables, frozenset())
        for item in tables:
            found = self._mend(item)
            if found is None and rows_only and item.id == table.id:
                raise ConfigError(
                    f'the rows of "{item.name}" cannot be mended one by one',
                    hint=f'Run repair("{item.name}", way="table").',
                )
            if found is None:
                forced = frozenset({item.id})
                found = self._refreshed(with_ancestors(self._catalog.snapshot(), [item]), forced)[
                    item.id
                ]
            results[item.id] = found
        return results

    def _mend(self, table: StreamTable) -> Refresh | None:
        snapshot = self._catalog.snapshot()
        try:
            return Mend(self._around, snapshot, snapshot.stream_tables[table.id]).run()
        except (TableDamagedError, HistoryGoneError):
            # Stored rows that cannot be read cannot be compared either: they are made anew.
            return None

    def _rebuilt(self, table: StreamTable, snapshot: CatalogSnapshot) -> Refresh:
        """Build a table anew; what stands on it follows by changes."""
        internal = snapshot.definitions.internal_tables(table.id)
        forced = frozenset(item.id for item in (table, *internal))
        answer = self._refreshed(with_ancestors(snapshot, [table]), forced)[table.id]
        if below := snapshot.definitions.dependants(table.id):
            active = [item for item in below if item.state == "active"]
            self._refreshed(with_ancestors(self._catalog.snapshot(), active), frozenset())
        return answer

    def _refreshed(
        self, tables: tuple[StreamTable, ...], forced: frozenset[InputId]
    ) -> dict[InputId, Refresh]:
        round_ = Round(self._around, self._catalog.snapshot(), tables, forced)
        for result in round_.run():
            if result.error is not None:
                raise result.error
        return dict(round_.done)
