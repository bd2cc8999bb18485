"""Two warehouses on the same sources and one Spark, so that two ways can be measured in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

import pyarrow as pa
from deltalake import write_deltalake

from benchmarks.pages import Results
from benchmarks.scheduler_warehouse import Clock
from streamtables.api import StreamTables
from streamtables.refresh.results import Refresh
from streamtables.settings import Settings

GROUPS = 20
WARM_UP = 2
"""Rounds that are not counted: Spark's first plans are slow."""


@dataclass
class Sides:
    """The sources, and one warehouse per way."""

    folder: Path
    sources: int
    rows: int
    clock: Clock = field(default_factory=Clock)
    dbs: dict[str, StreamTables] = field(default_factory=dict)
    _random: Random = field(default_factory=lambda: Random(7))

    def path(self, number: int) -> Path:
        """Return where a source is."""
        return self.folder / "sources" / f"source_{number}"

    def make(self) -> None:
        """Make the sources, with their change feeds on."""
        feed = {"delta.enableChangeDataFeed": "true"}
        for number in range(self.sources):
            write_deltalake(str(self.path(number)), self._rows(self.rows), configuration=feed)

    def change(self, rows: int, groups: int = GROUPS) -> None:
        """Append some rows to each source, in one commit each."""
        for number in range(self.sources):
            write_deltalake(str(self.path(number)), self._rows(rows, groups), mode="append")

    def define(self, queries: Mapping[str, str], schedules: Mapping[str, str]) -> None:
        """Define the tables on every side, each side with its own schedule, and fill them."""
        for side, db in self.dbs.items():
            for number in range(self.sources):
                db.add_source(f"source_{number}", path=self.path(number))
            for name, query in queries.items():
                db.create(name, query, schedule=schedules[side])
            require_applied(db.refresh_all())

    def measure(self, ways: Mapping[str, Callable[[], object]], rounds: int, rows: int) -> Results:
        """Follow a change per round in every way, in turn; return all seconds and the medians."""
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(WARM_UP + rounds):
            self.change(rows)
            self.clock.forward(60)
            for name in ways if number % 2 else reversed(list(ways)):
                began = perf_counter()
                ways[name]()
                seconds[name].append(perf_counter() - began)
        counted = {name: found[WARM_UP:] for name, found in seconds.items()}
        return {
            "seconds": {name: [round(s, 4) for s in found] for name, found in counted.items()},
            "median_seconds": {name: median(found) for name, found in counted.items()},
        }

    def differences(self, tables: Sequence[str]) -> list[str]:
        """Return those of some tables that are not as their query says."""
        return [
            f"{name} ({side})"
            for side, db in self.dbs.items()
            for name in tables
            if not db.verify(name).equal
        ]

    def _rows(self, count: int, groups: int = GROUPS) -> pa.Table:
        numbers = [self._random.randrange(1_000_000) for _ in range(count)]
        values = {"id": numbers, "grp": [n % groups for n in numbers], "amount": numbers}
        return pa.table({name: pa.array(found, pa.int64()) for name, found in values.items()})


@contextmanager
def opened(folder: Path, sources: int, rows: int, sides: Mapping[str, Settings]) -> Iterator[Sides]:
    """Give the sources and the warehouses; the first of them starts Spark for all."""
    found = Sides(folder, sources, rows)
    found.make()
    with ExitStack() as stack:
        spark = None
        for name, settings in sides.items():
            db = StreamTables(folder / name, spark=spark, settings=settings, clock=found.clock)
            found.dbs[name] = stack.enter_context(db)
            spark = spark or db.spark
        yield found


def require_applied(done: Sequence[Refresh], count: int | None = None) -> None:
    """Refuse to measure what did not happen."""
    wrong = [f"{result.table} {result.outcome}" for result in done if result.outcome != "applied"]
    if wrong or (count is not None and len(done) != count):
        raise AssertionError(f"{len(done)} refreshes of {count}, not applied: {wrong}")
