"""What must hold in every epoch, looked at while everything runs."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streamtables.api import StreamTables
from streamtables.catalog.models import StreamTable
from streamtables.catalog.scheduler_models import EpochMove
from streamtables.errors import StreamTablesError, WouldMixError
from streamtables.positions import InputId, Version
from streamtables.refresh.moments import one_moment
from tests.soak.every_epoch import EveryEpoch
from tests.soak.tables import ACCOUNTS, FIRST, MONEY
from tests.support.moment_judge import MomentJudge, by_epoch, require_forward

Rows = Sequence[Mapping[str, int]]


def broken_promises(rows: Mapping[str, Rows]) -> list[str]:
    """Say which promises of the sources do not hold between tables of one moment."""
    found = []
    for name in ("holders", "banks"):
        total = sum(row["v"] for row in rows[name])
        if total != ACCOUNTS * MONEY:
            found.append(f"{name}: the money is {total}")
    parents = {row["v"] for row in rows["parents"]}
    orphans = [row["id"] for row in rows["children"] if row["v"] not in parents]
    return [*found, f"children without parents: {orphans}"] if orphans else found


@dataclass
class Audit:
    """Looks at random epochs, and at the end at all; what differs is kept, and the run goes on."""

    db: StreamTables
    chance: random.Random
    counts: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    _read_before: dict[tuple[InputId, Version], Rows] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.judge = MomentJudge(self.db)
        self.ids = {table.name: table.id for table in self.db.stream_tables()}

    def look(self, epochs: int = 5) -> None:
        """Look at some epochs and at the log of every table."""
        _, known = self._recorded()
        for number in self.chance.sample(range(1, len(known) + 1), min(epochs, len(known))):
            for move in known[number - 1].values():
                self._tried(lambda move=move: self._judge(move))
            self._look_at(number)
            self.counts["epochs looked at on the way"] += 1

    def look_at_all(self) -> None:
        """Look at every epoch that was recorded: at every version, for all that it stood for."""
        moves, known = self._recorded()
        every, began = EveryEpoch(self.judge), time.monotonic()
        every.look(moves)
        self.counts["seconds that judging every epoch took"] = round(time.monotonic() - began)
        self.differences += every.differences
        self.counts["epochs"] = len(known)
        self.counts["epochs judged"] = every.epochs_judged(known)
        self.counts["table versions"] = len({(m.stream_table_id, m.delta_version) for m in moves})
        self.counts["table versions judged"] = every.versions_judged
        self.counts["moves of tables"] = len(moves)
        for number in range(1, len(known) + 1):
            self._look_at(number)
        if self.counts["epochs judged"] < len(known):
            self.differences.append("not every epoch was judged")

    def _recorded(self) -> tuple[list[EpochMove], list[Mapping[InputId, EpochMove]]]:
        """Return all moves, and where they leave the tables in each epoch; none goes back."""
        catalog = self.db._catalog
        last = catalog.last_epoch()
        moves = catalog.epoch_moves(list(self.ids.values()), upto=last, limit=10_000_000)
        known = by_epoch(moves, last)
        self._tried(lambda: require_forward(known))
        return moves, known

    def _look_at(self, epoch: int) -> None:
        """Read the tables of the first layer as of one moment: what the sources promise holds."""
        tables = [table for table in self.db.stream_tables() if table.name in FIRST]
        try:
            moment = one_moment(tables, self.db._catalog.snapshot(), self.db._around, epoch)
        except WouldMixError:
            self.counts["epochs in which the first layer does not agree"] += 1
            return
        except StreamTablesError as error:
            self.counts[f"not read: {error.code}"] += 1
            return
        rows = {t.name: self._rows(t, moment.versions[t.id]) for t in tables}
        self.differences += [f"epoch {epoch}: {text}" for text in broken_promises(rows)]
        self.counts["moments read"] += 1

    def _rows(self, table: StreamTable, version: Version) -> Rows:
        if (table.id, version) not in self._read_before:
            self._read_before[table.id, version] = self.judge.rows(table, version)
        return self._read_before[table.id, version]

    def _judge(self, move: EpochMove) -> None:
        self.counts["versions judged on the way"] += self.judge.require_equal([move])

    def end(self) -> None:
        """Look at what can be looked at only when nobody refreshes."""
        self.look_at_all()
        for table in self.db.stream_tables():
            self._tried(lambda table=table: self.judge.require_own_log(table))
            if table.state != "active":
                self.differences.append(f"{table.name} is {table.state}: {table.state_reason}")
            found = self.db.verify(table.name)
            self.counts["tables verified"] += 1
            if not found.equal:
                self.differences.append(
                    f"{table.name}: {found.missing} missing, {found.extra} extra"
                )
        for epoch in self.chance.choices(range(1, self.db.epoch() + 1), k=10):
            self._read(epoch)

    def _read(self, epoch: int) -> None:
        """Read one epoch as people do, through Spark."""
        try:
            read = self.db.read(list(FIRST), epoch=epoch)
        except StreamTablesError as error:
            self.counts[f"not read: {error.code}"] += 1
            return
        rows = {name: [row.asDict() for row in found.collect()] for name, found in read.items()}
        self.differences += [f"epoch {epoch}, by Spark: {text}" for text in broken_promises(rows)]
        self.counts["moments read by Spark"] += 1

    def _tried(self, check) -> None:
        try:
            check()
        except AssertionError as error:
            self.differences.append(str(error)[:500])
