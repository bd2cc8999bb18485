"""A served warehouse and a browser: Debian's Chromium, driven by Playwright, offline."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import sin
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from streamtables.web import app as web_app
from streamtables.web.lag_samples import LagSamples
from streamtables.web.serving import Address, Opened, served_beside
from tests.support.web_warehouse import WebWarehouse, open_web_warehouse

NAMES = ("chromium", "chromium-browser", "google-chrome")
PICTURES = "STREAMTABLES_TEST_PICTURES"


@dataclass(frozen=True)
class Served:
    """A warehouse with its pages."""

    shop: WebWarehouse
    url: str
    token: str


@dataclass
class Watched:
    """A page, and what went wrong in it."""

    page: Page
    url: str
    faults: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def open(self, address: str) -> Page:
        """Open one of our pages, and wait until it follows what happens."""
        self.page.goto(self.url + address.lstrip("/"))
        self.page.wait_for_selector("#live.on")
        return self.page

    def hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.type}: {message.text}")

    def see(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:")):
            self.elsewhere.append(request.url)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.fail(
            "the tests of the pages need a browser: install chromium (Debian: apt-get install chromium)",
            pytrace=False,
        )
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=arguments)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    shop = open_web_warehouse(tmp_path_factory.mktemp("pages"))
    told: list[Opened] = []
    patch = pytest.MonkeyPatch()
    patch.setattr(web_app, "LagSamples", lambda: an_hour_of_samples(shop))
    with served_beside(shop.db, Address(port=0), told.append):
        token = told[0].token
        assert token is not None
        yield Served(shop, told[0].url, token)
    patch.undo()
    shop.db.close()


def an_hour_of_samples(shop: WebWarehouse) -> LagSamples:
    """Return what a server that had run for an hour would have sampled."""
    samples, now = LagSamples(), datetime.now(UTC)
    lags = {lag.name: lag for lag in shop.db.lags()}
    revenue, large = lags["sales.revenue"], lags["sales.large"]
    for number in range(600, 0, -1):
        behind = [
            replace(revenue, lag_seconds=float((600 - number) * 6 % 180)),
            replace(large, lag_seconds=25 + 15 * sin(number / 40)),
        ]
        samples.add(behind, now - timedelta(seconds=6 * number))
    return samples


@pytest.fixture
def watched(browser: Browser, served: Served) -> Iterator[Watched]:
    context = browser.new_context(
        viewport={"width": 1280, "height": 850}, timezone_id="America/New_York", locale="en-GB"
    )
    found = Watched(context.new_page(), served.url)
    found.page.on("console", found.hear)
    found.page.on("pageerror", lambda error: found.faults.append(str(error)))
    found.page.on("request", found.see)
    yield found
    context.close()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the pictures: the one that a variable names, else one that goes."""
    named = os.environ.get(PICTURES)
    folder = Path(named) if named else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
