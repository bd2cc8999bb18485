"""Cases on DuckDB: every refresh runs the stateless delta and the maintained table side by side."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal

from streamtables.compiler.algebra import CLOCK_TABLE
from streamtables.compiler.plan import Plan, compile_sql
from streamtables.compiler.types import decimal_parts, is_decimal
from tests.cases.reader import Case, Change, Row
from tests.support import duckdb_oracle as oracle
from tests.support.bags import Bag, add
from tests.support.laws import CLOCK
from tests.support.maintained_table import WAYS, MaintainedTable


class _Kept:
    """One view with its own copy of the tables, so that views may be refreshed at any time."""

    def __init__(self, case: Case, plan: Plan, moment: datetime) -> None:
        self.plan = plan
        tables = {**case.columns, **(CLOCK if plan.reads_clock else {})}
        self.database = oracle.Database(tables)
        for table in case.tables.values():
            self.database.fill(table.name, table.rows)
        if plan.reads_clock:
            self.database.fill(CLOCK_TABLE, [(moment,)])
        self.pending: dict[str, list[oracle.Change]] = {name: [] for name in tables}
        self.stateless: Bag | None = None
        self.maintained: MaintainedTable | None = None
        self.refreshes = 0

    def refresh(self) -> tuple[str, Bag]:
        batch, self.pending = self.pending, {name: [] for name in self.pending}
        self.database.apply(batch)
        changed = frozenset(n for n, rows in batch.items() if oracle.net_changes(rows))
        mode = self._mode(changed)
        if mode == "full":
            self.stateless = self.database.evaluate(self.plan)
            if self.plan.incremental:
                self.maintained = MaintainedTable(self.plan, self.database)
        elif mode == "differential":
            self._differential(changed)
        assert self.stateless is not None
        return mode, self._shown(self.stateless)

    def _mode(self, changed: frozenset[str]) -> str:
        if self.stateless is None:
            return "full"
        if not changed & {*self.plan.tables, CLOCK_TABLE}:
            return "no-change"
        return "differential" if self.plan.incremental else "full"

    def _differential(self, changed: frozenset[str]) -> None:
        assert self.stateless is not None
        assert self.maintained is not None
        delta = self.database.query(oracle.delta_text(self.plan))
        self.stateless = add(self.stateless, delta)
        self.maintained.refresh(changed, WAYS[self.refreshes % len(WAYS)])
        self.refreshes += 1
        full = self._shown(self.database.evaluate(self.plan))
        assert self._shown(self.stateless) == full, "the stateless delta differs from full"
        kept = self._shown(self.maintained.visible())
        assert kept == full, f"{self.plan.maintenance.form} differs from full"

    def _shown(self, bag: Bag) -> Bag:
        return _with_decimals(bag, self.plan) if self.plan.root is not None else bag


def _with_decimals(bag: Bag, plan: Plan) -> Bag:
    """Return the rows with Spark's decimals where DuckDB has doubles: in AVG of decimals."""
    scales = [decimal_parts(type_) if is_decimal(type_) else None for _, type_ in plan.output]
    found: Bag = {}
    for row, count in bag.items():
        values = tuple(
            Decimal(value[1]).quantize(Decimal(1).scaleb(-scale[1]), ROUND_HALF_UP)
            if scale and isinstance(value, tuple) and value[0] == "float"
            else value
            for value, scale in zip(row, scales, strict=True)
        )
        found[values] = found.get(values, 0) + count
    return found


class DuckDbEngine:
    """What a case needs of an engine: define, change, refresh, close."""

    name = "duckdb"

    def __init__(self, case: Case) -> None:
        self._case = case
        self._views: dict[str, _Kept] = {}
        self._moment = datetime(2024, 1, 1, tzinfo=UTC)

    def define(self, view: str, sql: str) -> None:
        """Create a stream table without filling it."""
        plan = compile_sql(sql, self._case.columns, self._case.keys)
        self._views[view] = _Kept(self._case, plan, self._moment)

    def change(self, change: Change) -> None:
        """Change a table."""
        for view in self._views.values():
            rows: list[tuple[Row, int]] = list(change.rows)
            view.pending[change.table] += [oracle.Change(row, weight) for row, weight in rows]

    def set_clock(self, moment: datetime) -> None:
        """Have the clock say another moment: its one row goes, another comes."""
        for view in self._views.values():
            if view.plan.reads_clock:
                moved = [oracle.Change((self._moment,), -1), oracle.Change((moment,), 1)]
                view.pending[CLOCK_TABLE] += moved
        self._moment = moment

    def refresh(self, view: str) -> tuple[str, Bag]:
        """Refresh a stream table; return the mode that was used and all visible rows."""
        return self._views[view].refresh()

    def verify(self) -> None:
        """Nothing to ask: there is no second judge here."""

    def close(self) -> None:
        """Give back what was opened."""
        for view in self._views.values():
            view.database.close()
