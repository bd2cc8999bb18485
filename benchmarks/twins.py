"""Queries as stream tables twice: one warehouse follows changes, the other recomputes.

Both stand on one Spark and read the same sources.  A round changes the sources once; then the two
follow, one query after the other.  Which comes first alternates between rounds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

from pyspark.sql import SparkSession

import streamtables
from streamtables.errors import StreamTablesError


@dataclass(frozen=True)
class SourceTable:
    """A Delta table that the queries read."""

    name: str
    path: Path
    key: Sequence[str]


@dataclass
class Measurements:
    """What one query took in each counted round, and what it could not do."""

    name: str
    query: str
    refusal: str = ""
    error: str = ""
    wrong: bool = False
    form: str = ""
    kinds: tuple[str, ...] = ()
    """The operators that are not linear, each with its kind."""
    rows: int | None = None
    full: list[float] = field(default_factory=list)
    differential: list[float] = field(default_factory=list)
    rows_changed: list[int] = field(default_factory=list)
    steps: dict[str, float] = field(default_factory=dict)
    """Where the last differential refresh spent its seconds."""
    strategy: str = ""
    whole: bool = False
    """Whether the last differential refresh computed the whole query and compared."""
    notes: tuple[str, ...] = ()
    reasons: list[str] = field(default_factory=list)
    """Why each differential refresh went its way, those that are not counted among them."""

    @property
    def follows(self) -> bool:
        """Whether changes alone keep this table."""
        return not self.refusal and not self.error

    def data(self) -> dict[str, object]:
        """Return medians and every single time, ready for JSON."""
        return {
            "name": self.name,
            "mode": "differential" if self.follows else "full",
            "form": self.form,
            "kinds": self.kinds,
            "refusal": self.refusal,
            "error": self.error,
            "wrong": self.wrong,
            "rows": self.rows,
            "full_seconds": _median(self.full),
            "differential_seconds": _median(self.differential),
            "rows_changed": self.rows_changed,
            "strategy": self.strategy,
            "whole": self.whole,
            "steps": self.steps,
            "notes": self.notes,
            "reasons": self.reasons,
            "all_full_seconds": [round(value, 4) for value in self.full],
            "all_differential_seconds": [round(value, 4) for value in self.differential],
        }


@dataclass(frozen=True)
class Rounds:
    """How often the sources change, how, and what happens after each round."""

    counted: int
    change: Callable[[], None]
    done: Callable[[int], object]
    """Called with the number of counted rounds; a long run that is stopped keeps what it saved."""
    warm_up: int = 1


class Twins:
    """Every query in two warehouses."""

    def __init__(
        self, folder: Path, found: Sequence[Measurements], sources: Sequence[SourceTable]
    ) -> None:
        self.found = found
        self._folder = folder
        self._sources = sources

    @contextmanager
    def opened(self, spark: SparkSession) -> Iterator[None]:
        """Define every table twice; a refusal is kept, not raised."""
        with self._connect("warehouse", spark) as self._db, self._connect("twins", spark) as twins:
            self._twins = twins
            for item in self.found:
                twins.create(item.name, item.query, mode="full")
                try:
                    self._db.create(item.name, item.query, mode="differential")
                except StreamTablesError as refused:
                    item.refusal = refused.detail or refused.message
                else:
                    _explain(item, self._db.explain(item.name).data)
            yield

    def measure(self, rounds: Rounds) -> None:
        """Give every table its first rows, then follow the rounds."""
        say("first fill")
        self._fill()
        for number in range(-rounds.warm_up, rounds.counted):
            say("warm-up" if number < 0 else f"round {number + 1} of {rounds.counted}")
            rounds.change()
            for item in self.found:
                self._measure(item, counted=number >= 0, full_first=number % 2 == 1)
            rounds.done(max(0, number + 1))

    def verify(self) -> None:
        """Recompute every table that followed changes, compare, and count its rows."""
        say("verifying")
        for item in self.found:
            if item.follows:
                item.wrong = not self._db.verify(item.name).equal
                item.rows = int(self._db.read(item.name).count())

    def data(self) -> list[dict[str, object]]:
        """Return what was found, ready for JSON."""
        return [item.data() for item in self.found]

    def _fill(self) -> None:
        for item in self.found:
            self._twins.refresh(item.name)
            if item.follows:
                self._db.refresh(item.name)

    def _measure(self, item: Measurements, *, counted: bool, full_first: bool) -> None:
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
        ours = f"differential {differential[0]:.2f} s" if differential else item.error or "refused"
        print(f"    {item.name}  full {full:.2f} s  {ours}", file=sys.stderr, flush=True)

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
        item.reasons.append(done.reason.text)
        item.whole = done.reason.code == "whole-was-faster"
        return seconds, done.rows_inserted + done.rows_deleted

    def _connect(self, name: str, spark: SparkSession) -> streamtables.StreamTables:
        db = streamtables.connect(self._folder / name, spark=spark)
        for source in self._sources:
            db.add_source(source.name, path=source.path, key=source.key)
        return db


def say(text: str) -> None:
    """Tell how far a run is."""
    print(f"· {text}", file=sys.stderr, flush=True)


def _explain(item: Measurements, data: dict[str, object]) -> None:
    item.form = str(data.get("form", ""))
    operators = data.get("operators")
    assert isinstance(operators, list)
    kinds = (f"{o['operator']} {o['kind']}" for o in operators if o["kind"] not in (None, "linear"))
    item.kinds = tuple(dict.fromkeys(kinds))


def _median(values: Sequence[float]) -> float | None:
    return round(median(values), 4) if values else None
