"""The page of one table: definition, refreshes, lag, how it is maintained, rows, and what to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from streamtables.answers import RefreshRecord, StreamTable, TableLag, TableStatus
from streamtables.api import StreamTables
from streamtables.errors import StreamTablesError
from streamtables.web.attention import RECOMPUTED
from streamtables.web.conditions import WORDS, condition_of
from streamtables.web.drawing.plan_picture import plan_picture
from streamtables.web.drawing.step_bars import step_bar, step_classes
from streamtables.web.faults import Fault, RefusedError, fault_of
from streamtables.web.pages.overview import lag_chart
from streamtables.web.plain import to_json
from streamtables.web.rendering import render
from streamtables.web.shared import Shared, shared_of
from streamtables.web.sql_text import coloured_sql

routes = APIRouter(include_in_schema=False)
SHOWN = 25
N = TypeVar("N", TableLag, TableStatus)
SAMPLE = 20


@dataclass(frozen=True)
class Explained:
    """How a table is maintained, ready for the page; or why that cannot be told."""

    picture: Markup
    delta_sql: Markup | None
    data: dict[str, object]
    fault: Fault | None = None


@routes.get("/tables/{name}", response_class=HTMLResponse)
def table(request: Request, name: str) -> str:
    """Show one table."""
    shared = shared_of(request)
    definition = _definition(shared, name)
    name = definition.name
    status = _named(name, shared.facts.status(), shared.db.status)
    lag = _named(name, shared.facts.lags(), shared.db.lags)
    history = shared.facts.get(f"history {name}", lambda db: db.history(name, SHOWN), 5.0)
    word = condition_of(status, lag)
    applied = [r.finished_at for r in history if r.outcome == "applied" and r.finished_at]
    label = f"The lag of {name} over the last hour"
    jobs = shared.jobs.of(name)[:5]
    edges = shared.facts.graph().edges
    return render(
        "table.html",
        request,
        table=definition,
        status=status,
        lag=lag,
        condition=word,
        meaning=WORDS[word],
        query=coloured_sql(definition.query),
        inputs=[read for read, reader in edges if reader == name],
        readers=[reader for read, reader in edges if read == name],
        tables={item.name for item in shared.facts.status()},
        # Columns of ours are nobody's key.
        key=[column for column in definition.key_columns or () if not column.startswith("__st_")],
        bars=_bars(history),
        recomputed=next((r for r in history if _fell_back(r)), None),
        classes=step_classes(step.name for r in history for step in r.steps),
        lag_chart=lag_chart(shared.samples.of(name), lag.lag_seconds or 0.0, label, applied),
        explained=_explained(shared, name),
        jobs=jobs,
        running="running" in {*(r.state for r in history), *(job.state for job in jobs)},
        events=shared.facts.get(f"events {name}", lambda db: db.events(name, 8), 30.0),
    )


@routes.get("/tables/{name}/rows", response_class=HTMLResponse)
def rows(request: Request, name: str) -> str:
    """Show the first rows of a table; loaded by its page after the rest."""
    shared = shared_of(request)
    definition = _definition(shared, name)
    try:
        found = shared.db.read_rows(definition.name, SAMPLE)
    except StreamTablesError as error:
        return render("rows.html", request, fault=fault_of(error), columns=[], rows=[])
    types = {column.name: column.type for column in definition.columns}
    columns = [(name, types.get(name, "")) for name in found.column_names]
    values = [[_shown(value) for value in row.values()] for row in found.to_pylist()]
    return render("rows.html", request, fault=None, columns=columns, rows=values)


def _shown(value: object) -> str | None:
    plain = to_json(value)
    if plain is None or isinstance(plain, str):
        return plain
    return json.dumps(plain, ensure_ascii=False)


def _definition(shared: Shared, name: str) -> StreamTable:
    tables = shared.facts.get("stream_tables", lambda db: db.stream_tables(), 60.0)
    found = next((item for item in tables if item.name.lower() == name.lower()), None)
    # An unknown name is refused by the API, which knows the closest one.
    return found or _asked(shared.db, name)


def _named(name: str, kept: Sequence[N], ask: Callable[[], Sequence[N]]) -> N:
    """Return what is said of one table; what is kept may be older than the table."""
    found = next((item for item in kept if item.name == name), None)
    found = found or next((item for item in ask() if item.name == name), None)
    if found is not None:
        return found
    raise RefusedError(409, f'"{name}" is being changed', hint="Load the page again.")


def _asked(db: StreamTables, name: str) -> StreamTable:
    db.history(name, 1)
    return next(item for item in db.stream_tables() if item.name.lower() == name.lower())


def _fell_back(record: RefreshRecord) -> bool:
    full = record.mode == "full" and record.outcome == "applied"
    return full and record.reason_code in RECOMPUTED


def _bars(history: Sequence[RefreshRecord]) -> list[tuple[RefreshRecord, Markup]]:
    classes = step_classes(step.name for record in history for step in record.steps)
    longest = max((record.seconds for record in history), default=0.0)
    return [
        (record, step_bar(record.steps, record.seconds, longest, classes)) for record in history
    ]


def _explained(shared: Shared, name: str) -> Explained:
    try:
        found = shared.facts.get(f"explain {name}", lambda db: db.explain(name), 600.0)
    except StreamTablesError as error:
        # The page says the rest: a query may no longer compile against what is defined now.
        return Explained(Markup(""), None, {}, fault_of(error))
    sql = found.data.get("delta_sql")
    delta = coloured_sql(cast("str", sql)) if sql else None
    return Explained(plan_picture(found.svg), delta, found.data)
