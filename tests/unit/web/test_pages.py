"""Every page opens, and every number on it is the one that the API gives."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from streamtables.errors import UnknownNameError
from streamtables.web.conditions import WORDS, condition_of
from streamtables.web.rendering import PAGES, render, seconds
from tests.support.web_warehouse import WebWarehouse
from tests.unit.web.conftest import TOKEN, shared

ADDRESSES = [address for address, _ in PAGES] + [
    "/tables/sales.revenue",
    "/tables/people.never",
    "/tables/people.sampled",
    "/tables/sales.revenue/rows",
    "/graph?q=revenue",
    "/graph?view=closed",
    "/graph?view=closed&ns=sales",
    "/events?q=gate",
    "/sql?query=SELECT+region+FROM+customers",
    "/sql?query=SELECT+nothing+FROM+nowhere",
]


def text_of(html: str) -> str:
    """Return what a reader sees, spaces made one."""
    body = html.partition("<main")[2].partition("</main>")[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def row_of(html: str, name: str) -> dict[str, str]:
    """Return the facts of one table's row of the overview."""
    row = re.search(rf'<tr data-name="{re.escape(name)}">(.*?)</tr>', html, re.DOTALL)
    assert row is not None
    return dict(re.findall(r'data-fact="(\w+)">([^<]*)<', row[1]))


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_opens_without_anything_from_elsewhere(client: TestClient, address: str):
    answer = client.get(address, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    # The name of the language of pictures is an address, and nothing that is fetched.
    found = answer.text.replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in found
    assert "https://" not in found
    assert "<style" not in found
    assert " style=" not in found
    assert not re.search(r"<script(?! src)", found)


def test_the_overview_counts_tables_by_condition(client: TestClient, shop: WebWarehouse):
    lags = {lag.name: lag for lag in shop.db.lags()}
    expected = dict.fromkeys(WORDS, 0)
    for status in shop.db.status():
        expected[condition_of(status, lags[status.name])] += 1
    page = client.get("/").text
    tiles = re.findall(r'data-of="([\w-]+)"><span class="count" data-fact="tables">(\d+)<', page)
    assert {word: int(count) for word, count in tiles} == expected
    assert set(expected.values()) > {0}
    assert "2 of 9 tables need a person, 1 more is later than promised." in page


def test_each_row_of_the_overview_is_what_status_says(client: TestClient, shop: WebWarehouse):
    page = client.get("/").text
    for status in shop.db.status():
        shown = row_of(page, status.name)
        assert shown["rows"] == ("–" if status.rows is None else f"{status.rows:,}"), status.name
    assert row_of(page, "sales.revenue")["lag"] == "0 s"
    assert row_of(page, "people.never")["lag"] == "–"


def test_the_overview_says_what_needs_a_person_and_the_remedy(client: TestClient):
    text = text_of(client.get("/").text)
    assert "people.customers stopped its fuse has blown: 1,204,331 changed rows wait" in text
    assert "Remove the cause, then resume it." in text
    assert "finance.totals failed Spark cannot add the values: the sum overflows" in text
    assert "(ST-1407)" in text
    assert "drafts.notes paused the notes are being cleaned up" in text
    assert "Resume it when the reason is over." in text
    assert "finance.promised late its lag is " in text
    assert "Nobody refreshes it: its schedule is manual." in text
    assert "kept by full refreshes: the query cannot be maintained incrementally" in text
    assert "Use mode 'full', or take this part out of the query." in text


def test_the_overview_counts_refreshes_of_the_last_hour(client: TestClient, shop: WebWarehouse):
    count = sum(item.refreshes for item in shop.db.refreshes_per_minute(60))
    assert count > 10
    assert f"{count} in the last hour" in text_of(client.get("/").text)


def test_the_page_of_a_table_shows_what_the_api_says(client: TestClient, shop: WebWarehouse):
    page = client.get("/tables/sales.revenue").text
    status = next(s for s in shop.db.status() if s.name == "sales.revenue")
    facts = dict(re.findall(r'data-fact="(\w+)">([^<]*)<', page.partition("<h2>Definition")[0]))
    assert facts["rows"] == f"{status.rows}"
    assert facts["version"] == f"{status.version}"
    assert facts["lag"] == "0 s"
    assert facts["option"] == "5 minutes"
    history = shop.db.history("sales.revenue", 25)
    assert re.findall(r'data-refresh="([\w-]+)"', page) == [record.id for record in history]
    text = text_of(page)
    first = history[0]
    assert first.reason_text in text
    assert (
        f"{first.rows_in} {first.rows_inserted} {first.rows_deleted} {seconds(first.seconds)}"
        in text
    )
    for name in ("pins", "changes", "compute", "commit"):
        assert f"{name} " in text
    assert 'class="k">SELECT</span>' in page
    assert "Kept by stored state" in text
    assert 'class="plan"' in page
    delta = str(shop.db.explain("sales.revenue").data["delta_sql"])
    assert delta.replace(" ", "").replace("\n", "") in text.replace(" ", "")


def test_steps_are_as_wide_as_their_seconds(client: TestClient, shop: WebWarehouse):
    page = client.get("/tables/sales.revenue").text
    history = shop.db.history("sales.revenue", 25)
    longest = max(record.seconds for record in history)
    row = page.partition(f'data-refresh="{history[0].id}"')[2].partition("</tr>")[0]
    widths = [float(w) for w in re.findall(r'class="step-\d"[^>]*width="([\d.]+)"', row)]
    expected = [max(step.seconds / longest * 220, 0.4) for step in history[0].steps]
    assert widths == pytest.approx(expected, abs=0.01)


def test_a_table_that_is_refused_shows_the_place(client: TestClient):
    text = text_of(client.get("/tables/people.sampled").text)
    assert "ST-1201 the query cannot be maintained incrementally" in text
    assert "^^^^" in text


def test_rows_are_shown_and_a_table_without_rows_says_so(client: TestClient):
    assert "north 12.5 2 south 3.25 2" in text_of(client.get("/tables/sales.revenue/rows").text)
    empty = text_of(client.get("/tables/people.never/rows").text)
    assert 'stream table "people.never" has not been filled yet ST-1405' in empty


def test_a_name_is_found_whatever_its_case(client: TestClient):
    assert client.get("/tables/SALES.Revenue").status_code == 200


def test_an_unknown_table_is_a_page_with_404(client: TestClient):
    answer = client.get("/tables/sales.revenu", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    text = text_of(answer.text)
    assert 'There is no stream table "sales.revenu"' in text
    assert 'Did you mean "sales.revenue"?' in text


def test_what_people_write_is_escaped(own_client: TestClient, own_shop: WebWarehouse):
    own_shop.db.pause("sales.large", "<script>alert(1)</script>")
    own_shop.db.create("evil", "SELECT '<img src=x onerror=alert(1)>' AS a FROM orders")
    for address in ("/", "/tables/sales.large", "/tables/evil", "/graph?q=%3Cscript%3E", "/events"):
        page = own_client.get(address).text
        assert "<script>alert" not in page, address
        assert "<img src=x" not in page, address
        assert 'value="<script>' not in page, address


def test_sources_and_workers_show_what_the_api_says(client: TestClient, shop: WebWarehouse):
    text = text_of(client.get("/sources").text)
    for source in shop.db.sources():
        assert f"{source.name} {source.location} {source.kind}" in text
    page = client.get("/workers").text
    facts = dict(re.findall(r'data-fact="(\w+)">([^<]*)<', page))
    summary, scheduler = shop.db.cluster_worker_summary(), shop.db.scheduler_diagnostics()
    expected = {
        "slots": str(summary["slots"]),
        "running": str(summary["running"]),
        "queued": str(summary["parallel_queue_depth"]),
        "generation": str(scheduler["generation"]),
    }
    assert {name: facts[name] for name in expected} == expected


def test_a_closed_gate_and_a_pause_of_everything_are_on_the_pages(
    own_client: TestClient, own_shop: WebWarehouse
):
    own_shop.db.close_gate("orders", "the nightly load runs")
    own_shop.db.pause(None, "a move of the disks")
    text = text_of(own_client.get("/").text)
    assert "The gate of orders is closed: the nightly load runs" in text
    assert "Everything is paused: a move of the disks" in text
    assert "the nightly load runs" in text_of(own_client.get("/sources").text)


def test_events_are_searched(client: TestClient):
    assert "host:1 leads" in text_of(client.get("/events").text)
    found = text_of(client.get("/events?q=gate").text)
    assert "it waits for the gate of orders" in found
    assert "host:1 leads" not in found


def test_sql_support_lists_every_operator_and_tries_a_query(client: TestClient, shop: WebWarehouse):
    text = text_of(client.get("/sql").text)
    support = shop.db.sql_support()
    for operator in support.operators:
        assert f"{operator.name} {operator.kind} {operator.summary}" in text
    assert " ".join(support.aggregates) in text
    tried = client.get(
        "/sql", params={"query": "SELECT region, count(*) AS n FROM customers GROUP BY 1"}
    )
    assert "incremental kept by stored state" in text_of(tried.text)
    wrong = client.get("/sql", params={"query": "SELECT (FROM"})
    assert "ST-1101" in text_of(wrong.text)


def test_every_class_of_a_plan_has_its_colour_in_our_style_sheet(client: TestClient):
    from streamtables.compiler.explaining.picture import _STYLE

    sheet = client.get("/static/app.css").text
    for name in re.findall(r"^\.(\w+) ", _STYLE, re.MULTILINE):
        assert f".plan .{name} " in sheet, name


def test_a_table_that_is_newer_than_what_is_kept_has_its_page(
    own_client: TestClient, own_shop: WebWarehouse
):
    facts = shared(own_client).facts
    kept = facts.status(), facts.lags()
    own_shop.db.create("newer", "SELECT id FROM orders")
    facts.__dict__.update(status=lambda: kept[0], lags=lambda: kept[1])
    assert "newer" in text_of(own_client.get("/tables/newer").text)


def test_many_readers_of_the_overview_have_it_drawn_once(
    own_client: TestClient, own_shop: WebWarehouse, monkeypatch: pytest.MonkeyPatch
):
    drawn: list[str] = []

    def counted(template: str, *given: Any, **values: Any) -> str:
        drawn.append(template)
        return render(template, *given, **values)

    monkeypatch.setattr("streamtables.web.pages.overview.render", counted)
    facts = shared(own_client).facts
    facts.forget()
    facts.clock = lambda: 0.0
    assert len({own_client.get("/").text for _ in range(5)}) == 1
    assert drawn == ["overview.html"]
    # Whoever may change something has a page of its own, and so has whoever searches.
    own_client.post("/api/log_in", json={"token": TOKEN}, headers={"Origin": "http://localhost"})
    assert 'data-unlocked="yes"' in own_client.get("/").text
    assert 'data-unlocked="yes"' in own_client.get("/?q=sales").text
    own_client.cookies.clear()
    assert 'data-unlocked="no"' in own_client.get("/").text


def test_many_refused_tables_are_not_all_compiled(
    own_client: TestClient, own_shop: WebWarehouse, monkeypatch: pytest.MonkeyPatch
):
    asked: list[str] = []
    explain = own_shop.db.explain

    def counted(name: str):
        asked.append(name)
        return explain(name)

    monkeypatch.setattr(own_shop.db, "explain", counted)
    monkeypatch.setattr("streamtables.web.attention._EXPLAINED_AT_MOST", 1)
    own_shop.db.create("also", "SELECT id, uuid() AS u FROM customers")
    own_shop.fill("also", pa.table({"id": [1]}), reason_code="not-incremental",
                  reason_text='"uuid" may give another answer each time')  # fmt: skip
    shared(own_client).facts.forget()
    text = text_of(own_client.get("/").text)
    assert len(asked) == 1
    assert "people.sampled" in text
    assert "also" in text
    assert "kept by full refreshes: " in text


def test_a_query_that_no_longer_compiles_does_not_take_the_pages_away(
    own_client: TestClient, own_shop: WebWarehouse, monkeypatch: pytest.MonkeyPatch
):
    def broken(name: str):
        raise UnknownNameError('there is no column "gone"', hint="Alter the query.")

    monkeypatch.setattr(own_shop.db, "explain", broken)
    assert "people.sampled" in text_of(own_client.get("/").text)
    text = text_of(own_client.get("/tables/people.sampled").text)
    assert 'ST-1102: there is no column "gone"' in text
