"""Random queries on Spark, several at a time: one history, and a stream table for each query.

On Spark statements and tables take the time, not rows.  So the queries of a group of seeds share
their sources, the history, the rounds of refreshes and what the judge reads.  After every batch each
table is compared, as bags, with Spark's answer to the text as it was generated, on the versions that
were refreshed to.  Every fourth seed goes through Spark alone, the others by the driver's hand where
their changes are small.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import pyarrow as pa

from streamtables.api import StreamTables
from streamtables.compiler.plan import Plan, compile_sql
from streamtables.engine.arrow_types import for_spark
from streamtables.engine.session import SparkSessions
from streamtables.errors import SqlError, StreamTablesError
from streamtables.refresh.results import Refresh
from tests.properties.tally import Outcome
from tests.support.bags import Bag, bag_of
from tests.support.catalogs import with_catalog
from tests.support.choices import Seeded
from tests.support.delta_tables import DeltaTableFile
from tests.support.generator.families import EVERY
from tests.support.histories import KEYS, TABLES, Batch, History, Row, random_history
from tests.support.queries import Query, random_query
from tests.support.settings import settings_with
from tests.support.spark_oracle import UNRESOLVED, Judge, rounded

GROUP = 10
"""So many seeds in a row share a history; which one follows from the seed alone."""
BATCHES_MAX = 2
EVERY_ROW = 10**9
_HISTORIES_FROM = 10**9
_CLOCK = re.compile(r"\b(current_timestamp|current_date|now)\b(\(\))?")
_HANDS = {"driver": 10_000, "spark": 0}
"""How many changed rows the driver may take, by hand."""


@dataclass(frozen=True)
class Wanted:
    """Which queries to make."""

    families: tuple[str, ...] = EVERY
    depth: int | None = None


ANY = Wanted()


def groups(first: int, last: int) -> Iterator[range]:
    """Split a range of seeds, the last one excluded, by the histories that they share."""
    while first < last:
        end = min(last, (first // GROUP + 1) * GROUP)
        yield range(first, end)
        first = end


def try_group(
    seeds: range, sessions: SparkSessions, folder: Path, wanted: Wanted = ANY
) -> list[SparkCase]:
    """Try seeds of one group; return their cases, which say what became of them."""
    history = random_history(Seeded(_HISTORIES_FROM + seeds[0] // GROUP))
    cases = [SparkCase.of(seed, wanted) for seed in seeds]
    with _World(history, sessions, folder) as world:
        for case in cases:
            world.define(case)
        world.refresh(cases)
        for batch in history.batches[:BATCHES_MAX]:
            world.change(batch)
            world.refresh(cases)
    return cases


@dataclass
class SparkCase:
    """One query, and what became of it so far."""

    seed: int
    query: Query
    plan: Plan | None = None
    failure: tuple[str, str] | None = None
    judge: str = "Spark"
    """Who compares: Spark by the text as generated, or `verify` where Spark cannot resolve it."""
    compared: int = 0
    """How often its table was compared, and was equal."""

    @classmethod
    def of(cls, seed: int, wanted: Wanted) -> SparkCase:
        # The text as generated is what Spark is asked, so it has to have one answer.
        query = random_query(Seeded(seed), wanted.families, wanted.depth, ties=False)
        return cls(seed, _storable(query))

    @property
    def name(self) -> str:
        """The name of its stream table."""
        return f"case_{self.seed}"

    @property
    def hand(self) -> str:
        """Whose hand writes its changes."""
        return "spark" if self.seed % 4 == 3 else "driver"

    @property
    def outcome(self) -> Outcome:
        """What became of it."""
        kind, text = self.failure or self._success()
        return Outcome(self.seed, kind, text, self.query.sql, self.query.families)

    def _success(self) -> tuple[str, str]:
        assert self.plan is not None
        if not self.plan.incremental:
            return "refused", self.plan.refusals[0].message
        return self.plan.maintenance.form, ""

    def text_at(self, moment: datetime) -> str:
        """Return the text as generated; where it asks for the time, it is told a moment."""
        said = {
            "current_date": f"DATE '{moment:%Y-%m-%d}'",
            "current_timestamp": f"TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S}'",
        }
        return _CLOCK.sub(lambda call: said.get(call[1], said["current_timestamp"]), self.query.sql)

    @contextmanager
    def failing(self, when: str) -> Iterator[None]:
        """Note what goes wrong as what became of the case."""
        try:
            yield
        except AssertionError as difference:
            self.failure = "difference", f"{when}: {difference}"
        except SqlError as error:
            # Refusals are values: what is raised calls the query wrong, and it is not.
            said = f"{error.code} {error.message} {error.detail}\n{error.place}"
            self.failure = "invalid", f"{when}: {said}"
        except StreamTablesError as error:
            said = f"{type(error).__name__}: {error.message} {error.detail}"
            self.failure = "crash", f"{when}: {said}\n{error.__cause__ or ''}"
        except Exception as crash:
            self.failure = "crash", f"{when}: {type(crash).__name__}: {crash}"


@dataclass
class _World:
    """The sources of a group, a warehouse for each hand, and the judge."""

    history: History
    sessions: SparkSessions
    folder: Path
    rows: dict[str, list[Row]] = field(default_factory=dict)
    changed: Batch = field(default_factory=dict)
    turn: int = 0

    def __enter__(self) -> _World:
        self._open = ExitStack()
        self.rows = {name: list(rows) for name, rows in self.history.start.items()}
        self.tables = {
            name: DeltaTableFile(self.folder / name, columns, self.rows[name])
            for name, columns in TABLES.items()
        }
        self.warehouses = {hand: self._warehouse(hand) for hand in _HANDS}
        self.judge = Judge(self.sessions.quick())
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _warehouse(self, hand: str) -> StreamTables:
        settings = settings_with(
            driver_rows_max=_HANDS[hand],
            full_threshold=1.0,
            # No refresh may compute the whole query because the machine is slow.
            choose_from_seconds=86_400.0,
            plan_cache_dir=self.folder / "plans",
        )
        db = StreamTables(
            with_catalog(self.folder / hand),
            spark=self.sessions.get(),
            settings=settings,
            clock=lambda: self.moment,
        )
        self._open.enter_context(db)
        for name, table in self.tables.items():
            db.add_source(name, path=table.path, key=KEYS.get(name))
        return db

    @property
    def moment(self) -> datetime:
        """What the clock says."""
        return self.history.moments[self.turn]

    def define(self, case: SparkCase) -> None:
        """Create the stream table of a case."""
        with case.failing("create"):
            case.plan = compile_sql(case.query.sql, TABLES, KEYS)
            self.warehouses[case.hand].create(case.name, case.query.sql)

    def change(self, batch: Batch) -> None:
        """Write a batch to the sources, and move the clock on."""
        self.turn += 1
        self.changed = batch
        for name, changes in batch.items():
            for change in changes:
                if change.weight > 0:
                    self.rows[name].append(change.row)
                else:
                    self.rows[name].remove(change.row)
            if changes:
                self.tables[name].overwrite(self.rows[name])

    def refresh(self, cases: Sequence[SparkCase]) -> None:
        """Refresh all tables and compare each with its query."""
        results = {
            result.table: result for db in self.warehouses.values() for result in db.refresh_all()
        }
        self.judge.show(self.tables)
        for case in cases:
            if case.failure is None:
                with case.failing(f"batch {self.turn}"):
                    self._check(case, results[case.name])

    def _check(self, case: SparkCase, result: Refresh) -> None:
        if result.error is not None:
            raise result.error
        assert case.plan is not None
        # A refused query is kept by full, and must say so.
        way = "differential" if self.turn and case.plan.incremental else "full"
        assert result.mode in (way, "no-change"), f"{result.mode}: {result.reason.text}"
        db = self.warehouses[case.hand]
        try:
            answer = self.judge.ask(case.text_at(self.moment))
        except UNRESOLVED:
            # A few texts are more than Spark itself can resolve.
            case.judge = "verify"
            assert db.verify(case.name).equal, self._story("verify finds a difference", {}, {})
        else:
            asked, stored = arrow_bag(answer.toArrow()), self._stored(case, db)
            assert rounded(stored) == rounded(asked), self._story("other rows", stored, asked)
        case.compared += 1

    def _stored(self, case: SparkCase, db: StreamTables) -> Bag:
        """Return the rows of a table; the last version is read by Spark, as users do."""
        if self.turn == min(BATCHES_MAX, len(self.history.batches)):
            return arrow_bag(db.read(case.name).toArrow())
        return arrow_bag(db.read_rows(case.name, EVERY_ROW))

    def _story(self, what: str, stored: Bag, asked: Bag) -> str:
        missing = {row: count for row, count in asked.items() if stored.get(row) != count}
        extra = {row: count for row, count in stored.items() if asked.get(row) != count}
        changed = {name: changes for name, changes in self.changed.items() if changes}
        return (
            f"{what}\nmissing: {missing}\nextra: {extra}\n"
            f"at {self.moment}\nrows after: {self.rows}\nbatch: {changed}"
        )


def _storable(query: Query) -> Query:
    """Return the query with names of columns that a Delta table takes."""
    names = [name for name, _ in query.columns]
    if not any(" " in name for name in names):
        return query
    renamed = ", ".join(f"{name} AS {name.replace(' ', '_')}" for name in names)
    return replace(query, sql=f"SELECT {renamed} FROM ({query.sql}) AS named")


def arrow_bag(table: pa.Table) -> Bag:
    """Count equal rows of an Arrow table; the order of a map's entries means nothing."""
    columns = [
        [value.as_py(maps_as_pydicts="strict") for value in column]
        for column in for_spark(table).columns
    ]
    return bag_of(zip(*columns, strict=True))
