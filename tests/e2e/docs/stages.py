"""What each page finds when it begins: the tables that it speaks of, and what stands before it.

A page without a function here finds an empty warehouse.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Timer

from IPython.core.interactiveshell import InteractiveShell

import streamtables
from tests.e2e.docs.blocks import all_blocks
from tests.e2e.docs.page import Page

Stage = Callable[[Page], None]
STAGES: dict[str, Stage] = {}

ORDERS = {"order_id": "bigint", "customer_id": "bigint", "city": "string", "amount": "bigint"}
ORDER_ROWS = [(1, 1, "Oslo", 900), (2, 1, "Oslo", 700), (3, 2, "Bern", 20)]
REVENUE = "SELECT city, sum(amount) AS total FROM orders GROUP BY city"


def stage(page: str) -> Callable[[Stage], Stage]:
    """Have a function prepare a page."""

    def known(function: Stage) -> Stage:
        STAGES[page] = function
        return function

    return known


@stage("README.md")
def _readme(page: Page) -> None:
    # Its first block did so.
    page.names["streamtables"] = streamtables
    page.table("data/events", {"id": "bigint", "day": "string"}, (1, "monday"), (2, "tuesday"))


@stage("docs/altering.md")
def _altering(page: Page) -> None:
    page.source("orders", {"id": "bigint", "amount": "bigint"}, (1, 5), (2, 7))
    page.filled("base", "SELECT id, amount FROM orders")
    page.write("base.sql", "SELECT id FROM orders")
    page.write("shop/base.sql", "CREATE STREAM TABLE base AS SELECT amount FROM orders")


@stage("docs/clusters.md")
def _clusters(page: Page) -> None:
    if page.way == "blocks":
        page.source("orders", ORDERS, *ORDER_ROWS)
        page.filled("revenue", REVENUE)


@stage("docs/explain.md")
def _explain(page: Page) -> None:
    orders = {"id": "bigint", "customer": "bigint", "amount": "decimal(12,2)"}
    page.source("orders", orders, (1, 1, "5.00"), (2, 2, "7.50"), key="id")
    page.source(
        "customers", {"id": "bigint", "region": "string"}, (1, "north"), (2, "south"), key="id"
    )
    [query] = [b.text for b in all_blocks() if b.page == page.name and b.language == "sql"]
    page.db.create("sales", query)


@stage("docs/files.md")
def _files(page: Page) -> None:
    page.write("landing/orders/monday.csv", "id;city\n1;Oslo\n2;Bergen\n")


@stage("docs/guide.md")
def _guide(page: Page) -> None:
    page.table("data/orders", ORDERS, *ORDER_ROWS)
    page.write("big.sql", "SELECT * FROM revenue WHERE total > 1000")
    if page.way == "blocks":
        page.source("readings", {"sensor": "string", "value": "double"}, ("a", 1.5), ("a", 2.5))
        spark = page.db.spark
        spark.sql(f"CREATE DATABASE shop LOCATION '{page.folder / 'shop_tables'}'")
        page.at_end(lambda: spark.sql("DROP DATABASE shop CASCADE"))
        spark.sql("CREATE TABLE shop.customers (id BIGINT, name STRING) USING delta")


@stage("docs/immediate.md")
def _immediate(page: Page) -> None:
    orders = {"id": "bigint", "region": "string", "amount": "bigint"}
    page.source("orders", orders, (1, "north", 5), (2, "south", 3), key="id")


@stage("docs/notebooks.md")
def _notebooks(page: Page) -> None:
    page.table("lake/orders", ORDERS, *ORDER_ROWS)
    shell = InteractiveShell.instance()
    page.names["get_ipython"] = lambda: shell
    page.at_end(InteractiveShell.clear_instance)
    page.at_end(shell.reset)


@stage("docs/operations.md")
def _operations(page: Page) -> None:
    page.source("orders", ORDERS, *ORDER_ROWS)
    page.filled("revenue", REVENUE)
    page.filled("by_region", "SELECT customer_id AS region, count(*) AS n FROM orders GROUP BY 1")


@stage("docs/projects.md")
def _projects(page: Page) -> None:
    page.write("pipeline/spark-pipeline.yml", PIPELINE)
    page.write("pipeline/transformations/views.sql", VIEWS)
    # Tables were written by the import, and a table of the other environment is not there yet.
    page.exit_codes["streamtables plan --detailed-exitcode --json"] = 1


PIPELINE = "name: shop\nlibraries:\n  - glob:\n      include: transformations/**\n"
VIEWS = "CREATE MATERIALIZED VIEW cities AS SELECT city, count(*) AS n FROM orders GROUP BY city;\n"


@stage("docs/publications.md")
def _publications(page: Page) -> None:
    if page.way == "commands":
        page.source("orders", ORDERS, *ORDER_ROWS)
        page.filled("large", "SELECT order_id, amount FROM orders WHERE amount > 4")
        page.db.publish("large")


@stage("docs/scheduling.md")
def _scheduling(page: Page) -> None:
    made = {**ORDERS, "day": "string"}
    page.source("orders", made, *[(*row, "monday") for row in ORDER_ROWS])
    if page.way == "commands":
        page.source("lines", ORDERS, *ORDER_ROWS)
        page.filled("revenue", REVENUE)
        page.db.create("sales.cities", "SELECT DISTINCT city FROM orders")
    else:
        # The page stops it from another thread.
        timer = Timer(1.0, page.db.stop)
        page.at_end(timer.join)
        timer.start()


@stage("docs/views_and_functions.md")
def _views_and_functions(page: Page) -> None:
    orders = {"id": "bigint", "city": "string", "amount": "decimal(12,2)", "status": "string"}
    page.source("orders", orders, (1, "Oslo", "5.00", "paid"), (2, "Bern", "7.00", "open"))
