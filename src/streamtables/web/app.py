"""The application: routes, what they share, and what runs beside them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from importlib.metadata import version
from importlib.resources import files

from fastapi import Depends, FastAPI, Request
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool
from starlette.staticfiles import StaticFiles

from streamtables.api import StreamTables
from streamtables.web import json_actions, json_changes, json_facts
from streamtables.web.access import Access
from streamtables.web.facts import Facts
from streamtables.web.faults import add_fault_handlers
from streamtables.web.guard import Guard
from streamtables.web.jobs import Jobs
from streamtables.web.lag_samples import EVERY_SECONDS, LagSamples
from streamtables.web.pages import events, graph, overview, sources, sql_support, table, workers
from streamtables.web.pulse import Pulse
from streamtables.web.shared import Shared, shared_of
from streamtables.web.tokens import TrustedProxy, named_tokens

_FOR_ALL = frozenset({"/healthz", "/api/log_in", "/api/log_out"})
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


def build_app(db: StreamTables, *, token: str, hosts: Collection[str] = LOCAL_HOSTS) -> Guard:
    """Return the application for an open warehouse; whoever opened it closes it."""
    facts, samples = Facts(db), LagSamples()
    jobs = Jobs(changed=facts.forget)
    pulse = Pulse(lambda: _beat(facts, samples, jobs))
    access = Access(
        token,
        others=named_tokens(db.settings),
        proxy=TrustedProxy.of(db.settings),
        read_needs_token=db.settings.web_read_needs_token,
    )
    shared = Shared(db, facts, samples, jobs, access, pulse)
    app = FastAPI(
        title="streamtables",
        version=version("streamtables"),
        description="What is known of the stream tables of one warehouse, and what can be done.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=_beside(shared),
        dependencies=[Depends(_may_look)],
    )
    app.state.shared = shared
    app.state.warehouse = db.place.name
    add_fault_handlers(app)
    for page in (overview, graph, table, sources, workers, events, sql_support):
        app.include_router(page.routes)
    app.include_router(json_facts.routes)
    app.include_router(json_actions.routes)
    app.include_router(json_changes.routes)
    app.include_router(json_actions.sessions)
    _add_probes(app, db, facts)
    app.mount("/static", StaticFiles(directory=str(files("streamtables.web") / "static")))
    return Guard(app, frozenset(host.lower() for host in hosts))


async def _may_look(request: Request) -> None:
    if request.url.path not in _FOR_ALL:
        shared_of(request).access.require_reader(request)


def _beat(facts: Facts, samples: LagSamples, jobs: Jobs) -> str:
    """Return what is another text whenever a page may show something else."""
    last = samples.of()[-1:]
    # While a table is behind, its lag grows without anything happening.
    growing = str(last[0].at) if last and last[0].behind else ""
    ended = sum(job.state != "running" for job in jobs.of())
    return f"{facts.mark()}/{growing}/{len(jobs.of())}.{ended}"


def _beside(shared: Shared) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def beside(_: FastAPI) -> AsyncIterator[None]:
        sampling = asyncio.create_task(_sample(shared))
        try:
            yield
        finally:
            sampling.cancel()
            shared.jobs.close()

    return beside


async def _sample(shared: Shared) -> None:
    while True:
        # A catalog that does not answer now may later; the pages say so themselves.
        with suppress(Exception):
            shared.samples.add(await run_in_threadpool(shared.facts.lags))
        await asyncio.sleep(EVERY_SECONDS)


def _add_probes(app: FastAPI, db: StreamTables, facts: Facts) -> None:
    @app.get("/healthz", include_in_schema=False)
    def healthz() -> PlainTextResponse:
        """Say that the pages work and the catalog answers."""
        facts.mark()
        return PlainTextResponse("ok\n")

    @app.get("/metrics", include_in_schema=False)
    def metrics() -> PlainTextResponse:
        """Return the metrics in the format of Prometheus."""
        return PlainTextResponse(
            db.metrics_text(), media_type="text/plain; version=0.0.4; charset=utf-8"
        )
