"""A process that keeps thirty tables over PostgreSQL and Delta fresh, and serves their pages.

`python -m tests.support.live_system WAREHOUSE VISITS MANAGERS POSTGRES_URL`; it prints the address of the
pages and the token, one line each, once every table has rows.  Beside the thirty stand a few in trouble,
as there are some everywhere.
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
CREATE TABLE notes (customer bigint, note text);
INSERT INTO notes SELECT g % 5, 'note ' || g FROM generate_series(1, 20) g;
INSERT INTO orders SELECT g, g % 50, 'region ' || g % 7 FROM generate_series(1, 500) g;
INSERT INTO items SELECT g, 1 + g % 500, g % 90 + 0.5 FROM generate_series(1, 1500) g;
"""
VISITS = {"id": "bigint", "customer": "bigint", "page": "string"}
MANAGERS = {"region": "string", "manager": "string"}

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
BESIDE = {
    # Its values are no numbers: the first refresh fails, and it is suspended.
    "ops.page_numbers": "SELECT CAST(page AS INT) AS number FROM visits",
    "ops.sampled": "SELECT region, rand() AS r FROM managers",
    "ops.managers": "SELECT region, upper(manager) AS manager FROM managers",
    # Its source has no key, so that triggers capture it.
    "ops.notes": "SELECT customer, count(*) AS notes FROM notes GROUP BY customer",
    "ops.old_pages": "SELECT DISTINCT page FROM visits",
}
PROMISES = {"shop.revenue": {"sla": "10 minutes"}, "web.pages": {"target_lag": "5 minutes"}}


def main(warehouse: str, visits: str, managers: str, url: str) -> None:
    """Define all of it, serve its pages, and keep it fresh until somebody ends the process."""
    with streamtables.connect(warehouse) as db:
        define(db, visits, managers, url)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: Thread(target=db.stop, daemon=True).start())
        db.refresh_all()
        db.pause("ops.old_pages", "its readers move to web.pages")
        publish(db, url)
        with served_beside(db, Address(port=0), told):
            db.run()


def define(db: StreamTables, visits: str, managers: str, url: str) -> None:
    """Add the sources and create the tables."""
    db.add_source("visits", path=visits, key=["id"])
    db.add_source("managers", path=managers)
    for table in ("orders", "items", "notes"):
        db.add_source(table, postgres=url, table=f"public.{table}")
    for name, query in (QUERIES | BESIDE).items():
        db.create(name, query, schedule="on change", options=PROMISES.get(name))


def publish(db: StreamTables, url: str) -> None:
    """Push the changes of a table back to the server."""
    db.publish("top.regions")
    target = {"kind": "postgres", "address": url, "table": "public.top_regions"}
    db.subscribe("top.regions", "shop", to=target)


def told(opened: Opened) -> None:
    """Print where the pages are."""
    print(opened.url, opened.token, sep="\n", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
