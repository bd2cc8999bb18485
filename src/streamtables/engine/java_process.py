"""The Java process of a Spark that was started here: how it ended, and starting over without it.

PySpark opens one Java process and keeps the door to it for as long as Python runs.  Where that
process has ended, out of memory for instance, every later use of Spark would knock in vain.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from subprocess import Popen, TimeoutExpired
from typing import TYPE_CHECKING

from streamtables.errors import EnvironmentFaultError, SparkGoneError, StreamTablesError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OUT_OF_MEMORY = 52
"""With this Spark ends a process in which a task found no memory (`SparkExitCode.OOM`)."""
MEMORY_HINT = (
    "Give Spark more (spark_driver_memory), or have the table read less at once; "
    "it is tried again by itself."
)
_ENDS_SOON_SECONDS = 1.0
_ENDS_WITHIN_SECONDS = 10.0


def has_ended() -> bool:
    """Whether the Java process that this Python started is there no more."""
    process = _process()
    return process is not None and process.poll() is not None


def ends() -> bool:
    """Whether the Java process ends now: what fails in it may do so a moment before."""
    process = _process()
    if process is None:
        return False
    try:
        process.wait(_ENDS_SOON_SECONDS)
    except TimeoutExpired:
        return False
    return True


def let_go(spark: SparkSession) -> int | None:
    """Have PySpark forget a Spark that is of no use any more; return how its process ended.

    None where the process is not ours to end, or lives on: then only the context is stopped.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # it ships no types
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    code = _end_of(_process())
    with warnings.catch_warnings():
        # It warns that the process may be gone, which is why we are here.
        warnings.simplefilter("ignore", RuntimeWarning)
        # Where nobody answers the first call gets only half of the way.
        for _ in range(2):
            with suppress(Py4JError, OSError):
                spark.sparkContext.stop()
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    if code is not None:
        # The next start would ask the one that is gone: this forgets it, and calls nothing of it.
        SparkContext._gateway = SparkContext._jvm = None
    return code


def told(error: SparkGoneError, code: int | None) -> StreamTablesError:
    """Return what it means that Spark is gone, given how its process ended."""
    if code == OUT_OF_MEMORY:
        return EnvironmentFaultError(
            "Spark ran out of memory",
            detail="Its Java process ended, and the next refresh starts another one.",
            hint=MEMORY_HINT,
        )
    if code is not None and code < 0:
        return SparkGoneError(
            error.message,
            detail=f"Its Java process was killed (signal {-code}), as the system does with one "
            "for which there is no memory. The next refresh starts another one.",
            hint=error.hint,
        )
    return error


def _end_of(process: Popen[bytes] | None) -> int | None:
    """Have a process of no use end; return its exit code."""
    if process is None:
        return None
    # Spark ends with this pipe: a context that stopped may have left its process running.
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        return process.wait(_ENDS_WITHIN_SECONDS)
    except TimeoutExpired:
        process.kill()
        return process.wait()


def _process() -> Popen[bytes] | None:
    """Return the process that PySpark opened; none where Python itself runs below Java."""
    from pyspark import SparkContext

    return getattr(SparkContext._gateway, "proc", None)
