"""The fifteen views three times on one Spark: as stream tables of mode auto and full, and bare.

auto        `refresh_all` of stream tables that choose their way
full        `refresh_all` of stream tables of mode full
overwrite   fifteen statements INSERT OVERWRITE, as somebody would write them without us
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

from pyspark.sql import SparkSession

import streamtables
from benchmarks.medallion_sources import TABLES, Shop
from benchmarks.medallion_views import VIEWS
from benchmarks.pages import Results
from benchmarks.twins import say

SIDES = ("auto", "full", "overwrite")


@dataclass
class Overwrite:
    """Plain Delta tables, written anew by Spark from views on the ones before them."""

    spark: SparkSession
    folder: Path

    def define(self, shop: Shop) -> None:
        """Make every table with its first rows."""
        for table in TABLES:
            self._name(table.name, shop.path(table))
        for name, query in VIEWS.items():
            path = self.folder / name
            self.spark.sql(f"CREATE TABLE delta.`{path}` USING delta AS {query}")
            self._name(name, path)

    def run(self) -> None:
        """Write all of them once more."""
        for name, query in VIEWS.items():
            self.spark.sql(f"INSERT OVERWRITE delta.`{self.folder / name}` {query}")

    def _name(self, name: str, path: Path) -> None:
        # A view over the path and not over rows that were read: it shows the newest version.
        self.spark.sql(f"CREATE TEMP VIEW {name} AS SELECT * FROM delta.`{path}`")


@dataclass
class Medallion:
    """All sides, and what each took in every counted round."""

    shop: Shop
    folder: Path
    seconds: dict[str, list[float]] = field(default_factory=lambda: {side: [] for side in SIDES})
    ways: dict[str, str] = field(default_factory=dict)
    """How each table of mode auto went in the last round."""

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Define and fill everything."""
        with ExitStack() as stack:
            self._dbs = {
                side: stack.enter_context(self._warehouse(side)) for side in ("auto", "full")
            }
            self._bare = Overwrite(self.shop.spark.newSession(), self.folder / "overwrite")
            self._bare.define(self.shop)
            yield

    def measure(self, rounds: int, warm_up: int, share: float) -> int:
        """Follow one batch per round on every side, in turn; return the rows of a batch."""
        runs = self._runs()
        changed = 0
        for number in range(-warm_up, rounds):
            changed = self.shop.change(share)
            say(f"{changed:,} changed rows, {'warm-up' if number < 0 else f'round {number + 1}'}")
            for side in rotated(number):
                began = perf_counter()
                runs[side]()
                taken = perf_counter() - began
                if number >= 0:
                    self.seconds[side].append(round(taken, 3))
                say(f"  {side} {taken:.2f} s")
        return changed

    def differences(self) -> list[str]:
        """Return the tables that are not as their query says, or not as bare Spark has them."""
        wrong = []
        for name in VIEWS:
            for side, db in self._dbs.items():
                if not db.verify(name).equal:
                    wrong.append(f"{name} ({side})")
            ours = self._dbs["auto"].read(name)
            bare = self.shop.spark.read.format("delta").load(str(self.folder / "overwrite" / name))
            if not (ours.exceptAll(bare).isEmpty() and bare.exceptAll(ours).isEmpty()):
                wrong.append(f"{name} (overwrite)")
        return wrong

    def data(self) -> Results:
        """Return medians and every single time, ready for JSON."""
        medians = {side: round(median(times), 4) for side, times in self.seconds.items()}
        return {"median_seconds": medians, "all_seconds": self.seconds, "ways": self.ways}

    def _runs(self) -> dict[str, Callable[[], None]]:
        return {
            "auto": lambda: self._refresh("auto"),
            "full": lambda: self._refresh("full"),
            "overwrite": self._bare.run,
        }

    def _refresh(self, side: str) -> None:
        done = self._dbs[side].refresh_all()
        for result in done:
            if result.error is not None:
                raise result.error
        if side == "auto":
            self.ways = {item.table: f"{item.mode} ({item.reason.code})" for item in done}

    def _warehouse(self, side: str) -> streamtables.StreamTables:
        db = streamtables.connect(self.folder / side, spark=self.shop.spark)
        for table in TABLES:
            db.add_source(table.name, path=self.shop.path(table), key=[table.key])
        for name, query in VIEWS.items():
            db.create(name, query, mode=side)
        for result in db.refresh_all():
            if result.error is not None:
                raise result.error
        return db


def rotated(number: int) -> tuple[str, ...]:
    """Return the sides in the order of a round: each comes first, in the middle and last alike."""
    at = number % len(SIDES)
    return (*SIDES[at:], *SIDES[:at])
