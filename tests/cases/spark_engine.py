"""Cases on Spark and Delta: real tables, the public API, and Spark's own answer to the query.

Every change is one overwrite of its table, so any case can be written down; the feed of it is
netted like any other.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from streamtables.api import StreamTables
from streamtables.compiler.plan import compile_sql
from streamtables.engine.session import SparkSessions
from tests.cases.reader import Case, Change, Row
from tests.support.bags import Bag
from tests.support.catalogs import with_catalog
from tests.support.delta_tables import DeltaTableFile
from tests.support.spark_oracle import (
    Judge,
    assert_equal_to_query,
    assert_verified,
    stored_bag,
)


class SparkEngine:
    """What a case needs of an engine: define, change, refresh, close."""

    name = "spark"

    def __init__(self, case: Case, sessions: SparkSessions, folder: Path) -> None:
        self._moment: datetime | None = None
        warehouse = with_catalog(folder / "warehouse")
        self._db = StreamTables(warehouse, spark=sessions.get(), clock=self._now)
        self._judge = Judge(sessions.quick())
        self._case = case
        self._by_clock: set[str] = set()
        self._rows: dict[str, list[Row]] = {}
        self._tables: dict[str, DeltaTableFile] = {}
        self._seen: dict[str, dict[str, Counter[str]]] = {}
        for table in case.tables.values():
            self._rows[table.name] = list(table.rows)
            self._tables[table.name] = DeltaTableFile(
                folder / table.name, table.columns, table.rows
            )
            self._db.add_source(table.name, path=folder / table.name, key=table.key or None)
        self._judge.show(self._tables)

    def define(self, view: str, sql: str) -> None:
        """Create a stream table without filling it."""
        self._db.create(view, sql)
        if compile_sql(sql, self._case.columns, self._case.keys).reads_clock:
            self._by_clock.add(view)

    def change(self, change: Change) -> None:
        """Change a table."""
        rows = self._rows[change.table]
        for row, weight in change.rows:
            for _ in range(abs(weight)):
                if weight > 0:
                    rows.append(row)
                else:
                    rows.pop(next(i for i, known in enumerate(rows) if repr(known) == repr(row)))
        self._tables[change.table].overwrite(rows)
        self._judge.show(self._tables)

    def set_clock(self, moment: datetime) -> None:
        """Have the clock say another moment."""
        self._moment = moment

    def _now(self) -> datetime:
        return self._moment or datetime.now(UTC)

    def refresh(self, view: str) -> tuple[str, Bag]:
        """Refresh a stream table; return the mode that was used and all visible rows."""
        result = self._db.refresh(view)
        if view in self._by_clock or self._case.tied:
            # Asked now, Spark would answer for another moment, or take rows in another order.
            assert_verified(self._db, view)
            stored = stored_bag(self._db, view)
        else:
            stored = assert_equal_to_query(self._db, view, self._judge)
        mode = result.mode
        if mode == "no-change" and self._seen.get(view) != self._content():
            # For a case, a change without effect on the result is a differential refresh.
            mode = "differential"
        self._seen[view] = self._content()
        return mode, stored

    def _content(self) -> dict[str, Counter[str]]:
        rows = {name: Counter(map(repr, found)) for name, found in self._rows.items()}
        return {**rows, "the clock": Counter([repr(self._moment)])}

    def verify(self) -> None:
        """Have the product judge what it stored, too."""
        for view in self._seen:
            assert_verified(self._db, view)

    def close(self) -> None:
        """Give back what was opened."""
        self._db.close()
