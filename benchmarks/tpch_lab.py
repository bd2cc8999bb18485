"""The 22 queries on one set of sources: a warehouse that follows changes, and its full twins."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

from pyspark.sql import SparkSession

import streamtables
from streamtables.errors import StreamTablesError
from tests.tpch.delta_tables import apply_round, write_tables
from tests.tpch.duckdb_versions import Versions
from tests.tpch.queries import query_name, query_text
from tests.tpch.schema import KEYS


@dataclass
class Measurements:
    """What one query took in each counted round, and what it could not do."""

    number: int
    refusal: str = ""
    error: str = ""
    wrong: bool = False
    form: str = ""
    full: list[float] = field(default_factory=list)
    differential: list[float] = field(default_factory=list)
    rows_changed: list[int] = field(default_factory=list)
    steps: dict[str, float] = field(default_factory=dict)
    """Where the last differential refresh spent its seconds."""
    strategy: str = ""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of both stream tables."""
        return query_name(self.number)

    @property
    def follows(self) -> bool:
        """Whether changes alone keep this table."""
        return not self.refusal and not self.error

    def data(self) -> dict[str, object]:
        """Return medians and every single time, ready for JSON."""
        return {
            "query": self.number,
            "mode": "differential" if self.follows else "full",
            "form": self.form,
            "refusal": self.refusal,
            "error": self.error,
            "wrong": self.wrong,
            "full_seconds": _median(self.full),
            "differential_seconds": _median(self.differential),
            "rows_changed": self.rows_changed,
            "strategy": self.strategy,
            "steps": self.steps,
            "notes": self.notes,
            "all_full_seconds": [round(value, 4) for value in self.full],
            "all_differential_seconds": [round(value, 4) for value in self.differential],
        }


class TpchLab:
    """Everything that is measured on one set of sources."""

    def __init__(
        self, folder: Path, versions: Versions, scale: float, numbers: Sequence[int]
    ) -> None:
        self.found = [Measurements(number) for number in numbers]
        self._folder = folder
        self._versions = versions
        self._scale = scale

    @contextmanager
    def opened(self, spark: SparkSession) -> Iterator[None]:
        """Write the sources and define every table twice; a refusal is kept, not raised."""
        self._paths = write_tables(self._versions, self._folder / "sources")
        with self._connect("warehouse", spark) as self._db, self._connect("twins", spark) as twins:
            self._twins = twins
            for item in self.found:
                query = query_text(item.number, self._scale)
                twins.create(item.name, query, mode="full")
                try:
                    self._db.create(item.name, query, mode="differential")
                except StreamTablesError as refused:
                    item.refusal = refused.detail or refused.message
                else:
                    item.form = str(self._db.explain(item.name).data.get("form", ""))
            yield

    def fill(self) -> None:
        """Give every table its first rows."""
        for item in self.found:
            self._twins.refresh(item.name)
            if item.follows:
                self._db.refresh(item.name)

    def change(self, share: float, *, rename: bool) -> None:
        """Change all eight tables, in one commit each."""
        number = self._versions.add_round(share, rename=rename).number
        apply_round(self._versions, number, self._paths)
        self._versions.forget([number - 1])

    def measure(self, *, counted: bool, full_first: bool) -> None:
        """Follow the last change both ways; which comes first alternates between rounds."""
        for item in self.found:
            if full_first:
                full = self._full(item)
            differential = self._differential(item) if item.follows else None
            if not full_first:
                full = self._full(item)
            if counted:
                item.full.append(full)
                if differential is not None:
                    item.differential.append(differential[0])
                    item.rows_changed.append(differential[1])
            _say(item, full, differential)

    def verify(self) -> None:
        """Recompute every table that followed changes, and compare."""
        for item in self.found:
            if item.follows:
                item.wrong = not self._db.verify(item.name).equal

    def _full(self, item: Measurements) -> float:
        began = perf_counter()
        self._twins.refresh(item.name)
        return perf_counter() - began

    def _differential(self, item: Measurements) -> tuple[float, int] | None:
        began = perf_counter()
        try:
            done = self._db.refresh(item.name)
        except StreamTablesError as error:
            item.error = str(error)
            return None
        seconds = perf_counter() - began
        if done.mode == "full":
            item.error = f"went by full: {done.reason.text}"
            return None
        item.steps = {name: round(taken, 4) for name, taken in done.steps}
        item.strategy, item.notes = done.strategy, done.notes
        return seconds, done.rows_inserted + done.rows_deleted

    def _connect(self, name: str, spark: SparkSession) -> streamtables.StreamTables:
        db = streamtables.connect(self._folder / name, spark=spark)
        for table, path in self._paths.items():
            db.add_source(table, path=path, key=KEYS[table])
        return db


def _median(values: Sequence[float]) -> float | None:
    return round(median(values), 4) if values else None


def _say(item: Measurements, full: float, differential: tuple[float, int] | None) -> None:
    ours = f"differential {differential[0]:.2f} s" if differential else item.error or "refused"
    print(f"    {item.name}  full {full:.2f} s  {ours}", file=sys.stderr, flush=True)
