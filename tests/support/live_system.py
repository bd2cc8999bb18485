"""A process that keeps thirty tables over PostgreSQL and Delta fresh, and serves their pages.

`python -m tests.support.live_system WAREHOUSE VISITS POSTGRES_URL`; it prints the address of the pages and
the token, one line each, once every table has rows.
"""

from __future__ import annotations

import signal
import sys
from threading import Thread

import streamtables
from streamtables.api import StreamTables
from streamtables.web.serving import Address, Opened, served_beside

SCHEMA = """
CREATE TABLE orders (order_id bigint PRIMARY KEY, customer bigint NOT NULL, region text NOT NULL);
CREATE TABLE items (item_id bigint PRIMARY KEY, order_id bigint NOT NULL, price numeric(10,2) NOT NULL);
INSERT INTO orders SELECT g, g % 50, 'region ' || g % 7 FROM generate_series(1, 500) g;
INSERT INTO items SELECT g, 1 + g % 500, g % 90 + 0.5 FROM generate_series(1, 1500) g;
"""
VISITS = {"id": "bigint", "customer": "bigint", "page": "string"}

_BASE = {
    "shop.revenue": "SELECT region, sum(price) AS total, count(*) AS n "
    "FROM orders JOIN items USING (order_id) GROUP BY region",
    "shop.customers": "SELECT customer, count(*) AS orders FROM orders GROUP BY customer",
    "shop.dear": "SELECT item_id, order_id, price FROM items WHERE price > 80",
    "shop.largest": "SELECT order_id, max(price) AS largest FROM items GROUP BY order_id",
    "web.pages": "SELECT page, count(*) AS n FROM visits GROUP BY page",
    "web.visitors": "SELECT DISTINCT customer FROM visits",
    "web.silent": "SELECT order_id FROM orders o WHERE NOT EXISTS "
    "(SELECT 1 FROM visits v WHERE v.customer = o.customer)",
    "web.bought": "SELECT v.page, count(DISTINCT o.order_id) AS orders "
    "FROM visits v JOIN orders o ON o.customer = v.customer GROUP BY v.page",
    "top.regions": "SELECT region, total FROM shop.revenue ORDER BY total DESC LIMIT 3",
    "top.rank": "SELECT region, rank() OVER (ORDER BY total DESC) AS place FROM shop.revenue",
}
QUERIES = _BASE | {
    f"region_{n}.orders": f"SELECT order_id, customer FROM orders WHERE region = 'region {n % 7}'"
    for n in range(20)
}
"""Thirty tables by their names; each follows changes."""


def main(warehouse: str, visits: str, url: str) -> None:
    """Define all of it, serve its pages, and keep it fresh until somebody ends the process."""
    with streamtables.connect(warehouse) as db:
        define(db, visits, url)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: Thread(target=db.stop, daemon=True).start())
        db.refresh_all()
        with served_beside(db, Address(port=0), told):
            db.run()


def define(db: StreamTables, visits: str, url: str) -> None:
    """Add the sources and create the tables."""
    db.add_source("visits", path=visits, key=["id"])
    for table in ("orders", "items"):
        db.add_source(table, postgres=url, table=f"public.{table}")
    for name, query in QUERIES.items():
        db.create(name, query, schedule="on change")


def told(opened: Opened) -> None:
    """Print where the pages are."""
    print(opened.url, opened.token, sep="\n", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
