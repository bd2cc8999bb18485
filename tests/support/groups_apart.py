"""Whether a table that reads groups which are stored apart is kept like one that computes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from streamtables.compiler.maintenance.groups_apart import groups_apart
from streamtables.compiler.plan import Plan, compile_sql
from tests.support.bags import Row, canonical
from tests.support.duckdb_oracle import Change, Columns, query_text
from tests.support.histories import KEYS, TABLES, Batch
from tests.support.maintained_table import check_maintenance

if TYPE_CHECKING:
    from tests.support.laws import Trial


def over_stored_groups(plan: Plan) -> Plan | None:
    """Return the plan that reads its groups from tables of their own; None where there are none."""
    if not plan.incremental:
        return None
    tables = {part.sql: f"kept_{place}" for place, part in enumerate(groups_apart(plan.definition))}
    over = replace(plan, apart=tables)
    return over if tables and over.maintenance.layout == plan.maintenance.layout else None


def check_groups_apart(trial: Trial, over: Plan, turn: int = 0) -> None:
    """Assert that changes of the sources and of the stored groups lead to the query's rows."""
    groups = {name: compile_sql(sql, TABLES, KEYS) for sql, name in over.apart.items()}
    kept, start, batches = _followed(trial, groups)
    database = trial.database(kept)
    try:
        for name, rows in start.items():
            database.fill(name, rows)
        check_maintenance(over, database, batches, turn)
    finally:
        database.close()


def _followed(
    trial: Trial, groups: Mapping[str, Plan]
) -> tuple[dict[str, Columns], dict[str, list[Row]], list[Batch]]:
    """Return the columns of the groups, their rows, and the batches with what becomes of them."""
    database = trial.database()
    try:
        start: dict[str, list[Row]] = {}
        columns: dict[str, Columns] = {}
        for name, plan in groups.items():
            start[name] = database.query(query_text(plan))
            # DuckDB's own types: of a date and a number it makes a timestamp, where Spark has days.
            columns[name] = dict(zip(database.column_names, database.column_types, strict=True))
        now, batches = dict(start), []
        for batch in trial.batches:
            database.apply(batch)
            new = {name: database.query(query_text(plan)) for name, plan in groups.items()}
            moved = {name: _difference(now[name], new[name]) for name in groups}
            batches.append({**batch, **moved})
            now = new
    finally:
        database.close()
    return columns, start, batches


def _difference(before: Sequence[Row], after: Sequence[Row]) -> list[Change]:
    old, new = ({_image(row): row for row in rows} for rows in (before, after))
    assert len(old) == len(before), "two groups are one"
    went = [Change(row, -1) for image, row in old.items() if image not in new]
    return went + [Change(row, 1) for image, row in new.items() if image not in old]


def _image(row: Row) -> tuple[object, ...]:
    return tuple(canonical(value) for value in row)
