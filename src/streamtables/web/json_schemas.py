"""Shapes of the JSON API that no type of the interface has."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class Problem(BaseModel):
    """Every error, whatever its status."""

    code: str
    message: str
    detail: str
    hint: str


ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        400: "The request is wrong.",
        404: "There is no such table, source or job.",
        409: "The table does not allow it as it stands.",
        413: "The request is too large.",
        422: "A value has the wrong form.",
    }.items()
}
CHANGE_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        401: "The token is missing or wrong.",
        403: "The request does not come from our own pages.",
        429: "Too many tries, or too much work waits.",
    }.items()
}


class RecordedStep(BaseModel):
    """One step of a refresh."""

    name: str
    seconds: float
    facts: dict[str, Any]


class Recorded(BaseModel):
    """One refresh as it is kept; frontiers map the id of an input to a version."""

    id: str
    sequence: int
    process: str
    started_at: datetime
    finished_at: datetime | None
    state: str
    mode: str
    reason_code: str
    reason_text: str
    strategy: str
    from_frontier: dict[str, int]
    to_frontier: dict[str, int]
    base_frontier: dict[str, int]
    rows_inserted: int
    rows_deleted: int
    rows_in: int
    seconds: float
    steps: list[RecordedStep]
    notes: list[str]
    error_code: str
    error_text: str


class SampleColumn(BaseModel):
    """A column and its Arrow type."""

    name: str
    type: str


class Sample(BaseModel):
    """Some rows of a table."""

    columns: list[SampleColumn]
    rows: list[dict[str, Any]]


class Request(BaseModel):
    """What a change may be told; unknown parts are refused."""

    model_config = ConfigDict(extra="forbid")


class RefreshRequest(Request):
    """How to refresh a table."""

    full: bool = False
    upstream: bool = True


class PauseRequest(Request):
    """What to pause: a table, a namespace, or with neither everything."""

    name: Annotated[str | None, Field(max_length=300)] = None
    namespace: Annotated[str | None, Field(max_length=300)] = None
    reason: Annotated[str, Field(max_length=1_000)] = "paused from the web"


class ResumeRequest(Request):
    """What to resume: a table, a namespace, or with neither everything."""

    name: Annotated[str | None, Field(max_length=300)] = None
    namespace: Annotated[str | None, Field(max_length=300)] = None


class GateRequest(Request):
    """Why a gate is closed."""

    reason: Annotated[str, Field(max_length=1_000)] = "closed from the web"


class Acknowledgement(Request):
    """Who has everything up to which version; a snapshot names its incarnation."""

    subscriber: Annotated[str, Field(max_length=300)]
    version: Annotated[int, Field(ge=0, le=2**53)]
    incarnation: Annotated[str | None, Field(max_length=300)] = None


class LogIn(Request):
    """The token, for a session of a browser."""

    token: Annotated[str, Field(max_length=300)]


class Done(BaseModel):
    """A change that was made."""

    done: bool = True
