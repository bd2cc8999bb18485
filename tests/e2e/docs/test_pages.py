"""The blocks of each page run, in their order, and leave tables that are equal to their queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from streamtables.demo.postgres_server import running_server
from tests.e2e.docs.blocks import all_blocks
from tests.e2e.docs.page import LANGUAGES, Way, opened, pieces_of
from tests.e2e.docs.stages import STAGES

if TYPE_CHECKING:
    from streamtables.engine.session import SparkSessions

SHOP = """
    CREATE TABLE customers (customer_id int PRIMARY KEY, name text);
    CREATE TABLE orders (order_id int PRIMARY KEY, customer_id int, price numeric);
    INSERT INTO customers VALUES (1, 'ann'), (2, 'bob');
    INSERT INTO orders VALUES (1, 1, 5.25), (2, 1, 7), (3, 2, 1.5);
"""
WITH_A_SERVER = {"docs/postgresql.md"}
RUNNING = [
    (page, way)
    for way in LANGUAGES
    for page in sorted({block.page for block in all_blocks()})
    if pieces_of(page, way)
]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "way"), [item for item in RUNNING if item[0] not in WITH_A_SERVER]
)
def test_a_page_runs(
    name: str,
    way: Way,
    spark_sessions: SparkSessions,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    with opened(name, way, tmp_path, spark_sessions, monkeypatch) as page:
        STAGES.get(name, lambda _: None)(page)
        assert page.run() > 0
        page.assert_equal()


@pytest.mark.spark
@pytest.mark.postgres
@pytest.mark.parametrize("way", LANGUAGES)
def test_the_page_of_postgresql_runs(
    way: Way, spark_sessions: SparkSessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with running_server() as server, psycopg.connect(server.url, autocommit=True) as shop:
        shop.execute(SHOP)
        monkeypatch.setenv("SHOP_URL", server.url)
        with opened("docs/postgresql.md", way, tmp_path, spark_sessions, monkeypatch) as page:
            assert page.run() > 0
            page.assert_equal()


def test_every_stage_is_that_of_a_page_that_runs():
    assert STAGES.keys() <= {page for page, _ in RUNNING}
