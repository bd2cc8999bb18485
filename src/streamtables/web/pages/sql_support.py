"""The page of SQL support: the operators and aggregates that have rules, and a query tried out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from streamtables.errors import StreamTablesError
from streamtables.web.drawing.plan_picture import plan_picture
from streamtables.web.faults import fault_of
from streamtables.web.rendering import render
from streamtables.web.shared import shared_of

routes = APIRouter(include_in_schema=False)
LONGEST_QUERY = 10_000


@routes.get("/sql", response_class=HTMLResponse)
def sql_support(
    request: Request, query: Annotated[str, Query(max_length=LONGEST_QUERY)] = ""
) -> str:
    """Show what is incremental; with a query, say how it would be maintained."""
    shared = shared_of(request)
    found, picture, fault = None, Markup(""), None
    if query.strip():
        try:
            found = shared.db.validate(query)
            picture = plan_picture(found.svg)
        except StreamTablesError as error:
            fault = fault_of(error)
    return render(
        "sql_support.html",
        request,
        support=shared.facts.get("sql_support", lambda db: db.sql_support(), 3600.0),
        query=query,
        found=found,
        picture=picture,
        fault=fault,
    )
