"""Every epoch against the queries, at the price of every version once.

What a table stands for are versions of the sources.  Moves that stand for the same are judged
together: DuckDB computes the tables on those versions, each of them once, and the rows of a version
that stands for several are read once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa
from deltalake import DeltaTable

from streamtables.catalog.models import StreamTable
from streamtables.catalog.scheduler_models import EpochMove
from streamtables.positions import Frontier, InputId, Version
from tests.support.bags import Bag, bag_of
from tests.support.moment_judge import MomentJudge

Claim = tuple[InputId, Version, Frontier]
"""A version of a table, and what it is said to stand for."""


def claim_of(move: EpochMove) -> Claim:
    """Return what a move says."""
    return move.stream_table_id, move.delta_version, move.base_frontier


@dataclass
class EveryEpoch:
    """Judges claims of any number of epochs; what differs is kept, and the next one is judged."""

    judge: MomentJudge
    judged: set[Claim] = field(default_factory=set)
    differences: list[str] = field(default_factory=list)
    _sources: dict[tuple[InputId, Version], pa.Table] = field(default_factory=dict)
    _stored: dict[tuple[InputId, Version], Bag] = field(default_factory=dict)

    def look(self, moves: Iterable[EpochMove]) -> None:
        """Judge what these moves say, as far as that was not done before."""
        together: dict[Frontier, set[Claim]] = defaultdict(set)
        for move in moves:
            if (claim := claim_of(move)) not in self.judged:
                together[move.base_frontier].add(claim)
        for frontier, claims in together.items():
            self._judge(frontier, claims)

    def epochs_judged(self, epochs: Sequence[Mapping[InputId, EpochMove]]) -> int:
        """Return in how many epochs every table that had rows was judged."""
        return sum(all(claim_of(m) in self.judged for m in now.values()) for now in epochs)

    @property
    def versions_judged(self) -> int:
        """How many versions of tables were judged, however much each of them stood for."""
        return len({(table, version) for table, version, _ in self.judged})

    def _judge(self, frontier: Frontier, claims: set[Claim]) -> None:
        tables = self.judge.definitions.stream_tables
        with duckdb.connect(config={"threads": 1}) as duck:
            made: set[InputId] = set()
            for key, version, _ in sorted(claims, key=lambda claim: claim[:2]):
                self._make(duck, tables[key], frontier, made)
                asked = bag_of(duck.execute(f'SELECT * FROM "{tables[key].name}"').fetchall())
                if asked != self._rows(tables[key], version):
                    self.differences.append(
                        f"{tables[key].name} is not its query: version {version} at {frontier}"
                    )
                self.judged.add((key, version, frontier))

    def _make(
        self,
        duck: duckdb.DuckDBPyConnection,
        table: StreamTable,
        frontier: Frontier,
        made: set[InputId],
    ) -> None:
        """Compute a table, and before it what it stands on."""
        definitions = self.judge.definitions
        for root in definitions.roots(table.id) - made:
            duck.register(definitions.sources[root].name, self._source(root, frontier[root]))
            made.add(root)
        for one in (*definitions.ancestors(table.id), table):
            if one.id not in made:
                duck.execute(f'CREATE TABLE "{one.name}" AS {one.query}')
                made.add(one.id)

    def _source(self, key: InputId, version: Version) -> pa.Table:
        if (key, version) not in self._sources:
            location = self.judge.definitions.sources[key].location
            rows = DeltaTable(location, version=int(version)).to_pyarrow_table()
            self._sources[key, version] = rows
        return self._sources[key, version]

    def _rows(self, table: StreamTable, version: Version) -> Bag:
        if (table.id, version) not in self._stored:
            self._stored[table.id, version] = self.judge.stored(table, version)
        return self._stored[table.id, version]
