"""Every view in three warehouses on one Spark: always full, always by changes, and as it decides.

A cell is a view and a rate of change.  Rates come in random order, and within a round the three
follow in random order too, so that no side has the warmer machine.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

from pyspark.sql import SparkSession

import streamtables
from streamtables.errors import StreamTablesError
from streamtables.settings import Settings
from tests.tpch.schema import KEYS

SIDES = ("full", "differential", "auto")
_NEVER = 86_400.0


@dataclass
class Cell:
    """What one view took at one rate."""

    view: str
    rate: float
    seconds: dict[str, list[float]] = field(default_factory=lambda: {side: [] for side in SIDES})
    choices: list[str] = field(default_factory=list)
    predicted: list[dict[str, float]] = field(default_factory=list)

    def data(self) -> dict[str, object]:
        """Return medians and every single time, ready for JSON."""
        medians = {side: round(median(times), 4) for side, times in self.seconds.items() if times}
        return {**self.__dict__, "median_seconds": medians}


class Sides:
    """The three warehouses."""

    def __init__(self, folder: Path, views: Mapping[str, str], seed: int) -> None:
        self._folder, self._views = folder, views
        self._chance = random.Random(seed)
        self.cells: dict[tuple[str, float], Cell] = {}
        self.wrong: list[str] = []

    @contextmanager
    def opened(self, spark: SparkSession, sources: Mapping[str, Path]) -> Iterator[None]:
        """Define and fill every view on each side."""
        with ExitStack() as stack:
            self._dbs = {side: stack.enter_context(self._db(side, spark)) for side in SIDES}
            for side, db in self._dbs.items():
                for name, path in sources.items():
                    db.add_source(name, path=path, key=KEYS[name])
                for view, query in self._views.items():
                    db.create(view, query, mode=side)
            self._fill()
            yield

    def follow(self, rate: float) -> None:
        """Refresh every view on each side after a change, and keep the times."""
        for view in self._views:
            cell = self.cells.setdefault((view, rate), Cell(view, rate))
            for side in self._chance.sample(SIDES, len(SIDES)):
                self._measure(cell, side)
            last = {side: f"{times[-1]:.2f}" for side, times in cell.seconds.items() if times}
            print(f"    {view} {rate:g} {last} {cell.choices[-1]}", file=sys.stderr, flush=True)

    def verify(self) -> None:
        """Recompute every table that decided for itself or followed changes."""
        for side in ("differential", "auto"):
            for view in self._views:
                if not self._dbs[side].verify(view).equal:
                    self.wrong.append(f"{view} ({side})")

    def data(self) -> list[dict[str, object]]:
        """Return all cells, ready for JSON."""
        return [cell.data() for cell in self.cells.values()]

    def _db(self, side: str, spark: SparkSession) -> streamtables.StreamTables:
        settings = Settings() if side == "auto" else Settings(choose_from_seconds=_NEVER)
        return streamtables.connect(self._folder / side, spark=spark, settings=settings)

    def _fill(self) -> None:
        for db in self._dbs.values():
            for view in self._views:
                db.refresh(view)

    def _measure(self, cell: Cell, side: str) -> None:
        began = perf_counter()
        try:
            done = self._dbs[side].refresh(cell.view)
        except StreamTablesError as error:
            self.wrong.append(f"{cell.view} ({side}) failed: {error}")
            return
        cell.seconds[side].append(round(perf_counter() - began, 4))
        if side == "auto":
            cell.choices.append(done.reason.code if done.mode != "no-change" else "no-change")
            cell.predicted.append(_predictions(self._dbs[side], cell.view))


def _predictions(db: streamtables.StreamTables, view: str) -> dict[str, float]:
    """Return the work of the last refresh, and what each way was predicted to take."""
    (last,) = db.history(view, limit=1)
    facts = (item for step in last.steps for item in step.facts.items())
    return {name: float(value) for name, value in facts if isinstance(value, int | float)}
