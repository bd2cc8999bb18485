"""The JSON API, changing: every address needs the token, and long work becomes a job."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path, Request, Response
from fastapi.security import HTTPBearer

from streamtables.api import StreamTables
from streamtables.audit import acting_as
from streamtables.web.access import COOKIE, SESSION_SECONDS, require_own_origin
from streamtables.web.jobs import Job, Result
from streamtables.web.json_facts import Here, Name, answer_of
from streamtables.web.json_schemas import (
    CHANGE_ERRORS,
    ERRORS,
    Done,
    GateRequest,
    LogIn,
    PauseRequest,
    RefreshRequest,
    ResumeRequest,
)
from streamtables.web.plain import to_json
from streamtables.web.shared import shared_of


async def may_change(request: Request) -> None:
    """Let only those through who may change something, and remember who it is."""
    # Not in a thread of its own, whose context would end with it.
    acting_as(shared_of(request).access.require(request).name)


# The scheme is for the description; who may change something is decided above.
_BEARER = HTTPBearer(auto_error=False, description="The token of `streamtables serve`.")
routes = APIRouter(
    prefix="/api",
    tags=["changes"],
    responses={**ERRORS, **CHANGE_ERRORS},
    dependencies=[Depends(may_change), Depends(_BEARER)],
)
sessions = APIRouter(prefix="/api", include_in_schema=False)
SourceName = Annotated[str, Path(max_length=300, description="The name of a source.")]


@routes.post("/refresh/{name}", status_code=202)
def refresh(here: Here, name: Name, how: Annotated[RefreshRequest | None, Body()] = None) -> Job:
    """Start to bring a table, and what it stands on, to the sources as they are now."""
    wanted = how or RefreshRequest()

    def work() -> Result:
        done = here.db.refresh(name, full=wanted.full, upstream=wanted.upstream)
        return _plain(done)

    job = here.jobs.start("refresh", _known(here.db, name), work)
    here.db.record_change("refresh", name)
    return job


@routes.post("/repair/{name}", status_code=202)
def repair(here: Here, name: Name) -> Job:
    """Start to rebuild a table from its query, whatever happened to its rows."""
    return here.jobs.start("repair", _known(here.db, name), lambda: _plain(here.db.repair(name)))


@routes.post("/verify/{name}", status_code=202)
def verify(here: Here, name: Name) -> Job:
    """Start to recompute a table at its own base frontier, and to compare."""

    def work() -> Result:
        found = here.db.verify(name)
        sample = to_json(found.sample.slice(0, 20).to_pylist())
        return {
            "table": found.table,
            "equal": found.equal,
            "missing": found.missing,
            "extra": found.extra,
            "version": found.version,
            "sample": sample,
        }

    return here.jobs.start("verify", _known(here.db, name), work)


@routes.post("/cancel/{name}")
def cancel(here: Here, name: Name) -> Done:
    """Stop the refresh of a table that runs; `done` is false where none did."""
    done = here.db.cancel(name)
    here.facts.forget()
    return Done(done=done)


@routes.post("/pause")
def pause(here: Here, what: Annotated[PauseRequest | None, Body()] = None) -> Done:
    """Stop refreshing a table, a namespace or everything."""
    wanted = what or PauseRequest()
    here.db.pause(wanted.name, wanted.reason, namespace=wanted.namespace)
    here.facts.forget()
    return Done()


@routes.post("/resume")
def resume(here: Here, what: Annotated[ResumeRequest | None, Body()] = None) -> Done:
    """Let a table, a namespace or everything be refreshed again."""
    wanted = what or ResumeRequest()
    here.db.resume(wanted.name, namespace=wanted.namespace)
    here.facts.forget()
    return Done()


@routes.post("/close_gate/{source}")
def close_gate(
    here: Here, source: SourceName, why: Annotated[GateRequest | None, Body()] = None
) -> Done:
    """Have everything that stands on a source wait."""
    here.db.close_gate(source, (why or GateRequest()).reason)
    here.facts.forget()
    return Done()


@routes.post("/open_gate/{source}")
def open_gate(here: Here, source: SourceName) -> Done:
    """Let what stands on a source go on."""
    here.db.open_gate(source)
    here.facts.forget()
    return Done()


@routes.post("/clear_caches", response_model=answer_of(StreamTables.clear_caches))
def clear_caches(here: Here) -> object:
    """Empty the plan caches; the next refresh compiles."""
    cleared = here.db.clear_caches()
    here.facts.forget()
    return cleared


@routes.post("/wake")
def wake(here: Here) -> Done:
    """Have the scheduler of this process look at once."""
    here.db.wake()
    return Done()


@sessions.post("/log_in")
def log_in(request: Request, response: Response, given: LogIn) -> Done:
    """Exchange the token for a session of this browser."""
    require_own_origin(request)
    name = shared_of(request).access.log_in(given.token)
    response.set_cookie(
        COOKIE,
        name,
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return Done()


@sessions.post("/log_out")
def log_out(request: Request, response: Response) -> Done:
    """End the session of this browser."""
    require_own_origin(request)
    shared_of(request).access.log_out(request)
    response.delete_cookie(COOKIE)
    return Done()


def _known(db: StreamTables, name: str) -> str:
    """Refuse an unknown table before anything starts."""
    db.history(name, 1)
    return name


def _plain(value: Any) -> Result:
    found = to_json(value)
    assert isinstance(found, dict)
    return dict(found)
