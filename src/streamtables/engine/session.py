"""Spark sessions: one context, started on first use, and a pool of forks for parallel work.

A fork has its own settings and temporary views on the same Spark.  Work takes one for as long as
it needs it; what it bound there is gone before the next user comes.

    quick   a small change: no adaptive planning, few partitions, small snapshots
    bulk    FULL and large changes: adaptive planning on
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

from streamtables.engine.binding import unbind_all
from streamtables.engine.java_process import ends, has_ended, let_go, told
from streamtables.engine.job_tags import cancel_jobs, tag_thread, untag_thread
from streamtables.engine.python_functions import PythonFunctions
from streamtables.engine.spark_errors import gone, spark_border
from streamtables.engine.spark_progress import TasksDone, Told, asked
from streamtables.engine.spark_start import SparkSettings, start_spark
from streamtables.errors import (
    CommitConflictError,
    EnvironmentFaultError,
    InternalError,
    RefreshCancelledError,
    SparkGoneError,
    StreamTablesError,
    TransientError,
)

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
        self._roots: WeakKeyDictionary[SparkSession, SparkSession] = WeakKeyDictionary()
        """Which session each fork comes from: forks of a Spark that is gone are of no use."""
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
        self._lose_what_ended()
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
        shown = None if label is None else f"streamtables {label}"
        tags = [name for name in (shown, tag) if name is not None]
        with self._noticing_loss(self._spark):
            spark = self._take(profile)
        root = self._roots.get(spark)
        with self._noticing_loss(root), spark_border():
            for name in tags:
                spark.addTag(name)
            if tag is not None and not _is_remote(spark):
                tag_thread(spark, tag)
        if tag is not None:
            self._tagged[tag] = spark
        try:
            with self._noticing_loss(root):
                yield spark
        finally:
            if tag is not None:
                self._tagged.pop(tag, None)
            self._give_back(profile, spark, tag, tags)

    def cancel(self, tag: str) -> None:
        """Stop what runs under a tag."""
        # Spark knows a tag only in the thread that added it.  A leased session has one user, so
        # all that runs in it runs under the tag.
        spark = self._tagged.get(tag)
        if spark is not None:
            # Where Spark is gone, nothing runs.
            with suppress(SparkGoneError), spark_border():
                spark.interruptAll()
                if not _is_remote(spark):
                    cancel_jobs(spark, tag)

    def progress(self) -> TasksDone | None:
        """Return how far Spark is with what runs now; None where nothing does."""
        spark = self._spark
        if spark is None or _is_remote(spark):
            return self._told.now()
        with suppress(SparkGoneError), spark_border():
            return asked(spark)
        return None

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
        if spark is None or not self._owned:
            return
        try:
            with spark_border():
                spark.stop()
        except SparkGoneError:
            if not _is_remote(spark):
                let_go(spark)

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
    def _noticing_loss(self, root: SparkSession | None) -> Iterator[None]:
        """Have the next user find another Spark where the one that we started is gone."""
        try:
            yield
        except ConnectionError as error:
            # What is only planned meets it outside of every border.  Where Java lives on, it is a
            # connection to something else that broke.
            if self._is_ours(root) and not ends():
                raise
            raise self._lost(root, gone(error)) from error
        except SparkGoneError as error:
            raise self._lost(root, error) from error.__cause__
        except (TransientError, EnvironmentFaultError) as error:
            # Of a process that ends the first sign may be a failure without a reason.
            if isinstance(error, CommitConflictError | RefreshCancelledError):
                raise
            if not self._is_ours(root) or not ends():
                raise
            raise self._lost(root, gone(error)) from error

    def _lost(self, root: SparkSession | None, error: SparkGoneError) -> StreamTablesError:
        return told(error, self._lose(root))

    def _is_ours(self, root: SparkSession | None) -> bool:
        """Whether a Spark that is used now was started here, in a process of ours."""
        return self._owned and self._spark is root and root is not None and not _is_remote(root)

    def _lose(self, root: SparkSession | None) -> int | None:
        """Forget a Spark that is gone, if nobody did yet; return how its process ended."""
        with self._lock:
            # Who notices late would otherwise take the next one from all others.
            if root is None or self._spark is not root:
                return None
            self._free = {"quick": [], "bulk": []}
            if not self._owned:
                return None
            self._spark = None
            return None if _is_remote(root) else let_go(root)

    def _take(self, profile: Profile) -> SparkSession:
        self._lose_what_ended()
        with self._lock:
            free = self._free[profile]
            spark = free.pop() if free else None
        spark = spark or self._forked(profile)
        self.functions.bring_into(spark)
        return spark

    def _lose_what_ended(self) -> None:
        """Notice that the Java process ended while nobody used it."""
        spark = self._spark
        if self._is_ours(spark) and has_ended():
            self._lose(spark)

    def _give_back(
        self, profile: Profile, spark: SparkSession, tag: str | None, tags: Iterable[str]
    ) -> None:
        root = self._roots.get(spark)
        try:
            with self._noticing_loss(root), spark_border():
                for name in tags:
                    spark.removeTag(name)
                if tag is not None and not _is_remote(spark):
                    untag_thread(spark, tag)
                unbind_all(spark)
        except StreamTablesError:
            # What the work did is done; a session that cannot be tidied is given to nobody.
            return
        with self._lock:
            if self._spark is root:
                self._free[profile].append(spark)

    def _forked(self, profile: Profile) -> SparkSession:
        root = self.get()
        with spark_border():
            spark = fork(root)
            self._roots[spark] = root
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
