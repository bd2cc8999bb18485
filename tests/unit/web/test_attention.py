"""What the overview says needs a person: in which order, with which remedy, and alike ones once."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from streamtables.web.attention import Need, together
from streamtables.web.pages.overview import health
from tests.support.web_warehouse import WebWarehouse
from tests.unit.web.conftest import shared
from tests.unit.web.test_pages import text_of


def needs_of(client: TestClient) -> list[str]:
    """Return the rows under "Needs attention", as text."""
    page = client.get("/").text
    rows = re.findall(r'<tr class="need">(.*?)</tr>', page, re.DOTALL)
    return [text_of(f"<main>{row}</main>").lstrip("> ") for row in rows]


def health_of(client: TestClient) -> str:
    found = re.search(r'data-fact="health">([^<]*)<', client.get("/").text)
    assert found is not None
    return found[1]


def test_the_worst_comes_first(client: TestClient):
    words = [
        re.search(r"stopped|failed|late|paused|not incremental", row) for row in needs_of(client)
    ]
    assert [found and found[0] for found in words] == [
        "stopped", "failed", "late", "paused", "not incremental",
    ]  # fmt: skip


def test_schedules_that_nobody_follows_are_said_first(
    own_client: TestClient, own_shop: WebWarehouse
):
    own_shop.lead_no_more()
    assert "no process keeps the tables fresh" in health_of(own_client)
    first = needs_of(own_client)[0]
    assert first.startswith("all no leader no process keeps the tables fresh")
    assert "streamtables run" in first
    own_shop.lead()
    shared(own_client).facts.forget()
    assert "no process" not in health_of(own_client)


def test_tables_that_wait_for_a_person_anyway_need_no_leader(
    own_client: TestClient, own_shop: WebWarehouse
):
    for status in own_shop.db.status():
        if status.schedule not in ("manual", "calculated"):
            own_shop.db.drop(status.name, cascade=True, if_exists=True)
    own_shop.lead_no_more()
    assert "no process" not in own_client.get("/").text


def test_what_was_recomputed_is_told_on_the_overview_and_with_its_reason_on_its_page(
    own_client: TestClient, own_shop: WebWarehouse
):
    reason = "20 changed rows; predicted: following them 4.1 s, a full refresh 0.9 s"
    rows = {
        "sales.revenue": pa.table({"region": ["north"], "total": [1.0], "orders": [1]}),
        "sales.regions": pa.table({"id": [1]}),
    }
    for name, stored in rows.items():
        own_shop.fill(
            name, stored, mode="full", reason_code="full-was-faster", reason_text=reason,
            notes=("its rows came as many files",), started_at=datetime.now(UTC),
        )  # fmt: skip
    shared(own_client).facts.forget()
    [row] = [row for row in needs_of(own_client) if "recomputed" in row]
    assert row.startswith("sales.regions , sales.revenue recomputed")
    assert "predicted to be faster than following its changes" in row
    text = text_of(own_client.get("/tables/sales.revenue").text)
    assert "Recomputed in full" in text
    assert f"{reason}." in text
    assert "its rows came as many files" in text
    own_shop.fill("sales.revenue", rows["sales.revenue"], started_at=datetime.now(UTC))
    shared(own_client).facts.forget()
    assert "sales.revenue recomputed" not in " ".join(needs_of(own_client))


def test_what_is_tried_again_by_itself_asks_for_the_cause_alone(
    own_client: TestClient, own_shop: WebWarehouse
):
    [row] = [row for row in needs_of(own_client) if row.startswith("finance.totals")]
    assert row.endswith("See to the cause (ST-1407); it is tried again by itself.")
    own_shop.db.alter("finance.totals", schedule="manual")
    shared(own_client).facts.forget()
    [row] = [row for row in needs_of(own_client) if row.startswith("finance.totals")]
    assert row.endswith("See to the cause (ST-1407), then refresh it. Refresh")


def test_one_cause_of_many_tables_is_one_row():
    down = [
        Need((f"t{n}",), "failed", "failed", "the server is away", "See to it.") for n in range(5)
    ]
    other = Need(("u",), "failed", "failed", "another cause", "See to it.")
    found = together([*down[:2], other, *down[2:]])
    assert [need.tables for need in found] == [("t0", "t1", "t2", "t3", "t4"), ("u",)]


def test_a_remedy_that_is_a_request_is_a_button(client: TestClient):
    page = client.get("/").text
    assert 'data-post="/api/refresh/finance.promised"' in page
    resume = 'data-post="/api/resume" data-body="{&#34;name&#34;: &#34;people.customers&#34;}"'
    assert resume in page


@pytest.mark.parametrize(
    ("counts", "unled", "line"),
    [
        ({"fresh": 9}, False, "All is well: 9 of 9 tables are fresh."),
        ({"fresh": 8, "paused": 1}, False, "All is well: 8 of 9 tables are fresh, 1 paused."),
        ({"fresh": 8, "behind": 1}, False, "Nothing is wrong; 1 of 9 tables is waiting for a refresh."),
        ({"fresh": 9}, True, "No process keeps the tables fresh."),
        ({"late": 2}, False, "2 of 9 tables are later than promised."),
        ({"failed": 1}, False, "1 of 9 tables needs a person."),
        ({"failed": 1, "stopped": 1, "late": 2}, True,
         "2 of 9 tables need a person, 2 more are later than promised, no process keeps the tables fresh."),
    ],
)  # fmt: skip
def test_health_is_one_line(counts: dict[str, int], unled: bool, line: str):
    from collections import Counter

    assert health(Counter(counts), 9, unled=unled)[1] == line  # type: ignore[arg-type]  # words


def test_what_stands_still_has_no_next_time(own_client: TestClient, own_shop: WebWarehouse):
    own_shop.db.pause("sales.revenue", "a test")
    page = own_client.get("/").text
    row = page.partition('data-name="sales.revenue"')[2].partition("</tr>")[0]
    assert re.search(r'data-fact="next">\s*–', row)
