"""Seconds, Spark jobs and Delta commits of one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Measured:
    """What one call took."""

    seconds: float
    jobs: int
    commits: int


@dataclass(frozen=True)
class Counters:
    """Counts the jobs of one Spark, and the commits to the tables under one folder."""

    spark: SparkSession
    tables: Path

    def measure(self, call: Callable[[], object]) -> Measured:
        """Run a call and say what it took; counting happens outside the measured time."""
        jobs, commits = self.jobs(), self.commits()
        start = perf_counter()
        call()
        seconds = perf_counter() - start
        return Measured(seconds, self.jobs() - jobs, self.commits() - commits)

    def jobs(self) -> int:
        """Return how many jobs Spark has run so far."""
        # The status tracker forgets jobs; the scheduler's own counter does not.
        context = self.spark.sparkContext._jsc.sc()
        return int(context.dagScheduler().numTotalJobs())

    def commits(self) -> int:
        """Return how many commits the tables have."""
        return sum(1 for _ in self.tables.rglob("_delta_log/*.json"))


@dataclass
class Series:
    """The measurements of one kind of call over all rounds."""

    measured: list[Measured] = field(default_factory=list)

    def add(self, item: Measured) -> None:
        """Keep one measurement."""
        self.measured.append(item)

    def data(self) -> dict[str, object]:
        """Return the medians and every single time, ready for JSON."""
        seconds = [item.seconds for item in self.measured]
        return {
            "median_seconds": round(median(seconds), 5),
            "seconds": [round(value, 5) for value in seconds],
            "jobs": median(item.jobs for item in self.measured),
            "commits": median(item.commits for item in self.measured),
        }
