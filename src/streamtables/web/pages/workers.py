"""The page of workers: who leads, how busy the pool is, quotas and queues, caches."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from streamtables.web.rendering import render
from streamtables.web.shared import shared_of

routes = APIRouter(include_in_schema=False)


@routes.get("/workers", response_class=HTMLResponse)
def workers(request: Request) -> str:
    """Show the workers of the process that leads, and what this one counted."""
    shared = shared_of(request)
    facts = shared.facts
    return render(
        "workers.html",
        request,
        summary=facts.get("workers", lambda db: db.cluster_worker_summary(), 1.0),
        allocation=facts.get("allocation", lambda db: db.worker_allocation_status(), 1.0),
        scheduler=facts.get("scheduler", lambda db: db.scheduler_diagnostics(), 1.0),
        caches=facts.get("caches", lambda db: db.cache_levels(), 10.0),
        metrics=facts.get("metrics", lambda db: db.metrics_summary(), 1.0),
        jobs=shared.jobs.of()[:20],
    )
