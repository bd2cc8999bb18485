"""Spark sessions: one context, started on first use, and a pool of forks for parallel work.

A fork has its own settings and temporary views on the same Spark.  Work takes one for as long as
it needs it; what it bound there is gone before the next user comes.

    quick   a small change: no adaptive planning, few partitions, small snapshots
    bulk    FULL and large changes: adaptive planning on
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Literal

from streamtables.engine.binding import unbind_all
from streamtables.engine.job_tags import cancel_jobs, tag_thread, untag_thread
from streamtables.engine.python_functions import PythonFunctions
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.spark_progress import TasksDone, Told, asked
from streamtables.engine.spark_start import SparkSettings, start_spark
from streamtables.errors import InternalError, SparkGoneError, TransientError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Profile = Literal["quick", "bulk"]

_TIME_ZONE = "spark.sql.session.timeZone"
_BOTH = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # By default INT96, of which deltalake reads the years from 1677 to 2262 alone.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # With another time zone than UTC Delta checks its checksum files by whole extra jobs.
    "spark.databricks.delta.allFilesInCrc.verificationMode.forceOnNonUTC.enabled": "false",
}
_QUICK = {
    **_BOTH,
    "spark.sql.adaptive.enabled": "false",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.merge.materializeSource": "none",
}
_BULK = {**_BOTH, "spark.sql.adaptive.enabled": "true"}

# For what reads only rows of the driver: one task, no shuffle, and no Java to be compiled.
_TINY = {
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
}


@contextmanager
def tiny_rows(spark: SparkSession) -> Iterator[None]:
    """Have Spark plan for rows so few that planning is most of the work."""
    with spark_border():
        usual = {name: spark.conf.get(name, None) for name in _TINY}
        for name, value in _TINY.items():
            spark.conf.set(name, value)
    try:
        yield
    finally:
        with spark_border():
            for name, before in usual.items():
                if before is None:
                    spark.conf.unset(name)
                else:
                    spark.conf.set(name, before)


def fork(spark: SparkSession) -> SparkSession:
    """Return a session with its own settings and views on the same Spark.

    The one seam between classic Spark and Spark Connect.
    """
    if _is_remote(spark):
        cloned: SparkSession = spark.cloneSession()  # type: ignore[attr-defined]  # Connect only
        return cloned
    forked = spark.newSession()
    # newSession starts from the context's settings; what the caller set since would be lost.
    ours = forked.conf.getAll
    for name, value in spark.conf.getAll.items():
        if ours.get(name) != value and forked.conf.isModifiable(name):
            forked.conf.set(name, value)
    return forked


def _is_remote(spark: SparkSession) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


class SparkSessions:
    """The sessions of one connection; nothing starts before the first use."""

    def __init__(
        self,
        settings: SparkSettings | None = None,
        *,
        spark: SparkSession | None = None,
        zone: Callable[[str], str] = str,
    ) -> None:
        if settings is None and spark is None:
            raise InternalError("sessions need settings to start Spark with, or a session")
        self._settings = settings
        self._spark = spark
        self._zone = zone
        """Says in which time zone forks compute, given that of the session they come from."""
        self._owned = False
        self._free: dict[Profile, list[SparkSession]] = {"quick": [], "bulk": []}
        self._tagged: dict[str, SparkSession] = {}
        self._told = Told()
        self._lock = Lock()
        self.functions = PythonFunctions()

    @property
    def started(self) -> bool:
        """Whether there is a Spark to use already."""
        return self._spark is not None

    def get(self) -> SparkSession:
        """Return the session that all forks come from, starting Spark if need be."""
        with self._lock:
            if self._spark is None:
                self._spark = self._start()
            spark = self._spark
        self.functions.bring_into(spark)
        return spark

    def quick(self) -> SparkSession:
        """Return a new fork for small changes; `lease` gives a pooled one."""
        return self._forked("quick")

    def bulk(self) -> SparkSession:
        """Return a new fork for large changes; `lease` gives a pooled one."""
        return self._forked("bulk")

    @contextmanager
    def lease(
        self, profile: Profile, *, tag: str | None = None, label: str | None = None
    ) -> Iterator[SparkSession]:
        """Take a fork from the pool; what runs in it can be cancelled by its tag.

        `label` says to people who look at Spark's jobs whose work it is.  It is a tag too: job
        groups and descriptions belong to the context, which Spark Connect does not show.
        """
        with self._noticing_loss():
            spark = self._take(profile)
        shown = None if label is None else f"streamtables {label}"
        if shown is not None:
            spark.addTag(shown)
        if tag is not None:
            spark.addTag(tag)
            if not _is_remote(spark):
                tag_thread(spark, tag)
            self._tagged[tag] = spark
        try:
            with self._noticing_loss():
                yield spark
        finally:
            if tag is not None:
                self._tagged.pop(tag, None)
                spark.removeTag(tag)
                if not _is_remote(spark):
                    untag_thread(spark, tag)
            if shown is not None:
                spark.removeTag(shown)
            self._give_back(profile, spark)

    def cancel(self, tag: str) -> None:
        """Stop what runs under a tag."""
        # Spark knows a tag only in the thread that added it.  A leased session has one user, so
        # all that runs in it runs under the tag.
        spark = self._tagged.get(tag)
        if spark is not None:
            with spark_border():
                spark.interruptAll()
                if not _is_remote(spark):
                    cancel_jobs(spark, tag)

    def progress(self) -> TasksDone | None:
        """Return how far Spark is with what runs now; None where nothing does."""
        spark = self._spark
        if spark is None or _is_remote(spark):
            return self._told.now()
        with spark_border():
            return asked(spark)

    def stop(self) -> None:
        """Stop Spark if it was started here; a caller's session is left alone."""
        with self._lock:
            spark, self._spark = self._spark, None
            forks = [*self._free["quick"], *self._free["bulk"]]
            self._free = {"quick": [], "bulk": []}
        if spark is not None and _is_remote(spark):
            # A server keeps sessions until they are ended or long idle.
            for forked in forks:
                forked.stop()
        if spark is not None and self._owned:
            spark.stop()

    def _start(self) -> SparkSession:
        from pyspark.sql import SparkSession

        assert self._settings is not None
        # A session that this process has already is someone else's to stop.  One that we started
        # before is gone, or we would not be here.
        if not self._owned and (active := SparkSession.getActiveSession()) is not None:
            return active
        self._owned = True
        return start_spark(self._settings)

    @contextmanager
    def _noticing_loss(self) -> Iterator[None]:
        """Have the next user connect anew where a server that we connected to is gone."""
        try:
            yield
        except SparkGoneError:
            with self._lock:
                if self._owned and self._spark is not None and _is_remote(self._spark):
                    self._spark = None
                self._free = {"quick": [], "bulk": []}
            raise

    def _take(self, profile: Profile) -> SparkSession:
        with self._lock:
            free = self._free[profile]
            spark = free.pop() if free else None
        spark = spark or self._forked(profile)
        self.functions.bring_into(spark)
        return spark

    def _give_back(self, profile: Profile, spark: SparkSession) -> None:
        try:
            with self._noticing_loss(), spark_border():
                unbind_all(spark)
        except TransientError:
            # What the work did is done; a session that cannot be tidied is given to nobody.
            return
        with self._lock:
            if self._spark is not None:
                self._free[profile].append(spark)

    def _forked(self, profile: Profile) -> SparkSession:
        base = self.get()
        with spark_border():
            spark = fork(base)
            if _is_remote(spark):
                # The class that it names would be imported from what needs the client's packages.
                spark.registerProgressHandler(self._told)  # type: ignore[arg-type]  # any callable
            for name, value in self._profile(profile).items():
                spark.conf.set(name, value)
            here = spark.conf.get(_TIME_ZONE) or "UTC"
            if (zone := self._zone(here)) != here:
                spark.conf.set(_TIME_ZONE, zone)
        return spark

    def _profile(self, profile: Profile) -> Mapping[str, str]:
        if profile == "bulk":
            return _BULK
        partitions = self._settings.shuffle_partitions_quick if self._settings else 4
        return {**_QUICK, "spark.sql.shuffle.partitions": str(partitions)}
