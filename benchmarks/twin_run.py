"""One run of twins: rounds, verification, JSON after every round, and the page at the end."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from pyspark.sql import SparkSession

from benchmarks.options import RESULTS
from benchmarks.pages import Results, conditions, failed, save, write_page
from benchmarks.twins import Rounds, Twins

DOCS = Path(__file__).resolve().parent.parent / "docs"


@dataclass(frozen=True)
class Run:
    """What is known before a run, and where its results go: `docs/<stem>.md` and JSON."""

    stem: str
    options: argparse.Namespace
    about: Results
    queries: int
    """How many there are in all: a run of a part of them leaves the page as it is."""
    began: float = field(default_factory=perf_counter)
    found: Results = field(default_factory=conditions)

    def measure(self, lab: Twins, spark: SparkSession, change: Callable[[], None]) -> Results:
        """Follow all rounds."""
        options = self.options

        def saved(rounds: int, *, verified: bool = False) -> Results:
            taken = round(perf_counter() - self.began, 1)
            results = {**self.found, **self.about, "rounds": rounds, "verified": verified}
            results |= {"seconds": taken, "items": lab.data()}
            save(results, options.results, self.stem)
            return results

        with lab.opened(spark):
            lab.measure(Rounds(options.rounds, change, saved, options.warm_up))
            if options.verify:
                lab.verify()
        return saved(options.rounds, verified=options.verify)

    def report(self, results: Results, lines: Sequence[str]) -> int:
        """Show the table and write the page; 1 when a table differs from its query."""
        print("\n".join(lines))
        print(f"\n{results['seconds']:.0f} s in all; saved in {self.options.results}")
        whole = len(results["items"]) == self.queries and results["verified"]
        if self.options.page and whole:
            write_page(lines, DOCS / f"{self.stem}.md", self.stem.upper())
        return 1 if failed(results["items"]) else 0


def add_run_options(parser: argparse.ArgumentParser, driver_memory: str) -> None:
    """Add the options that all runs of twins have."""
    # An even number: whoever comes first in a round pays for what both of them read.
    parser.add_argument("--rounds", type=int, default=4, help="measured rounds; the median")
    parser.add_argument("--warm-up", type=int, default=1, help="rounds that are not counted")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the JSON goes")
    parser.add_argument("--driver-memory", default=driver_memory, help="memory of Spark's driver")
    parser.add_argument(
        "--page",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write the table into its page of the documentation, if all was measured and verified",
    )
    parser.add_argument(
        "--verify",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="recompute every table at the end and compare",
    )
