"""The page of sources: what they are, how PostgreSQL tables are captured, gates."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from streamtables.web.rendering import render
from streamtables.web.shared import shared_of

routes = APIRouter(include_in_schema=False)


@routes.get("/sources", response_class=HTMLResponse)
def sources(request: Request) -> str:
    """Show every source, and how far its capture is behind."""
    facts = shared_of(request).facts
    found = facts.get("sources", lambda db: db.sources(), 60.0)
    places = facts.get("source places", lambda db: db.source_places(), 60.0)
    captures = facts.get("captures", lambda db: db.wal_source_status(), 5.0)
    readers: dict[str, list[str]] = {}
    for read, reader in facts.graph().edges:
        readers.setdefault(read, []).append(reader)
    late = {lag.name for lag in facts.lags() if lag.standing == "behind"}
    return render(
        "sources.html",
        request,
        sources=found,
        places=places,
        captures={capture.source: capture for capture in captures},
        readers=readers,
        behind={name: len(late.intersection(found)) for name, found in readers.items()},
        buffers=facts.get("scheduler", lambda db: db.scheduler_diagnostics(), 1.0)[
            "change_buffers"
        ],
        standstills=facts.get("standstills", lambda db: db.standstills(), 30.0),
    )
