"""Plans from each cache against compiling them, in one run.

    python -m benchmarks.plan_cache

Both sides give what one small refresh asks for: the facts, and the program for changes of every
table.  Each level is asked by plans that hold nothing yet; l1 by plans that hold everything.  The
code is loaded and the files are open, as in a process that has refreshed another table before.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.compile_time import chain_of_joins
from benchmarks.machine import machine, machine_text
from streamtables.catalog import Catalog, default_location
from streamtables.catalog.models import Column, Source, new_id
from streamtables.compiler.backend.statement import Program
from streamtables.refresh.define import Choices, define
from streamtables.refresh.plan_cache import Levels
from streamtables.refresh.plan_cache.basis import compiler_stamp
from streamtables.refresh.plan_cache.catalog_level import CatalogLevel
from streamtables.refresh.plan_cache.counts import Counts, Level
from streamtables.refresh.plan_cache.levels import RecordStore
from streamtables.refresh.plan_cache.shared_file import SharedFile
from streamtables.refresh.plans import Plans
from tests.tpch.queries import query_text
from tests.tpch.schema import KEYS, TABLES

Tables = Mapping[str, Mapping[str, str]]
Keys = Mapping[str, Sequence[str]]
Stores = dict[Level, RecordStore]


def cases() -> dict[str, tuple[str, Tables, Keys]]:
    """Return the queries that are measured, by name."""
    return {
        "10-way join": chain_of_joins(10),
        "TPC-H q8": (query_text(8, 1), TABLES, KEYS),
        "TPC-H q21": (query_text(21, 1), TABLES, KEYS),
    }


class Bench:
    """One query in a catalog of its own."""

    def __init__(self, folder: Path, sql: str, tables: Tables, keys: Keys) -> None:
        self.catalog = Catalog.open(default_location(folder))
        self.file = SharedFile(folder / "plans", 64)
        now = datetime.now(UTC)
        for name, types in tables.items():
            columns = tuple(Column(column, type_) for column, type_ in types.items())
            key = tuple(keys.get(name, ()))
            self.catalog.add_source(Source(new_id(), name, f"/{name}", columns, name, now, key))
        made = define(
            "t", sql, Choices(), self.catalog.snapshot().definitions, location="/t", at=now
        )
        self.table = self.catalog.create_stream_table(made.table, made.inputs)
        self.definitions = self.catalog.snapshot().definitions
        self.changed = frozenset(made.plan.tables)

    def close(self) -> None:
        """Let go of the files."""
        self.file.close()
        self.catalog.close()

    def plans(self, stores: Stores) -> Plans:
        """Return plans that hold nothing yet, over some levels."""
        return Plans(Levels(Counts(), stores))

    def ask(self, plans: Plans) -> Program:
        """Ask for what a small refresh needs."""
        return plans.plan(self.table, self.definitions).changes(self.changed, small=True)

    def sides(self) -> dict[str, Callable[[], Plans]]:
        """Return for each side how its plans come to be."""
        file: Stores = {"l0": self.file}
        catalog: Stores = {"l2": CatalogLevel(self.catalog)}
        warm = self.plans({})
        for stores in (file, catalog):
            self.ask(self.plans(stores))
        self.ask(warm)
        return {
            "compile": lambda: self.plans({}),
            "l1": lambda: warm,
            "l0": lambda: self.plans(file),
            "l2": lambda: self.plans(catalog),
        }


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """Return the median milliseconds of every side, by query."""
    found = {}
    compiler_stamp()
    for name, (sql, tables, keys) in cases().items():
        with TemporaryDirectory() as folder, ExitStack() as stack:
            bench = Bench(Path(folder), sql, tables, keys)
            stack.callback(bench.close)
            found[name] = _medians(bench, rounds)
    return found


def _medians(bench: Bench, rounds: int) -> dict[str, float]:
    """Measure all sides in turn, so that the load of the machine meets them alike."""
    sides = bench.sides()
    taken: dict[str, list[float]] = {side: [] for side in sides}
    programs = set()
    for _ in range(rounds):
        for side, make in sides.items():
            plans = make()
            start = perf_counter()
            programs.add(bench.ask(plans))
            taken[side].append(1_000 * (perf_counter() - start))
    assert len(programs) == 1, "the sides gave different programs"
    return {side: median(seconds) for side, seconds in taken.items()}


def main() -> None:
    """Measure, and print both sides."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(machine_text(machine()))
    start = perf_counter()
    compiler_stamp()
    print(f"stamp of the compiler, once per process: {1_000 * (perf_counter() - start):.1f} ms")
    print(f"{'milliseconds, median of ' + str(rounds):<28}compile      l1      l0      l2")
    for name, found in measure(rounds).items():
        print(f"{name:<28}" + "".join(f"{value:>8.3f}" for value in found.values()))


if __name__ == "__main__":
    main()
