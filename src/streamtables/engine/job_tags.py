"""Jobs of classic Spark: tags by which those of a thread are cancelled, and how far they are.

A session's own tags are gone from a statement's later jobs once Delta has run another statement
inside it, on the same session: Spark takes them off the thread when the inner one ends.  A tag that
the session does not know stays.  A Connect server tags by operation, and has not that fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def tag_thread(spark: SparkSession, tag: str) -> None:
    """Have all jobs of this thread carry a tag."""
    spark.sparkContext.addJobTag(tag)


def untag_thread(spark: SparkSession, tag: str) -> None:
    """Have the thread's next jobs do without the tag."""
    spark.sparkContext.removeJobTag(tag)


def cancel_jobs(spark: SparkSession, tag: str) -> None:
    """Stop the jobs that carry a tag."""
    spark.sparkContext.cancelJobsWithTag(tag)


def running_tasks(spark: SparkSession) -> list[tuple[int, int]]:
    """Return of each stage that runs how many tasks are done, and how many it has."""
    tracker = spark.sparkContext.statusTracker()
    stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
    # A stage may have ended between the two questions.
    return [(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage is not None]
