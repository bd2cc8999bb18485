"""The JSON API, reading: each address has the name of the method that it asks.

Types of answers come from the methods themselves, so the description says what Python says.
"""

from __future__ import annotations

from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import StreamingResponse

from streamtables.api import StreamTables
from streamtables.web.conditions import Condition, conditions
from streamtables.web.jobs import Job
from streamtables.web.json_schemas import ERRORS, Recorded, Sample
from streamtables.web.lag_samples import LagSample
from streamtables.web.pages.sql_support import LONGEST_QUERY
from streamtables.web.plain import to_json
from streamtables.web.shared import Shared, shared_of

routes = APIRouter(prefix="/api", tags=["facts"], responses=ERRORS)

Here = Annotated[Shared, Depends(shared_of)]
Name = Annotated[str, Path(max_length=300, description="The name of a stream table.")]
Some = Annotated[int, Query(ge=1, le=1_000, description="How many at most.")]
OneTable = Annotated[str | None, Query(max_length=300, description="Only of this stream table.")]


def answer_of(method: Any) -> Any:
    """Return the type that a method of the interface answers with."""
    return get_type_hints(method)["return"]


@routes.get("/status", response_model=answer_of(StreamTables.status))
def status(here: Here) -> object:
    """Return where every stream table stands."""
    return here.facts.status()


@routes.get("/lags", response_model=answer_of(StreamTables.lags))
def lags(here: Here) -> object:
    """Return how far every stream table is behind its sources."""
    return here.facts.lags()


@routes.get("/conditions")
def all_conditions(here: Here) -> list[Condition]:
    """Return one word for how each stream table is, as the pages show it."""
    return conditions(here.facts)


@routes.get("/lag_samples")
def lag_samples(here: Here, name: OneTable = None) -> list[LagSample]:
    """Return the longest lag of all tables, or that of one, over the last hour of this server."""
    if name is not None:
        here.db.history(name, 1)
    return here.samples.of(name)


@routes.get("/graph", response_model=answer_of(StreamTables.graph))
def graph(here: Here) -> object:
    """Return sources and stream tables with their levels, and who reads whom."""
    return here.facts.graph()


@routes.get("/stream_tables", response_model=answer_of(StreamTables.stream_tables))
def stream_tables(here: Here) -> object:
    """Return the definitions of all stream tables."""
    return here.facts.get("stream_tables", lambda db: db.stream_tables(), 60.0)


@routes.get("/sources", response_model=answer_of(StreamTables.sources))
def sources(here: Here) -> object:
    """Return all sources."""
    return here.facts.get("sources", lambda db: db.sources(), 60.0)


@routes.get("/refreshes_per_minute", response_model=answer_of(StreamTables.refreshes_per_minute))
def refreshes_per_minute(
    here: Here, minutes: Annotated[int, Query(ge=1, le=1440, description="How far back.")] = 60
) -> object:
    """Return how many refreshes began in each of the last minutes, by outcome, oldest first."""
    name = f"refreshes {minutes}"
    return here.facts.get(name, lambda db: db.refreshes_per_minute(minutes), 5.0)


@routes.get("/history/{name}", response_model=list[Recorded])
def history(here: Here, name: Name, limit: Some = 100) -> object:
    """Return the last refreshes of a table, newest first, step by step."""
    return to_json(here.db.history(name, limit))


@routes.get("/explain/{name}")
def explain(here: Here, name: Name) -> dict[str, Any]:
    """Return how a table is maintained and why so, as text, as data and as a picture."""
    found = here.db.explain(name)
    return {"text": found.text, "data": to_json(found.data), "svg": found.svg}


@routes.get("/validate")
def validate(
    here: Here, query: Annotated[str, Query(max_length=LONGEST_QUERY, description="Spark SQL.")]
) -> dict[str, Any]:
    """Return the same for a query that nothing stores yet."""
    found = here.db.validate(query)
    return {"text": found.text, "data": to_json(found.data), "svg": found.svg}


@routes.get("/read_rows/{name}")
def read_rows(here: Here, name: Name, limit: Some = 20) -> Sample:
    """Return the first rows of a table as of its last refresh; Spark is not started."""
    found = here.db.read_rows(name, limit)
    columns = [{"name": field.name, "type": str(field.type)} for field in found.schema]
    return Sample.model_validate({"columns": columns, "rows": to_json(found.to_pylist())})


@routes.get("/events", response_model=answer_of(StreamTables.events))
def events(here: Here, name: OneTable = None, limit: Some = 100) -> object:
    """Return what people should know, of all or of one table, newest first."""
    return here.db.events(name, limit)


@routes.get("/wal_source_status", response_model=answer_of(StreamTables.wal_source_status))
def wal_source_status(here: Here) -> object:
    """Return how every PostgreSQL source is captured, and how far behind it is."""
    return here.facts.get("captures", lambda db: db.wal_source_status(), 5.0)


@routes.get("/standstills", response_model=answer_of(StreamTables.standstills))
def standstills(here: Here) -> object:
    """Return the pauses and the closed gates that hold now."""
    return here.facts.get("standstills", lambda db: db.standstills(), 30.0)


@routes.get("/worker_allocation_status")
def worker_allocation_status(here: Here) -> list[dict[str, Any]]:
    """Return, for each namespace, how many workers it uses, may use and waits for."""
    return here.facts.get("allocation", lambda db: db.worker_allocation_status(), 1.0)


@routes.get("/cluster_worker_summary")
def cluster_worker_summary(here: Here) -> dict[str, Any]:
    """Return the workers of the process that leads."""
    return here.facts.get("workers", lambda db: db.cluster_worker_summary(), 1.0)


@routes.get("/scheduler_diagnostics")
def scheduler_diagnostics(here: Here) -> dict[str, Any]:
    """Return who leads, and what the scheduler is doing."""
    return here.facts.get("scheduler", lambda db: db.scheduler_diagnostics(), 1.0)


@routes.get("/metrics_summary")
def metrics_summary(here: Here) -> dict[str, Any]:
    """Return what was counted since this process opened the warehouse."""
    return here.facts.get("metrics", lambda db: db.metrics_summary(), 1.0)


@routes.get("/cache_levels", response_model=answer_of(StreamTables.cache_levels))
def cache_levels(here: Here) -> object:
    """Return what each level of the plan caches holds."""
    return here.facts.get("caches", lambda db: db.cache_levels(), 10.0)


@routes.get("/sql_support", response_model=answer_of(StreamTables.sql_support))
def sql_support(here: Here) -> object:
    """Return what of Spark SQL is maintained incrementally."""
    return here.facts.get("sql_support", lambda db: db.sql_support(), 3600.0)


@routes.get("/jobs")
def jobs(here: Here, name: OneTable = None) -> list[Job]:
    """Return what was started from here, newest first."""
    return here.jobs.of(name)


@routes.get("/jobs/{job_id}")
def job(here: Here, job_id: Annotated[str, Path(max_length=100)]) -> Job:
    """Return what became of one job."""
    return here.jobs.get(job_id)


@routes.get("/changes", include_in_schema=False)
async def changes(request: Request) -> StreamingResponse:
    """Tell a page when something happened, as server-sent events."""
    told = shared_of(request).pulse.listen()
    return StreamingResponse(told, media_type="text/event-stream")
