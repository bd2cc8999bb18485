"""Errors at the edge of the web: a status, and {code, message, detail, hint}; never a traceback."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from streamtables.errors import (
    AlreadyExistsError,
    FullForbiddenError,
    InternalError,
    InUseError,
    NotFilledError,
    NotFoundError,
    PausedError,
    SourceChangedError,
    StreamTablesError,
    TableDamagedError,
    TransientError,
    UserError,
    WouldMixError,
)
from streamtables.web.rendering import render

log = logging.getLogger(__name__)

_IN_THE_WAY = (
    AlreadyExistsError,
    FullForbiddenError,
    InUseError,
    NotFilledError,
    PausedError,
    SourceChangedError,
    TableDamagedError,
    WouldMixError,
)
"""The request is right, and the table does not allow it as it stands."""
_WORDS = {
    404: "there is nothing at this address",
    405: "this address does not take this method",
    413: "the request is too large",
}


@dataclass(frozen=True)
class Fault:
    """What a person or a program is told."""

    status: int
    code: str
    message: str
    detail: str = ""
    hint: str = ""

    def body(self) -> dict[str, str]:
        """Return what goes over the wire."""
        return {
            "code": self.code,
            "message": self.message,
            "detail": self.detail,
            "hint": self.hint,
        }


class RefusedError(Exception):
    """A request that the web itself refuses: not allowed, too large, too early."""

    def __init__(self, status: int, message: str, *, detail: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.fault = Fault(status, f"http-{status}", message, detail, hint)


def status_of(error: StreamTablesError) -> int:
    """Return the HTTP status for an error; its family decides."""
    match error:
        case NotFoundError():
            return 404
        case _ if isinstance(error, _IN_THE_WAY):
            return 409
        case UserError():
            return 400
        case TransientError():
            return 503
        case _:
            return 500


def fault_of(error: Exception) -> Fault:
    """Return any error as a fault; of what nobody foresaw only its kind is told."""
    if isinstance(error, RefusedError):
        return error.fault
    if isinstance(error, StreamTablesError):
        return Fault(status_of(error), error.code, error.message, error.detail, error.hint)
    log.error("request failed", exc_info=error)
    return Fault(
        500,
        InternalError.code,
        f"unexpected {type(error).__name__}",
        hint="The log of the process that serves says more.",
    )


def answer(request: Request, fault: Fault) -> Response:
    """Return a fault as JSON, or as a page to a browser that opened a page."""
    wants_page = "text/html" in request.headers.get("accept", "")
    if wants_page and not request.url.path.startswith("/api"):
        page = render("fault.html", request, fault=fault)
        return HTMLResponse(page, fault.status)
    headers = {"WWW-Authenticate": "Bearer"} if fault.status == 401 else None
    return JSONResponse(fault.body(), fault.status, headers=headers)


def add_fault_handlers(app: FastAPI) -> None:
    """Have every error of a route leave in one shape."""

    def known(request: Request, error: Exception) -> Response:
        return answer(request, fault_of(error))

    def by_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        status = error.status_code
        words = _WORDS.get(status, "the request cannot be answered")
        found = answer(request, Fault(status, f"http-{status}", words))
        found.headers.update(error.headers or {})
        return found

    def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = "; ".join(
            f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
            for item in error.errors()
        )
        fault = Fault(422, "http-422", "the request has a wrong value", detail=f"{found}.")
        return answer(request, fault)

    app.add_exception_handler(StreamTablesError, known)
    app.add_exception_handler(RefusedError, known)
    app.add_exception_handler(Exception, known)
    app.add_exception_handler(HTTPException, by_http)
    app.add_exception_handler(RequestValidationError, invalid)
