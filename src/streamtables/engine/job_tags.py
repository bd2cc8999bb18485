"""Tags on the jobs of a thread, so that they can be cancelled; on classic Spark only.

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
