"""The pages of a system that runs: PostgreSQL, thirty tables, and changes that never pause."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, expect

from streamtables.demo.postgres_server import running_server
from tests.e2e.web.conftest import Watched
from tests.e2e.web.test_browser import serious_faults
from tests.support.delta_tables import DeltaTableFile
from tests.support.leaders import wait_for
from tests.support.live_system import QUERIES, SCHEMA, VISITS
from tests.unit.observe.scraped import scraped

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STARTS_WITHIN = 400.0
SETTINGS = {
    "STREAMTABLES_SPARK_MASTER": "local[2]",
    "STREAMTABLES_SPARK_DRIVER_MEMORY": "2g",
    "STREAMTABLES_POLL_SECONDS": "0.2",
}
PAGES = {
    "overview": "/",
    "graph": "/graph",
    "table": "/tables/shop.revenue",
    "first-rows": "/tables/top.regions",
    "sources": "/sources",
    "workers": "/workers",
    "events": "/events",
    "sql": "/sql",
}
OF_POSTGRES = ("capture_waiting_rows", "cdc_lag_p50_seconds", "wal_lag_bytes")


@dataclass
class Live:
    """The system, and somebody who writes to it."""

    url: str
    token: str
    postgres: str
    visits: DeltaTableFile
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
        with psycopg.connect(self.postgres) as connection:
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

    def is_quiet(self) -> bool:
        """Whether every table has all that there is."""
        lags = self.api("lags")
        return len(lags) == len(QUERIES) and all(lag["lag_seconds"] == 0 for lag in lags)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("live")
    visits = DeltaTableFile(
        folder / "visits", VISITS, [(n, n % 20, f"page {n % 5}") for n in range(60)]
    )
    with running_server() as server:
        with psycopg.connect(server.url) as connection:
            connection.execute(SCHEMA)
        command = [sys.executable, "-m", "tests.support.live_system"]
        command += [str(folder / "warehouse"), str(visits.path), server.url]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                command, env={**os.environ, **SETTINGS}, stdout=subprocess.PIPE, stderr=log
            )
        try:
            url, token = _told(process, folder / "log")
            yield Live(url, token, server.url, visits, count())
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


def test_every_page_holds_while_changes_flow(
    browser: Browser, live: Live, watched: Watched, pictures: Path
):
    with live.writing():
        for name, address in PAGES.items():
            page = watched.open(address)
            expect(page.locator("h1")).to_be_visible()
            page.wait_for_timeout(1_000)
            assert serious_faults(page) == []
            page.screenshot(path=pictures / f"live-{name}.png", full_page=True)
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


def test_what_the_pages_show_is_what_the_api_says(live: Live, watched: Watched):
    wait_for(live.is_quiet, "quiet")
    page = watched.open("/")
    shown = {
        str(row.get_attribute("data-name")): row.locator("[data-fact=rows]").inner_text()
        for row in page.locator("#tables-body tr").all()
    }
    told = {item["name"]: f"{item['rows']:,}" for item in live.api("status")}
    assert shown == told
    assert len(shown) == len(QUERIES)
    page = watched.open("/sources")
    for source in live.api("sources"):
        expect(page.locator(f"#source-{source['name']}")).to_contain_text(source["kind"])
    page = watched.open("/graph")
    expect(page.locator(".node")).to_have_count(len(QUERIES) + len(live.api("sources")))


def test_metrics_of_capture_are_in_the_scrape(live: Live):
    live.write()
    wait_for(live.is_quiet, "quiet")
    found = live.metrics()
    missing = [name for name in OF_POSTGRES if not any(key.startswith(name) for key in found)]
    assert missing == []
    assert found["tables{state=active}"] == len(QUERIES)


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
