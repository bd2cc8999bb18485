"""The page of events: what people should know, newest first."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from streamtables.web.rendering import render
from streamtables.web.shared import shared_of

routes = APIRouter(include_in_schema=False)
SHOWN = 200


@routes.get("/events", response_class=HTMLResponse)
def events(request: Request, q: Annotated[str, Query(max_length=200)] = "") -> str:
    """Show the last events; `q` keeps those that say it."""
    facts = shared_of(request).facts
    found = facts.get("events", lambda db: db.events(limit=SHOWN), 30.0)
    text = q.strip().lower()
    kept = [e for e in found if text in f"{e.kind} {e.subject} {e.text}".lower()]
    return render(
        "events.html",
        request,
        events=kept,
        total=len(found),
        q=q,
        tables={status.name for status in facts.status()},
    )
