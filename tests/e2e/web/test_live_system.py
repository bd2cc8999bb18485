"""The pages of a system that runs: PostgreSQL, thirty tables, and changes that never pause."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any, Literal

import psycopg
import pytest
from playwright.sync_api import Browser, expect

from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.observe.declared import METRICS
from tests.e2e.web import page_facts
from tests.e2e.web.conftest import Watched
from tests.e2e.web.page_facts import Api, Facts, shown_facts
from tests.e2e.web.test_browser import serious_faults, wider_than_its_screen
from tests.support.delta_tables import DeltaTableFile
from tests.support.leaders import wait_for
from tests.support.live_system import BESIDE, MANAGERS, QUERIES, SCHEMA, VISITS
from tests.unit.observe.scraped import scraped

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STARTS_WITHIN = 400.0
SETTINGS = {
    "STREAMTABLES_SPARK_MASTER": "local[2]",
    "STREAMTABLES_SPARK_DRIVER_MEMORY": "2g",
    "STREAMTABLES_POLL_SECONDS": "0.2",
}
TRIES = 40
PAGES: dict[str, tuple[str, Callable[[Api], Facts]]] = {
    "overview": ("/", page_facts.overview),
    "graph": ("/graph", page_facts.graph),
    "table": ("/tables/shop.revenue", partial(page_facts.table, name="shop.revenue")),
    "first-rows": ("/tables/top.regions", partial(page_facts.table, name="top.regions")),
    "refused": ("/tables/ops.sampled", partial(page_facts.table, name="ops.sampled")),
    "stopped": ("/tables/ops.page_numbers", partial(page_facts.table, name="ops.page_numbers")),
    "sources": ("/sources", page_facts.sources),
    "workers": ("/workers", page_facts.workers),
    "events": ("/events", page_facts.events),
    "sql": ("/sql", page_facts.sql_support),
}
LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (
    ("light", 1280),
    ("light", 390),
    ("dark", 1280),
    ("dark", 390),
)
"""Each page in light and dark, on a laptop and on a phone."""


@dataclass
class Live:
    """The system, and somebody who writes to it."""

    url: str
    token: str
    server: PostgresServer
    visits: DeltaTableFile
    managers: DeltaTableFile
    numbers: Iterator[int]

    def api(self, what: str) -> Any:
        """Return an answer of the JSON API."""
        with urllib.request.urlopen(f"{self.url}api/{what}") as answer:
            return json.load(answer)

    def metrics(self) -> dict[str, float]:
        """Return a scrape."""
        with urllib.request.urlopen(f"{self.url}metrics") as answer:
            return scraped(answer.read().decode())

    def write(self) -> None:
        """Change both kinds of sources."""
        number = next(self.numbers)
        with psycopg.connect(self.server.url) as connection:
            connection.execute(
                "INSERT INTO orders VALUES (%s, %s, %s)",
                (1_000 + number, number % 60, f"region {number % 7}"),
            )
            connection.execute(
                "INSERT INTO items VALUES (%s, %s, 85.5)", (10_000 + number, 1_000 + number)
            )
        self.visits.append((100 + number, number % 60, f"page {number % 5}"))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write without a pause beside what a block does."""
        done = Event()

        def go_on() -> None:
            while not done.wait(0.5):
                self.write()

        writer = Thread(target=go_on)
        writer.start()
        try:
            yield
        finally:
            done.set()
            writer.join()

    def make_managers_anew(self) -> None:
        """Replace a Delta table by another one at its place, as a nightly dump does."""
        shutil.rmtree(self.managers.path)
        self.managers = managers_at(self.managers.path)

    def is_quiet(self) -> bool:
        """Whether every table that follows changes has all that there is."""
        lags = {lag["name"]: lag["lag_seconds"] for lag in self.api("lags")}
        return all(lags[name] == 0 for name in QUERIES)


def managers_at(path: Path) -> DeltaTableFile:
    return DeltaTableFile(path, MANAGERS, [(f"region {n}", f"manager {n}") for n in range(7)])


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("live")
    visits = DeltaTableFile(
        folder / "visits", VISITS, [(n, n % 20, f"page {n % 5}") for n in range(60)]
    )
    managers = managers_at(folder / "managers")
    with running_server() as server:
        with psycopg.connect(server.url) as connection:
            connection.execute(SCHEMA)
        command = [sys.executable, "-m", "tests.support.live_system"]
        command += [str(folder / "warehouse"), str(visits.path), str(managers.path), server.url]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                command, env={**os.environ, **SETTINGS}, stdout=subprocess.PIPE, stderr=log
            )
        try:
            url, token = _told(process, folder / "log")
            yield Live(url, token, server, visits, managers, count())
        finally:
            process.terminate()
            assert process.wait(120) == 0, (folder / "log").read_text()[-2_000:]
            assert process.stdout is not None
            process.stdout.close()


def _told(process: subprocess.Popen[bytes], log: Path) -> tuple[str, str]:
    assert process.stdout is not None
    lines: list[bytes] = []
    reader = Thread(target=lambda: lines.extend(iter(process.stdout.readline, b"")), daemon=True)  # type: ignore[union-attr]  # it is a pipe
    reader.start()
    wait_for(lambda: len(lines) >= 2 or process.poll() is not None, "serving pages", STARTS_WITHIN)
    assert len(lines) >= 2, log.read_text()[-2_000:]
    url, token = (line.decode().strip() for line in lines[:2])
    return url, token


@pytest.fixture
def watched(browser: Browser, live: Live) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 850}, locale="en-GB")
    found = Watched(context.new_page(), live.url)
    found.page.on("console", found.hear)
    found.page.on("pageerror", lambda error: found.faults.append(str(error)))
    found.page.on("request", found.see)
    yield found
    context.close()


def test_every_page_holds_while_changes_flow(live: Live, watched: Watched, pictures: Path):
    faults = []
    with live.writing():
        for name, (address, _) in PAGES.items():
            page = watched.open(address)
            expect(page.locator("h1")).to_be_visible()
            for place in page.locator("[data-load]").all():
                expect(place).not_to_contain_text("Show the first rows")
            for scheme, width in LOOKS:
                page.emulate_media(color_scheme=scheme)
                page.set_viewport_size({"width": width, "height": 850})
                look = f"live-{name}-{scheme}-{width}"
                faults += [f"{look}: {fault}" for fault in serious_faults(page)]
                faults += [f"{look}: {fault}" for fault in wider_than_its_screen(page)]
                page.screenshot(path=pictures / f"{look}.png", full_page=True)
    assert faults == []
    assert watched.faults == []
    assert watched.elsewhere == []


def test_a_refresh_of_the_running_scheduler_shows_within_two_seconds(live: Live, watched: Watched):
    wait_for(live.is_quiet, "quiet")
    page = watched.open("/tables/shop.revenue")
    last = _newest(live)
    live.write()
    wait_for(lambda: _newest(live) != last, "refreshed")
    recorded = monotonic()
    expect(page.locator(f'[data-refresh="{_newest(live)}"]')).to_be_visible(timeout=2_000)
    print(f"shown {monotonic() - recorded:.2f} s after the record")
    assert watched.faults == []


def _newest(live: Live) -> str:
    return str(live.api("history/shop.revenue")[0]["id"])


@pytest.mark.parametrize("name", PAGES)
def test_every_number_of_a_page_is_that_of_the_api(live: Live, watched: Watched, name: str):
    wait_for(live.is_quiet, "quiet")
    address, told_by = PAGES[name]
    for _ in range(TRIES):
        told = told_by(live.api)
        shown = shown_facts(watched.open(address))
        # Times of waiting grow, and a page may be a second old: it is compared with what the API
        # says alike before and after, as soon as it does.
        if told == told_by(live.api) == shown:
            return
    assert shown == told


def test_every_declared_metric_is_in_the_scrape_of_the_running_system(live: Live):
    live.write()
    live.make_managers_anew()

    def missing() -> list[str]:
        names = {name.partition("{")[0] for name in live.metrics()}
        return [
            metric.name
            for metric in METRICS
            if (f"{metric.name}_count" if metric.kind == "histogram" else metric.name) not in names
        ]

    with suppress(AssertionError):
        wait_for(lambda: not missing(), "every metric", 60)
    assert missing() == []
    well = len(QUERIES) + len(BESIDE) - 2
    wait_for(lambda: live.metrics()["tables{state=active}"] == well, "rebuilt")
    found = live.metrics()
    assert found["tables{state=paused}"] == found["tables{state=suspended}"] == 1
    assert found["wal_fallback{reason=blocked,source=notes}"] == 1
    assert found["full_fallbacks_total{reason=rebuild,stream_table=ops.managers}"] == 1


def test_verify_in_the_page_compares_the_table_with_its_query(live: Live, watched: Watched):
    wait_for(live.is_quiet, "quiet")
    page = watched.open("/tables/shop.revenue")
    verify: Callable[[], None] = page.get_by_role("button", name="Verify").click
    verify()
    page.locator("#token").fill(live.token)
    page.keyboard.press("Enter")
    expect(page.locator("#unlock")).to_be_hidden()
    verify()
    expect(page.locator("[data-live=jobs]")).to_contain_text("Equal to its query", timeout=60_000)


def test_a_server_that_is_down_is_one_need_with_all_its_tables(
    live: Live, watched: Watched, pictures: Path
):
    wait_for(live.is_quiet, "quiet")
    page = watched.open("/")
    expect(page.locator(".need", has_text="failed")).to_have_count(0)
    live.server.stop()
    try:
        down = page.locator(".need", has_text="failed")
        expect(down.first).to_contain_text("PostgreSQL", timeout=60_000)
        expect(down).to_have_count(1)
        expect(down.locator("[data-fact=more]")).to_have_count(1)
        page.screenshot(path=pictures / "live-server-down-light-1280.png", full_page=True)
        expect(page.locator("h1")).to_contain_text("need a person")
    finally:
        live.server.start()
    wait_for(live.is_quiet, "quiet")
    expect(page.locator(".need", has_text="failed")).to_have_count(0, timeout=60_000)
