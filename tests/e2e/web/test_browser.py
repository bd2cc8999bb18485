"""The pages in a browser: content, live updates, faults, contrast, keyboard, pictures."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

import pyarrow as pa
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from streamtables.api import StreamTables
from streamtables.refresh.results import Reason, Refresh
from streamtables.web.serving import Address, Opened, served_beside
from tests.e2e.web.conftest import Served, Watched
from tests.support.large_catalog import fill_catalog

pytestmark = pytest.mark.browser

PAGES = {
    "overview": ("/", "2 of 9 tables need a person, 1 more is later than promised."),
    "graph": ("/graph", "Graph"),
    "table": ("/tables/sales.revenue", "sales.revenue"),
    "refused": ("/tables/people.sampled", "people.sampled"),
    "sources": ("/sources", "Sources"),
    "workers": ("/workers", "Workers"),
    "events": ("/events", "Events"),
    "sql": (
        "/sql?query=SELECT+region,+count(*)+AS+n+FROM+customers+GROUP+BY+region",
        "SQL support",
    ),
}
WIDTHS = (1280, 390)
SERIOUS = ("serious", "critical")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_fault_and_without_the_world(watched: Watched, name: str):
    address, heading = PAGES[name]
    page = watched.open(address)
    expect(page.locator("h1")).to_contain_text(heading)
    page.wait_for_timeout(300)
    assert watched.faults == []
    assert watched.elsewhere == []


def test_the_overview_shows_every_table_and_the_page_of_one_is_a_click_away(watched: Watched):
    page = watched.open("/")
    expect(page.locator("#tables-body tr")).to_have_count(9)
    page.locator("#tables-body").get_by_role("link", name="sales.revenue").click()
    expect(page.locator("h1")).to_contain_text("sales.revenue")
    expect(page.locator("[data-load] table")).to_contain_text("north")
    expect(page.locator("svg.plan")).to_be_visible()


def test_times_are_in_the_zone_of_the_reader(watched: Watched, served: Served):
    page = watched.open("/events")
    event = served.shop.db.events()[0]
    shown = page.locator("time").first
    assert shown.get_attribute("datetime") == event.at.isoformat()
    assert (shown.get_attribute("title") or "").endswith("America/New_York")
    hour = page.evaluate(
        "iso => new Intl.DateTimeFormat('en-GB', {dateStyle: 'medium', timeStyle: 'medium',"
        " timeZone: 'America/New_York'}).format(new Date(iso))",
        event.at.isoformat(),
    )
    expect(shown).to_have_text(hour)


def test_a_refresh_shows_within_two_seconds_and_moves_nothing(watched: Watched, served: Served):
    page = watched.open("/tables/sales.revenue")
    before = place_of_the_facts(page)
    rows = pa.table({"region": ["north", "south"], "total": [1.0, 2.0], "orders": [1, 1]})
    done = served.shop.fill("sales.revenue", rows, reason_text="a change that a test made")
    start = monotonic()
    row = page.locator(f'[data-refresh="{done.id}"]')
    expect(row).to_contain_text("a change that a test made", timeout=2_000)
    took = monotonic() - start
    print(f"shown after {took:.2f} s")
    assert took < 2.0
    assert place_of_the_facts(page) == before
    assert watched.faults == []


def place_of_the_facts(page: Page) -> object:
    """Return where the facts stand, in one question: a part may be replaced between two."""
    script = "JSON.stringify(document.querySelector('[data-live=facts]').getBoundingClientRect())"
    return page.evaluate(script)


def test_the_overview_and_the_graph_follow_a_pause(watched: Watched, served: Served):
    page = watched.open("/")
    row = page.locator('#tables-body tr[data-name="sales.regions"]')
    expect(row).to_contain_text("fresh")
    served.shop.db.pause("sales.regions", "a test")
    try:
        expect(row).to_contain_text("paused", timeout=2_000)
        page = watched.open("/graph")
        node = page.locator('.node[data-name="sales.regions"]')
        expect(node).to_have_class("node table is-paused")
        served.shop.db.resume("sales.regions")
        expect(node).to_have_class("node table is-fresh", timeout=2_000)
    finally:
        served.shop.db.resume("sales.regions")


def test_a_leader_that_dies_is_seen_on_an_open_page(watched: Watched, served: Served):
    """Nothing happens any more that the page could be told of, so it looks by itself."""
    page = watched.open("/")
    expect(page.locator("h1")).not_to_contain_text("no process")
    served.shop.lead_no_more()
    try:
        expect(page.locator("h1")).to_contain_text(
            "no process keeps the tables fresh", timeout=9_000
        )
        expect(page.locator("[data-live=needs]")).to_contain_text("streamtables run")
    finally:
        served.shop.lead()


def test_an_update_keeps_the_filter_and_the_focus(watched: Watched, served: Served):
    page = watched.open("/")
    field = page.locator("#tables-filter")
    field.fill("finance")
    expect(page.locator("#tables-body tr:visible")).to_have_count(2)
    served.shop.note("finance.promised", reason_text="another")
    served.shop.db.pause("sales.large", "a test of the filter")
    try:
        expect(page.locator("[data-live=needs]")).to_contain_text(
            "a test of the filter", timeout=2_000
        )
        expect(field).to_have_value("finance")
        expect(field).to_be_focused()
        expect(page.locator("#tables-body tr:visible")).to_have_count(2)
    finally:
        served.shop.db.resume("sales.large")


def test_a_change_needs_the_token_and_its_result_is_shown(
    watched: Watched, served: Served, monkeypatch: pytest.MonkeyPatch
):
    def refresh(name: str, **_: object) -> Refresh:
        return Refresh(
            name, "differential", "applied", Reason("changes", "by a test"), 5, 1, seconds=0.2
        )

    monkeypatch.setattr(served.shop.db, "refresh", refresh)
    page = watched.open("/tables/sales.large")
    page.get_by_role("button", name="Refresh").click()
    dialog = page.locator("#unlock")
    expect(dialog).to_be_visible()
    page.locator("#token").fill("wrong")
    dialog.get_by_role("button", name="Unlock").click()
    expect(page.locator("#unlock-wrong")).to_have_text("this is not the token")
    page.locator("#token").fill(served.token)
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Refresh").click()
    expect(page.locator("[data-live=jobs]")).to_contain_text("+5 −1 rows in 200 ms", timeout=3_000)
    page.get_by_role("button", name="Lock").click()
    expect(page.locator("#lock")).to_have_text("Unlock")
    # The browser itself says that an answer was 401; nothing else may have gone wrong.
    assert [fault for fault in watched.faults if "401" not in fault] == []


def test_the_keyboard_reaches_everything(watched: Watched):
    page = watched.open("/")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")
    page = watched.open("/graph")
    page.locator('.node[data-name="sales.revenue"]').focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("sales.revenue")


def test_the_theme_is_switched_and_kept(watched: Watched):
    page = watched.open("/")

    def ground() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = ground()
    page.get_by_role("button", name="Theme").click()
    dark = ground()
    assert light != dark
    watched.open("/sources")
    assert ground() == dark


def test_a_search_in_the_graph_marks_and_then_shows_only_what_matches(watched: Watched):
    page = watched.open("/graph")
    page.locator("#graph-search").fill("revenue")
    expect(page.locator(".node.match")).to_have_count(1)
    expect(page.locator(".node.dim")).to_have_count(10)
    page.keyboard.press("Enter")
    expect(page.locator(".node")).to_have_count(5)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_serious_fault_of_access_and_a_picture_of_each_page(
    browser: Browser, served: Served, pictures: Path, scheme: str, width: int
):
    context = browser.new_context(
        viewport={"width": width, "height": 850}, color_scheme=scheme, locale="en-GB"  # type: ignore[arg-type]
    )  # fmt: skip
    faults: list[str] = []
    for name, (address, _) in PAGES.items():
        page = context.new_page()
        watched = Watched(page, served.url)
        watched.open(address)
        page.wait_for_timeout(200)
        faults += [f"{name}: {fault}" for fault in serious_faults(page)]
        faults += [f"{name}: {fault}" for fault in wider_than_its_screen(page)]
        page.screenshot(path=pictures / f"{name}-{scheme}-{width}.png", full_page=True)
        page.close()
    context.close()
    assert faults == []


def serious_faults(page: Page) -> list[str]:
    """Return what axe finds that keeps people out."""
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {node['html'][:120]} {node.get('failureSummary', '')[:200]}"
        for fault in found
        if fault["impact"] in SERIOUS
        for node in fault["nodes"]
    ]


def wider_than_its_screen(page: Page) -> list[str]:
    """Return by how much a page has to be scrolled to the side, where it has to."""
    wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return [f"wider than the screen by {wider}"] if wider > 0 else []


def test_a_thousand_tables_can_be_looked_at(browser: Browser, tmp_path: Path):
    told: list[Opened] = []
    with StreamTables(tmp_path / "warehouse") as db:
        fill_catalog(db)
        with served_beside(db, Address(port=0), told.append):
            page = browser.new_page()
            watched = Watched(page, told[0].url)
            page.on("console", watched.hear)
            watched.open("/graph")
            expect(page.locator(".node")).to_have_count(81)
            start = monotonic()
            watched.open("/graph?view=open")
            expect(page.locator(".node")).to_have_count(1_100)
            opened = monotonic() - start
            start = monotonic()
            page.locator("#graph-search").fill("table_0777")
            expect(page.locator(".node.match")).to_have_count(1)
            expect(page.locator(".node.match")).to_be_in_viewport()
            print(f"1,100 boxes after {opened:.2f} s, found after {monotonic() - start:.2f} s")
            assert watched.faults == []
            page.close()
