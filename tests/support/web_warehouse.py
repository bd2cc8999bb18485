"""A warehouse as a day of work leaves it, made without Spark: for pages and for their tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from streamtables.api import StreamTables
from streamtables.catalog.models import RefreshRecord, Step, StreamTable, new_refresh_id
from streamtables.catalog.scheduler_models import Event
from streamtables.positions import Frontier, RefreshId, Sequence, Standing, Version
from tests.support.delta_tables import DeltaTableFile

REVENUE = """SELECT c.region, sum(o.amount) AS total, count(*) AS orders
FROM orders AS o JOIN customers AS c ON o.customer = c.id
WHERE o.amount > 0 -- refunds are shown elsewhere
GROUP BY c.region"""
LEADER = "host:1"
STEPS = (("pins", 0.004), ("changes", 0.05), ("compute", 0.21), ("commit", 0.06))


@dataclass
class WebWarehouse:
    """An open warehouse and its sources, with helpers that write what refreshes would write."""

    db: StreamTables
    orders: DeltaTableFile
    customers: DeltaTableFile

    def fill(self, name: str, rows: pa.Table, **changes: Any) -> RefreshRecord:
        """Write rows of a stream table, and record that a refresh did."""
        catalog, table = self.db._catalog, self.db._catalog.stream_table(name)
        known = catalog.standing(table.id)
        write_deltalake(table.location, rows, mode="overwrite")
        sequence = Sequence(int(known.sequence) + 1 if known else 1)
        began = record(table, self.base(table), sequence=sequence, **changes)
        standing = Standing(
            version=Version(int(sequence) - 1),
            sequence=sequence,
            refresh_id=RefreshId(began.id),
            frontier=began.to_frontier,
            base_frontier=began.to_frontier,
            query_hash=table.defining_query_hash,
            updated_at=began.finished_at or began.started_at,
        )
        catalog.finish_refresh(began, standing)
        return began

    def note(self, name: str, **changes: Any) -> RefreshRecord:
        """Record a refresh that moved nothing."""
        table = self.db._catalog.stream_table(name)
        began = record(table, self.base(table), **changes)
        self.db._catalog.finish_refresh(began, None)
        return began

    def lead(self) -> None:
        """Have a process lead that these tests do not run."""
        facts = {"slots": 4, "running": 1, "parallel_queue_depth": 2, "worker_pool_size": 4,
                 "worker_idle_seconds_total": 5_025.5}  # fmt: skip
        assert self.db._catalog.lead(LEADER, datetime.now(UTC), 86_400.0, facts) is not None

    def lead_no_more(self) -> None:
        """Have it end."""
        self.db._catalog.stop_leading(LEADER, datetime.now(UTC))

    def base(self, table: StreamTable) -> Frontier:
        """Return the versions of the roots as they are now."""
        found = {}
        definitions = self.db._catalog.snapshot().definitions
        for root in definitions.roots(table.id):
            source = definitions.sources[root]
            held = self.orders if source.name == "orders" else self.customers
            found[root] = Version(held.open().version())
        return Frontier(found)


def record(table: StreamTable, base: Frontier, **changes: Any) -> RefreshRecord:
    """Return a refresh that went well just now, unless told otherwise."""
    now = datetime.now(UTC)
    seconds = changes.pop("seconds", 0.35)
    started = changes.pop("started_at", now - timedelta(seconds=seconds))
    steps = tuple(Step(name, round(part * seconds / 0.35, 6)) for name, part in STEPS)
    values: dict[str, Any] = {
        "id": new_refresh_id(),
        "stream_table_id": table.id,
        "sequence": Sequence(1),
        "process": "host:1",
        "started_at": started,
        "finished_at": started + timedelta(seconds=seconds),
        "state": "applied",
        "mode": "differential",
        "reason_code": "changes",
        "reason_text": "20 changed rows since the last refresh",
        "strategy": "stored-state",
        "rows_in": 20,
        "rows_inserted": 4,
        "rows_deleted": 3,
        "seconds": seconds,
        "steps": steps,
        "to_frontier": base,
        "base_frontier": base,
    }
    return RefreshRecord(**{**values, **changes})


def opened_later(path: Path) -> StreamTables:
    """Open a warehouse half a minute from now, so that what is behind is so by more than nothing."""
    return StreamTables(path, clock=lambda: datetime.now(UTC) + timedelta(seconds=30))


def open_web_warehouse(
    folder: Path, open_db: Callable[[Path], StreamTables] = opened_later
) -> WebWarehouse:
    """Make the shop: nine tables, one in each condition that a page shows."""
    db = open_db(folder / "warehouse")
    orders = DeltaTableFile(
        folder / "orders",
        {"id": "bigint", "customer": "bigint", "amount": "decimal(12,2)", "note": "string"},
        [(1, 10, "5.00", "a"), (2, 10, "7.50", "b"), (3, 20, "1.25", None), (4, None, "9.00", "d")],
    )
    customers = DeltaTableFile(
        folder / "customers", {"id": "bigint", "region": "string"}, [(10, "north"), (20, "south")]
    )
    db.add_source("orders", path=orders.path, key=["id"])
    db.add_source("customers", path=customers.path, key=["id"])
    shop = WebWarehouse(db, orders, customers)
    _define(db)
    _fill(shop)
    _trouble(shop)
    shop.lead()
    return shop


def _define(db: StreamTables) -> None:
    db.create("sales.revenue", REVENUE, schedule="1 minute", options={"target_lag": "5 minutes"})
    db.create("sales.regions", "SELECT DISTINCT region FROM sales.revenue", schedule="calculated")
    db.create("sales.large", "SELECT id, amount FROM orders WHERE amount > 5", schedule="on change")
    db.create(
        "finance.totals", "SELECT sum(total) AS total FROM sales.revenue", schedule="5 minutes"
    )
    db.create("finance.promised", "SELECT id, note FROM orders", options={"sla": "1 second"})
    db.create("people.customers", "SELECT id, region FROM customers WHERE region IS NOT NULL")
    db.create("people.sampled", "SELECT id, rand() AS r FROM customers", schedule="1 hour")
    db.create("people.never", "SELECT count(*) AS n FROM customers")
    db.create("drafts.notes", "SELECT note, count(*) AS n FROM orders GROUP BY note")


def _fill(shop: WebWarehouse) -> None:
    now = datetime.now(UTC)
    revenue = pa.table({"region": ["north", "south"], "total": [12.5, 1.25], "orders": [2, 1]})
    shop.fill("sales.revenue", revenue, mode="full", reason_code="first-fill",
              reason_text="the table has no rows yet", started_at=now - timedelta(minutes=50),
              rows_in=0, rows_inserted=2, rows_deleted=0, seconds=1.4)  # fmt: skip
    for minutes in range(45, 0, -3):
        shop.fill(
            "sales.revenue", revenue, started_at=now - timedelta(minutes=minutes),
            seconds=0.2 + (minutes * 7 % 11) / 20, rows_in=minutes * 3,
            reason_text=f"{minutes * 3} changed rows since the last refresh",
        )  # fmt: skip
    ids = pa.table({"id": [1, 2]})
    for name in (
        "sales.regions",
        "sales.large",
        "finance.totals",
        "people.customers",
        "drafts.notes",
    ):
        shop.fill(name, ids, started_at=now - timedelta(minutes=12), seconds=0.18)
    shop.fill("finance.promised", ids, started_at=now - timedelta(minutes=9))
    shop.fill("people.sampled", ids, mode="full", reason_code="not-incremental",
              reason_text='"rand" may give another answer each time', seconds=0.9)  # fmt: skip
    shop.note("people.customers", mode="no-change", state="no-change", strategy="", rows_in=0,
              rows_inserted=0, rows_deleted=0, reason_code="current", steps=(),
              reason_text="nothing changed", seconds=0.002)  # fmt: skip


def _trouble(shop: WebWarehouse) -> None:
    db, catalog = shop.db, shop.db._catalog
    shop.orders.append((5, 20, "2.00", "e"))
    now = datetime.now(UTC)
    # What reads orders is behind by one commit, save for these two, which have seen it.
    revenue = pa.table({"region": ["north", "south"], "total": [12.5, 3.25], "orders": [2, 2]})
    shop.fill("sales.revenue", revenue, seconds=0.31)
    shop.fill("sales.regions", pa.table({"id": [1, 2, 3]}), seconds=0.31)
    shop.note("finance.totals", state="failed", mode="", error_code="ST-1407", rows_in=0,
              rows_inserted=0, rows_deleted=0, strategy="", reason_code="failed", steps=(),
              error_text="Spark cannot add the values: the sum overflows",
              reason_text="Spark cannot add the values: the sum overflows")  # fmt: skip
    db.pause("drafts.notes", "the notes are being cleaned up")
    catalog.set_state(
        catalog.stream_table("people.customers").id, "suspended",
        "its fuse has blown: 1,204,331 changed rows wait, 40 are usual; look at the changes, then resume it",
        at=now,
    )  # fmt: skip
    failed, held = catalog.stream_table("finance.totals"), catalog.stream_table("sales.large")
    catalog.record_events([
        Event(now - timedelta(minutes=30), "leader", "host:1 leads"),
        Event(now - timedelta(minutes=6), "held", "it waits for the gate of orders", held.id, held.name),
        Event(now - timedelta(minutes=1), "failed", "Spark cannot add the values (ST-1407).", failed.id, failed.name),
    ])  # fmt: skip
