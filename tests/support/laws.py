"""One random query on one random history, and every law that holds for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from duckdb import ParserException

from streamtables.compiler.algebra import CLOCK_COLUMN, CLOCK_TABLE
from streamtables.compiler.plan import Plan, compile_sql
from tests.support.bags import Bag, add, bag_of
from tests.support.choices import Choices
from tests.support.duckdb_oracle import (
    Change,
    Columns,
    Database,
    as_written,
    check_history,
    delta_text,
)
from tests.support.generator.families import EVERY
from tests.support.groups_apart import check_groups_apart, over_stored_groups
from tests.support.histories import KEYS, TABLES, Batch, History, random_history
from tests.support.maintained_table import check_maintenance, check_nothing_changes
from tests.support.queries import Query, random_query
from tests.support.term_order import reordered_deltas

CLOCK = {CLOCK_TABLE: {CLOCK_COLUMN: "timestamp"}}


Check: TypeAlias = "Callable[[Trial, Database], None]"


@dataclass(frozen=True)
class Trial:
    """A compiled query and the changes to try it on.

    `deterministic` says whether the text as written has one answer.  The defining query always has:
    it settles what the text leaves open.
    """

    plan: Plan
    history: History
    deterministic: bool = True

    @property
    def batches(self) -> list[Batch]:
        """The changes, those of the clock included where the query asks for the time."""
        return self.history.with_clock() if self.plan.reads_clock else self.history.batches

    def on(self, history: History) -> Trial:
        """Return the same query with other changes."""
        return replace(self, history=history)

    def database(self, more: Mapping[str, Columns] | None = None) -> Database:
        """Return the tables as they are at the start, and more that are empty."""
        tables = {**{table: TABLES[table] for table in self.plan.tables}, **(more or {})}
        database = Database({**tables, **(CLOCK if self.plan.reads_clock else {})})
        for table in self.plan.tables:
            database.fill(table, self.history.start[table])
        if self.plan.reads_clock:
            database.fill(CLOCK_TABLE, [(self.history.moments[0],)])
        return database


def random_trial(
    choices: Choices,
    families: Sequence[str] = EVERY,
    deepest: int | None = None,
    keys: Mapping[str, Sequence[str]] = KEYS,
) -> Trial:
    """Choose a query and a history for it."""
    return trial_of(random_query(choices, families, deepest), choices, keys)


def trial_of(query: Query, choices: Choices, keys: Mapping[str, Sequence[str]] = KEYS) -> Trial:
    """Compile a query and choose a history for it; `keys` is what is promised about the tables."""
    # Half of all queries let floats be added; which ones takes no choice from the others.
    plan = compile_sql(query.sql, TABLES, keys, approximate_floats=len(query.sql) % 2 == 0)
    return Trial(plan, random_history(choices), query.deterministic)


def check_valid(trial: Trial) -> None:
    """The text as written runs; otherwise the generator made nonsense."""
    database = trial.database()
    try:
        database.query(as_written(trial.plan, trial.history.moments[0]))
    finally:
        database.close()


def check_meaning(trial: Trial, database: Database) -> None:
    """The defining query gives what the text as written gives, if that is one answer."""
    if not trial.deterministic:
        return
    try:
        written = bag_of(database.query(as_written(trial.plan, trial.history.moments[0])))
    except ParserException as refusal:
        # DuckDB takes the window of a subquery inside a window's definition for one of its own.
        if "not allowed in window definitions" in str(refusal):
            return
        raise
    assert database.evaluate(trial.plan) == written, f"another meaning: {trial.plan.sql}"


def check_halves(trial: Trial, database: Database) -> None:
    """The delta of a batch is the sum of the deltas of its halves, one after the other."""
    for batch in trial.batches:
        start = {table: list(rows) for table, rows in database.rows.items()}
        whole = _delta(trial.plan, database, batch)
        for table, rows in start.items():
            database.fill(table, rows)
        first, second = _halves(batch)
        parts: Bag = {}
        for half in (first, second):
            parts = add(parts, _delta_rows(trial.plan, database, half))
        assert whole == parts, f"{trial.plan.sql}\n{batch}"


def check_order(trial: Trial, database: Database, seed: int = 0) -> None:
    """The delta is the same whichever term of a sum or input of a join comes first."""
    others = reordered_deltas(trial.plan, seed)
    for batch in trial.batches:
        expected = _delta(trial.plan, database, batch)
        for how, sql in others.items():
            found = add({}, database.query(sql))
            assert found == expected, f"another delta with {how}: {trial.plan.sql}\n{batch}"


def check_laws(trial: Trial, *, turn: int = 0) -> None:
    """Assert the laws; the costlier ones take turns."""
    batches = trial.batches
    checks: list[Check] = [
        check_meaning,
        lambda _, database: check_history(trial.plan, database, batches),
        lambda _, database: check_maintenance(trial.plan, database, batches, turn),
    ]
    if turn % 4 == 0:
        checks.append(check_halves)
    if turn % 4 == 1:
        checks.append(lambda _, database: check_nothing_changes(trial.plan, database))
    if turn % 4 == 2:
        checks.append(lambda _, database: check_order(trial, database, turn))
    if turn % 4 == 3 and (over := over_stored_groups(trial.plan)) is not None:
        checks.append(lambda _, __: check_groups_apart(trial, over, turn))
    _run(checks, trial)


def check_history_again(trial: Trial, *, turn: int = 0) -> None:
    """Assert for another history what tells most, with the programs that are compiled already."""
    batches = trial.batches
    _run(
        [lambda _, database: check_maintenance(trial.plan, database, batches, turn, again=True)],
        trial,
    )


def _run(checks: Sequence[Check], trial: Trial) -> None:
    for check in checks:
        database = trial.database()
        try:
            check(trial, database)
        finally:
            database.close()


def _halves(batch: Batch) -> tuple[Batch, Batch]:
    first = {table: changes[: len(changes) // 2] for table, changes in batch.items()}
    second = {table: changes[len(changes) // 2 :] for table, changes in batch.items()}
    return first, second


def _delta(plan: Plan, database: Database, batch: Mapping[str, Sequence[Change]]) -> Bag:
    return add({}, _delta_rows(plan, database, batch))


def _delta_rows(
    plan: Plan, database: Database, batch: Mapping[str, Sequence[Change]]
) -> list[tuple[object, ...]]:
    database.apply(batch)
    return database.query(delta_text(plan))
