"""A stored stream table in DuckDB, kept by the programs that the engine runs on Spark.

It proves the cheaper forms (touched groups, stored state, first rows, before derived from after)
against the defining query, without a session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

import pyarrow as pa

from streamtables.compiler.algebra import CLOCK_TABLE, WEIGHT
from streamtables.compiler.algebra.plain_conditions import PlainCondition
from streamtables.compiler.backend.duckdb import spark_to_duckdb
from streamtables.compiler.backend.statement import KeyValues, Lookup, Program
from streamtables.compiler.maintenance import ChangedTables, StateColumn, StoredState
from streamtables.compiler.plan import Plan
from streamtables.engine.combine_state import combine_state
from streamtables.engine.first_rows import first_of
from tests.support import driver_state
from tests.support.bags import Bag, bag_of, canonical
from tests.support.driver_state import Groups
from tests.support.duckdb_oracle import Change, Database, SummedDeltas, net_changes

STORED = "__st_now_stored"
STATE = "__st_now_state"
LOST = "__st_now_lost"

Way = tuple[Literal["read", "derived"], bool]
"""How `before` is had, and whether changes arrive netted on the columns that are read."""

_OF_TEXT = {"starts": "starts_with", "ends": "suffix", "contains": "contains"}
"""What DuckDB calls comparisons of a text with a part of it."""

WAYS: tuple[Way, ...] = (("derived", False), ("read", False), ("derived", True), ("read", True))


@dataclass(frozen=True)
class Made:
    """The rows of the groups that changed, and the keys of all those groups."""

    group: tuple[tuple[str, str], ...]
    keys: set[tuple[Any, ...]]
    rows: list[tuple[Any, ...]]


class MaintainedTable:
    """The stored rows of one plan, hidden columns included."""

    def __init__(self, plan: Plan, database: Database) -> None:
        self.plan = plan
        self.database = database
        for table in database.tables:
            for version in ("before", "after"):
                self._view(table, version, f'SELECT * FROM "{version}"."{table}"')
        full = plan.maintenance.full()
        self.rows = self._run(full)
        database.make(STORED, _one_text(full))

    def refresh(
        self, changed: frozenset[str], way: Way, *, parts: bool = True
    ) -> list[tuple[Any, ...]]:
        """Apply one signed delta to the stored rows; taking away a missing row is an error."""
        self._show_changes(netted=way[1])
        programs = _programs(self.plan, changed, way)
        delta = self._run(programs.whole_delta)
        state = programs.table.state
        made = self._made(programs) if state is not None and (parts or state.may_lose) else None
        first = self._first_rows(programs) if programs.table.first is not None else None
        if parts:
            self._check_parts(programs)
        if way[1]:
            self._check_found(programs, _over_found_rows(programs))
        stored: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for row in self.rows:
            stored.setdefault(_key(row), []).append(row)
        for *values, weight in sorted(delta, key=lambda row: -row[-1]):
            same = stored.setdefault(_key(values), [])
            for _ in range(abs(weight)):
                if weight > 0:
                    same.append(tuple(values))
                else:
                    assert same, f"{values} is taken away and was not there: {self.plan.sql}"
                    same.pop()
        self.rows = [row for rows in stored.values() for row in rows]
        self.database.replace_rows(STORED, self.rows)
        if made is not None:
            self._check_made(made)
        if first is not None:
            assert Counter(map(_number_key, self.rows)) == first, f"query: {self.plan.sql}"
        return delta

    def _first_rows(self, programs: ChangedTables) -> Counter[tuple[Any, ...]]:
        """Return the first rows as the engine tells them from the stored ones and the changes."""
        first = programs.table.first
        assert first is not None
        candidates = self.database.arrow(_one_text(programs.candidates))
        stored = self.database.arrow(f'SELECT * FROM "{STORED}"')
        told = first_of(candidates, stored, first.limit)
        if told is None:
            return Counter(map(_number_key, self._run(programs.lost_groups)))
        return _counted(told)

    def _check_parts(self, programs: ChangedTables) -> None:
        """Run what the engine runs when little changed, beside the one statement for all."""
        if programs.table.state is not None or programs.table.first is not None:
            pass
        elif programs.table.chain is not None:
            self._run(programs.new_groups)
        else:
            self._run(programs.signed_rows)
        if programs.touched is not None:
            self._run(programs.touched_groups)

    def _check_found(self, programs: ChangedTables, found: ChangedTables) -> None:
        """Over rows that were looked up, the program gives what it gives over whole tables."""
        program = found.answer
        if not program.lookups:
            return
        for lookup in program.lookups:
            self.database.make(lookup.view, _lookup_text(lookup))
        if programs.table.state is not None:
            self._check_states(programs.table.state, program, programs.contributions)
            return
        over_found, over_tables = self._run(program), self._run(programs.answer)
        if program.keys is not None:
            self._check_keys(program.keys, programs)
        signed = self.database.column_names[-1] == WEIGHT
        assert _netted(over_found, signed=signed) == _netted(over_tables, signed=signed), (
            f"found rows give {over_found}\ntables give {over_tables}\nquery: {self.plan.sql}"
        )

    def _check_states(self, state: StoredState, one: Program, other: Program) -> None:
        """Contributions of both lead to the same state; rows may come and go again in one alone."""
        (ours, lost), (theirs, lost_too) = self._states(state, one), self._states(state, other)
        for key in lost | lost_too:
            ours.pop(key, None)
            theirs.pop(key, None)
        assert ours == theirs, f"query: {self.plan.sql}"

    def _states(
        self, state: StoredState, program: Program
    ) -> tuple[dict[tuple[Any, ...], tuple[Any, ...]], set[tuple[Any, ...]]]:
        """Return the state of every group after contributions, and the groups that are lost."""
        contributions = self._named(program)
        stored = [
            dict(zip(self.plan.maintenance.layout.columns, row, strict=True)) for row in self.rows
        ]
        states = {
            _key([row[shown] for _, shown in state.group]): _key(
                [row[item.name] for item in state.states]
            )
            for row in stored
        }
        groups, lost = driver_state.combined(state, contributions, stored)
        for row in contributions:
            states.pop(_key([row[inner] for inner, _ in state.group]), None)
        width = len(state.group)
        states |= {_key(group[:width]): _key(group[width:]) for group in groups}
        return states, {_key(group) for group in lost}

    def _check_keys(self, keys: KeyValues, programs: ChangedTables) -> None:
        """Keys that are at hand are those that a program computes."""
        computed = set(map(_key, self._run(programs.touched_groups)))
        held = " UNION ".join(f'SELECT "{name}" FROM "{view}"' for view, name in keys.held)
        assert set(map(_key, self.database.query(held))) == computed

    def _check_made(self, made: Made) -> None:
        """Rows made from state on the driver are those that are stored afterwards, no others."""
        columns = self.plan.maintenance.layout.columns
        places = [columns.index(shown) for _, shown in made.group]
        touched = [row for row in self.rows if _key([row[i] for i in places]) in made.keys]
        assert self._exact(touched) == self._exact(made.rows), (
            f"made from state: {made.rows}\nstored: {touched}\nquery: {self.plan.sql}"
        )

    def _exact(self, rows: Sequence[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
        """Count rows without how far their sums of floats may be off: computed anew they are not."""
        kept = self.plan.maintenance
        states = kept.state.states if kept.state is not None else ()
        bounds = {item.name for item in states if item.kind == "float-error"}
        places = [i for i, name in enumerate(kept.layout.columns) if name not in bounds]
        return Counter(_loose_key([row[i] for i in places]) for row in rows)

    def _made(self, programs: ChangedTables) -> Made:
        """Return the rows of the groups that changed, made from state as the engine does."""
        state, table = programs.table.state, programs.table
        assert state is not None
        contributions = self._named(programs.contributions)
        stored = [dict(zip(table.layout.columns, row, strict=True)) for row in self.rows]
        groups, lost = driver_state.combined(state, contributions, stored)
        if state.may_lose:
            self._check_kernels(programs, groups, lost)
        shown = "".join(f'"{inner}", ' for inner, _ in state.group)
        source = _one_text(programs.contributions)
        types = ", ".join(_typed_null(item) for item in state.states)
        self.database.make(STATE, f"SELECT {shown}{types} FROM ({source}) LIMIT 0")
        self.database.replace_rows(STATE, groups)
        made = self._run(table.state_rows)
        width = len(state.visible)
        for group, row in zip(groups, made, strict=True):
            copy = driver_state.copied(state, group)
            assert copy is None or _key(copy) == _key(row[:width])
        names = [inner for inner, _ in state.group]
        keys = {_key([row[name] for name in names]) for row in contributions}
        anew = self._lost_rows(programs, lost, shown, source) if lost else []
        return Made(state.group, keys, [*made, *anew])

    def _lost_rows(
        self, programs: ChangedTables, lost: Sequence[Sequence[Any]], shown: str, source: str
    ) -> list[tuple[Any, ...]]:
        """Return the rows of groups that the state does not tell, by the program for them."""
        if shown:
            self.database.make(LOST, f"SELECT {shown.rstrip(', ')} FROM ({source}) LIMIT 0")
            self.database.replace_rows(LOST, lost)
        rows = self._run(programs.lost_groups)
        assert len(rows) == len(lost), f"{rows} are not the rows of {lost}"
        program = _over_found_rows(programs).lost_groups
        if shown and program.lookups:
            for lookup in program.lookups:
                self.database.make(lookup.view, _lookup_text(lookup))
            assert Counter(map(_key, self._run(program))) == Counter(map(_key, rows))
        return rows

    def _check_kernels(
        self, programs: ChangedTables, groups: Groups, lost: Sequence[Sequence[Any]]
    ) -> None:
        """The engine's own kernels find the same groups, and the same ones lost."""
        state = programs.table.state
        assert state is not None
        contributions = self.database.arrow(_one_text(programs.contributions))
        stored = self.database.arrow(f'SELECT * FROM "{STORED}"')
        found = combine_state(contributions, stored, state.shape)
        names = [inner for inner, _ in state.group]
        assert _counted(found.groups) == Counter(map(_number_key, groups))
        if names:
            assert _counted(found.lost.select(names)) == Counter(map(_number_key, lost))
        assert found.lost.num_rows == len(lost)

    def _named(self, program: Program) -> list[dict[str, Any]]:
        rows = self._run(program)
        return [dict(zip(self.database.column_names, row, strict=True)) for row in rows]

    def visible(self) -> Bag:
        """Return the bag of rows without hidden columns."""
        width = len(self.plan.maintenance.layout.visible)
        return bag_of(row[:width] for row in self.rows)

    def _show_changes(self, *, netted: bool) -> None:
        for table in self.database.tables:
            body = f'SELECT * FROM "changes"."{table}"'
            columns = self.plan.columns_read.get(table)
            if netted and columns:
                listed = ", ".join(f'"{name}"' for name in columns)
                body = (
                    f"SELECT {listed}, sum(__st_weight)::BIGINT AS __st_weight "
                    f'FROM "changes"."{table}" GROUP BY {listed} HAVING sum(__st_weight) <> 0'
                )
            self._view(table, "changes", body)

    def _view(self, table: str, version: str, body: str) -> None:
        self.database.view(f"__st_{version}_{table}", body)

    def _run(self, program: Program) -> list[tuple[Any, ...]]:
        return self.database.query(_one_text(program))


def check_maintenance(
    plan: Plan,
    database: Database,
    batches: Iterable[Mapping[str, Sequence[Change]]],
    turn: int = 0,
    *,
    again: bool = False,
) -> None:
    """Assert after every batch that the stored rows are what the defining query gives.

    The ways to refresh, and the programs for small changes beside the one for all, take turns.
    `again` is for one more history of a query: the programs are those for changes of all tables,
    which are compiled once, and the sum of the deltas is checked on the way.
    """
    all_changed = frozenset((*plan.tables, CLOCK_TABLE))
    database.apply({})
    table = MaintainedTable(plan, database)
    deltas = SummedDeltas(plan, database)
    assert table.visible() == database.evaluate(plan)
    for number, batch in enumerate(batches):
        database.apply(batch)
        found = frozenset(name for name, changes in batch.items() if net_changes(changes))
        changed = all_changed if again else found
        if again:
            deltas.follow()
        table.refresh(changed, WAYS[turn % len(WAYS)], parts=(turn + number) % 3 == 0)
        full = database.evaluate(plan)
        if again:
            deltas.check(full, number, batch)
        assert table.visible() == full, (
            f"{plan.maintenance.form} differs from full, by {WAYS[turn % len(WAYS)]}\n"
            f"query: {plan.sql}\nbatch: {dict(batch)}\nstored: {table.rows}\nfull: {full}"
        )


def check_nothing_changes(plan: Plan, database: Database) -> None:
    """Assert that a refresh without changes has an empty delta."""
    database.apply({})
    table = MaintainedTable(plan, database)
    assert table.refresh(frozenset(), ("derived", False)) == []
    every = frozenset((*plan.tables, CLOCK_TABLE))
    assert table.refresh(every, ("derived", False)) == []


def _typed_null(item: StateColumn) -> str:
    """Return NULL in the type of a state column; of an extremum in that which DuckDB gave it."""
    if item.kind == "sum":
        return f'CAST(NULL AS {item.type}) AS "{item.name}"'
    return f'(SELECT "{item.name}" FROM "{STORED}" LIMIT 0) AS "{item.name}"'


def _counted(rows: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(_number_key(tuple(row.values())) for row in rows.to_pylist())


def _number_key(row: Sequence[Any]) -> tuple[Any, ...]:
    """Tell rows apart without the difference between integers and Arrow's decimals for them."""
    return _loose_key([float(value) if type(value) is int else value for value in row])


def _loose_key(row: Sequence[Any]) -> tuple[Any, ...]:
    """Tell rows apart without the difference between decimals and DuckDB's doubles for them."""
    return _key([float(value) if isinstance(value, Decimal) else value for value in row])


def _key(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(canonical(value) for value in row)


@lru_cache(maxsize=64)
def _programs(plan: Plan, changed: frozenset[str], way: Way) -> ChangedTables:
    before, small = way
    # One of the ways splits every statement that can be split, to prove that this changes nothing.
    scans_at_most = 1 if way == WAYS[-1] else None
    return plan.maintenance.restricted_to(
        changed, small=small, before=before, scans_at_most=scans_at_most
    )


@lru_cache(maxsize=64)
def _over_found_rows(programs: ChangedTables) -> ChangedTables:
    """Return the programs that read rows which were looked up."""
    return replace(programs, found=True)


def _netted(rows: Iterable[Sequence[Any]], *, signed: bool) -> Counter[tuple[Any, ...]]:
    """Return rows as a bag; signed ones by their weights, since whoever reads them nets them."""
    bag: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        values, weight = (row[:-1], row[-1]) if signed else (row, 1)
        bag[_key(values)] += weight
    return Counter({row: weight for row, weight in bag.items() if weight})


def _lookup_text(lookup: Lookup) -> str:
    """Return the rows of a lookup as a query: each value in the held ones, NULL included."""
    version = "before" if lookup.changes else "after"
    table = f'"__st_{version}_{lookup.table}"'
    shown = ", ".join(f't."{name}"' for name in lookup.columns)
    wanted = (" AND ".join(f"({_has_value(item)})" for item in one) for one in lookup.any_of)
    where = " OR ".join(f"({one})" for one in wanted)
    conditions = "".join(f" AND {_condition_text(item)}" for item in lookup.conditions)
    return f"SELECT {shown} FROM {table} AS t WHERE ({where}){conditions}"


def _condition_text(condition: PlainCondition) -> str:
    quoted = [text if condition.kind == "number" else f"'{text}'" for text in condition.constants]
    constants = [f"DATE {text}" if condition.kind == "date" else text for text in quoted]
    if condition.comparison == "in":
        return f't."{condition.column}" IN ({", ".join(constants)})'
    if condition.comparison in _OF_TEXT:
        return f'{_OF_TEXT[condition.comparison]}(t."{condition.column}", {constants[0]})'
    return f't."{condition.column}" {condition.comparison} {constants[0]}'


def _has_value(item: KeyValues) -> str:
    parts = [f't."{item.column}" IS NULL'] if item.null else []
    equal = "=" if item.null_left_out else "IS NOT DISTINCT FROM"
    for view, column in item.held:
        same = f'h."{column}" {equal} t."{item.column}"'
        parts.append(f'EXISTS (SELECT 1 FROM "{view}" AS h WHERE {same})')
    return " OR ".join(parts) or "FALSE"


@lru_cache(maxsize=256)
def _one_text(program: Program) -> str:
    """Return a program as one statement: what the engine keeps between steps is a CTE here."""
    steps = ", ".join(
        f'"{step.name}" AS MATERIALIZED ({_duckdb(step.sql)})' for step in program.steps
    )
    text = _duckdb(program.sql)
    return f"WITH {steps} SELECT * FROM ({text})" if steps else text


@lru_cache(maxsize=256)
def _duckdb(sql: str) -> str:
    return spark_to_duckdb(sql)
