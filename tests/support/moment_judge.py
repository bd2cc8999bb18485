"""DuckDB as the judge of moments: the rows of a version against the query at what it stands for.

It starts no Spark, so that it can judge while other processes refresh.  Queries have to mean the
same in both; every stream table below is computed again from its own query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import duckdb
import pyarrow as pa
from deltalake import DeltaTable

from streamtables.api import StreamTables
from streamtables.catalog.models import StreamTable
from streamtables.catalog.scheduler_models import EpochMove
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.log_facts import facts_of
from streamtables.engine.reading import read_rows
from streamtables.positions import Adopt, Frontier, InputId, Version, classify_log
from streamtables.positions import Sequence as Number
from tests.support.bags import Bag, bag_of

EVERY_ROW = 10**9

Judged = tuple[InputId, Version, Frontier]


@dataclass
class MomentJudge:
    """Compares versions of stream tables with their queries; each of them once."""

    db: StreamTables
    judged: set[Judged] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.definitions = self.db._catalog.snapshot().definitions

    def require_equal(self, moves: Iterable[EpochMove]) -> int:
        """Check that every version has the rows of its query; return how many were new."""
        new = 0
        for move in moves:
            key = (move.stream_table_id, move.delta_version, move.base_frontier)
            if key not in self.judged:
                table = self.definitions.stream_tables[move.stream_table_id]
                stored, asked = self.stored(table, move.delta_version), self.asked(table, move)
                assert stored == asked, f"{table.name} is not its query at {move}"
                self.judged.add(key)
                new += 1
        return new

    def stored(self, table: StreamTable, version: Version) -> Bag:
        """Return the visible rows of a version."""
        return bag_of(tuple(row.values()) for row in self.rows(table, version))

    def rows(self, table: StreamTable, version: Version) -> list[dict[str, Any]]:
        """Return the visible rows of a version, by column."""
        found: list[dict[str, Any]] = read_rows(table.location, version, EVERY_ROW).to_pylist()
        return found

    def asked(self, table: StreamTable, move: EpochMove) -> Bag:
        """Return what the query of a table gives on its roots at a base frontier."""
        with self._roots_at(table, move) as duck:
            return bag_of(duck.execute(table.query).fetchall())

    def computed(self, table: StreamTable, move: EpochMove) -> pa.Table:
        """Return the same as rows that can be stored."""
        with self._roots_at(table, move) as duck:
            return duck.sql(table.query).to_arrow_table()

    @contextmanager
    def _roots_at(self, table: StreamTable, move: EpochMove) -> Iterator[duckdb.DuckDBPyConnection]:
        with duckdb.connect(config={"threads": 1}) as duck:
            for root in self.definitions.roots(table.id):
                source = self.definitions.sources[root]
                version = int(move.base_frontier[root])
                rows = DeltaTable(source.location, version=version).to_pyarrow_table()
                duck.register(source.name, rows)
            for below in self.definitions.ancestors(table.id):
                duck.execute(f'CREATE TABLE "{below.name}" AS {below.query}')
            yield duck

    def require_own_log(self, table: StreamTable) -> None:
        """Check that all of a table's log is ours, in order, and that the catalog's word is its."""
        log, standing = DeltaLog(table.location), self.db._catalog.standing(table.id)
        head = log.head()
        assert head is not None
        assert standing is not None
        entries = log.entries(Version(-1), head)
        found = classify_log(facts_of(entries), table.id, Number(0), None)
        assert isinstance(found, Adopt), f"{table.name} was tampered with: {found}"
        assert (found.version, found.stamp.refresh_id) == (standing.version, standing.refresh_id)
        assert standing.base_frontier.covers(found.stamp.base_frontier)


def by_epoch(moves: Sequence[EpochMove], last: int) -> list[Mapping[InputId, EpochMove]]:
    """Return where the tables stand in each epoch up to the last, from moves newest first."""
    found: list[Mapping[InputId, EpochMove]] = []
    now: dict[InputId, EpochMove] = {}
    left = list(moves)
    for epoch in range(1, last + 1):
        while left and left[-1].epoch == epoch:
            move = left.pop()
            now[move.stream_table_id] = move
        found.append(dict(now))
    return found


def require_forward(epochs: Sequence[Mapping[InputId, EpochMove]]) -> None:
    """Check that from epoch to epoch no table goes back to a version of the past.

    What a version stands for may: a leader that stalled can still land the next one.
    """
    for before, after in pairwise(epochs):
        for key, move in before.items():
            assert after[key].delta_version >= move.delta_version, (move, after[key])
