"""What a small change costs on this machine, by changes and by full refreshes, in one run.

The five tables of the demonstration and a twin of each that is always recomputed, on the same
data.  The two sides take turns in who goes first.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from streamtables.api import StreamTables, connect
from streamtables.demo.shop import KEYS, Shop
from streamtables.demo.tables import DEFINITIONS
from streamtables.demo.twins import full_seconds, make_twins
from streamtables.errors import TableDamagedError

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Measured:
    """One table: seconds of each round, by changes and by a full refresh."""

    table: str
    differential: list[float] = field(default_factory=list)
    full: list[float] = field(default_factory=list)

    @property
    def differential_seconds(self) -> float:
        """The median by changes."""
        return round(median(self.differential), 3)

    @property
    def full_seconds(self) -> float:
        """The median of full refreshes."""
        return round(median(self.full), 3)

    @property
    def ratio(self) -> float:
        """How many times as long a full refresh takes."""
        return round(median(self.full) / median(self.differential), 2)


def measure(rows: int, changes: int, rounds: int, tell: Tell = lambda _: None) -> list[Measured]:
    """Measure every table on a shop of its own, which is gone afterwards.

    Raises:
        TableDamagedError: a table differs from its query in the end.
    """
    with TemporaryDirectory(prefix="streamtables-bench-") as place, ExitStack() as stack:
        folder = Path(place)
        db = stack.enter_context(connect(folder / "warehouse"))
        shop = Shop(folder / "shop", rows)
        tell(f"making a shop of {rows:,} order lines")
        for name in KEYS:
            shop.make(db.spark, name)
            db.add_source(name, path=shop.path(name), key=[KEYS[name]])
        for definition in DEFINITIONS:
            db.create(definition.name, definition.query, mode="differential")
        db.refresh_all()
        twins = stack.enter_context(make_twins(db, folder / "twins"))
        twins.refresh_all()
        found = [Measured(definition.name) for definition in DEFINITIONS]
        # The first round warms both sides up, and is not counted.
        for number in range(rounds + 1):
            tell(f"round {number} of {rounds}" if number else "warming up")
            db.spark.sql(shop.new_lines(first=number * changes, count=changes).sql)
            _round(db, twins, found, counted=number > 0, full_first=number % 2 == 1)
        _prove(db)
        return found


def _round(
    db: StreamTables, twins: StreamTables, found: list[Measured], *, counted: bool, full_first: bool
) -> None:
    def by_changes() -> dict[str, float]:
        # A change that leaves a result as it is was computed all the same.
        ended = (done for done in db.refresh_all() if done.outcome in ("applied", "no-change"))
        return {done.table: done.seconds for done in ended}

    def by_full() -> dict[str, float]:
        taken = {item.table: full_seconds(twins, item.table) for item in found}
        return {table: seconds for table, seconds in taken.items() if seconds is not None}

    # A twin of a table on another stream table reads that table, so it goes after it.
    full = by_full() if full_first else {}
    changed = by_changes()
    full = {**by_full(), **full}
    for item in found if counted else ():
        if item.table in changed and item.table in full:
            item.differential.append(changed[item.table])
            item.full.append(full[item.table])


def _prove(db: StreamTables) -> None:
    for definition in DEFINITIONS:
        if not db.verify(definition.name).equal:
            raise TableDamagedError(f'stream table "{definition.name}" differs from its query')
