"""The border to Spark: its exceptions become ours once, here, without a JVM stack.

What Spark calls the error condition (`DIVIDE_BY_ZERO`, `DELTA_CONCURRENT_APPEND`) decides the
family.  A failure inside a task arrives wrapped, its own condition then stands in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from streamtables.engine.integrity import damaged, duplicate_key
from streamtables.engine.java_process import MEMORY_HINT
from streamtables.errors import (
    CommitConflictError,
    EnvironmentFaultError,
    HistoryGoneError,
    QueryFailedError,
    RecursionLimitError,
    SourceMissingError,
    SourceUnusableError,
    SparkGoneError,
    SqlSyntaxError,
    StreamTablesError,
    TransientError,
)

# Texts that our own SQL raises, recognised whatever Spark wraps around them.
ROW_NOT_STORED = "streamtables: a row that the change removes is not stored"
DUPLICATE_KEY = "streamtables: two rows share one key"
# The compiler's own text for changes that contradict the rows they are taken from.
ROWS_NOT_THERE = "streamtables: changes take away rows that were not there"

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]\s*([^\n]*)")
_WRAPPERS = ("TASK_WRITE_FAILED", "FAILED_EXECUTE_UDF", "JOB_ABORTED", "WRITING_JOB_ABORTED")
_CONFLICT = re.compile(
    r"DELTA_CONCURRENT|DELTA_METADATA_CHANGED|DELTA_PROTOCOL_CHANGED|Concurrent\w*Exception"
)
_HISTORY = re.compile(
    r"DELTA_MISSING_CHANGE_DATA|DELTA_VERSION_NOT_FOUND|DELTA_LOG_FILE_NOT_FOUND"
    r"|DELTA_VERSIONS_NOT_CONTIGUOUS|DELTA_CHANGE_TABLE_FEED_DISABLED|FILE_NOT_EXIST"
    r"|DELTA_TRUNCATED_TRANSACTION_LOG|DELTA_FILE_NOT_FOUND|DELTA_NO_COMMITS_FOUND"
)
# In a task, on the driver, of Spark's own account of it, and of executors on other machines.
_NO_MEMORY = re.compile(
    r"java\.lang\.OutOfMemoryError|SparkOutOfMemoryError|UNABLE_TO_ACQUIRE_MEMORY"
    r"|(?:AGGREGATE|POINTER_ARRAY|SPILL)_OUT_OF_MEMORY|INTERNAL_ERROR_MEMORY"
    r"|[Nn]ot enough memory to build|Can't acquire \d+ bytes memory|Could not allocate memory"
    r"|ExecutorLostFailure[^\n]*(?:exit code 52|exit code 137|code 52\b|code 137\b)"
)
_HEAP = re.compile(r"Caused by: java\.lang\.OutOfMemoryError")
_UNREADABLE = re.compile(r"FAILED_READ_FILE")
_NO_WRITE = re.compile(
    r"(?:IOException|FSError|FileSystemException|FileNotFoundException)[^\n]*"
    r"(No space left on device|Read-only file system|Disk quota exceeded|File too large"
    r"|Permission denied|Mkdirs failed)"
)
_ACROSS_SCHEMAS = re.compile(r"DELTA_CHANGE_DATA_FEED_INCOMPATIBLE")
_MISSING = re.compile(
    r"PATH_NOT_FOUND|DELTA_PATH_DOES_NOT_EXIST|DELTA_TABLE_NOT_FOUND|DELTA_MISSING_DELTA_TABLE"
    r"|DELTA_SCHEMA_NOT_SET|DELTA_TABLE_ONLY_OPERATION"
)
_NOT_CONNECTED = re.compile(r"FAILED_JDBC\.CONNECTION")
# The driver's own words are in Java's stack alone.
_JDBC_CAUSE = re.compile(r"Caused by: (?:org\.postgresql|java|javax|sun)\.[\w.]+: ([^\n]+)")
_RECURSION = re.compile(r"RECURSION_(LEVEL|ROW)_LIMIT_EXCEEDED")
_CANCELLED = re.compile(r"SPARK_JOB_CANCELLED|OPERATION_CANCELED")
# "Connection refused" alone may be a database that a job reads; these are of Spark itself.
_GONE = re.compile(
    r"INVALID_HANDLE\.SESSION_\w+|NO_ACTIVE_SESSION|StatusCode\.UNAVAILABLE|RETRIES_EXCEEDED"
    r"|Py4JNetworkError|SparkContext was shut down|methods on a stopped SparkContext"
)
# Conditions that the user's rows or query cause, also when Spark raises them from a task.
_USER_KINDS = (
    "AnalysisException",
    "ParseException",
    "ArithmeticException",
    "ArrayIndexOutOfBoundsException",
    "DateTimeException",
    "IllegalArgumentException",
    "NumberFormatException",
    "SparkRuntimeException",
    "PythonException",
)


_REMEDY = "Correct the row that it fails on, or alter the query so that Spark can run it."


@contextmanager
def spark_border() -> Iterator[None]:
    """Turn what Spark raises inside the block into an error of this package."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # it ships no types
    from pyspark.errors import PySparkException

    try:
        yield
    # What Py4J meets where its Java process has ended, it passes on as it is.
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise translated(error) from error


def translated(error: Exception) -> StreamTablesError:
    """Return this package's error for one of Spark's."""
    try:
        text = str(error)
    except Exception as silence:
        # Py4J asks Java for the words of its error, and there is no Java any more.
        return gone(silence)
    if ROW_NOT_STORED in text or ROWS_NOT_THERE in text:
        return damaged()
    if DUPLICATE_KEY in text:
        return duplicate_key(())
    condition, sentence = condition_of(error)
    if isinstance(error, ConnectionError) or _GONE.search(f"{type(error).__name__} {text[:2000]}"):
        return gone(error)
    detail = f"Spark says {condition}: {sentence}" if condition else sentence
    about = f"{condition} {type(error).__name__} {text[:2000]}"
    if _CONFLICT.search(about):
        return CommitConflictError("another writer committed first", detail=detail)
    if _ACROSS_SCHEMAS.search(about):
        return HistoryGoneError(
            "Delta cannot show changes across a change of the schema",
            detail=detail,
            hint="Refresh with full=True to read the source as it is now.",
        )
    if _HISTORY.search(about):
        return HistoryGoneError(
            "the history that this refresh needs is gone",
            detail=detail,
            hint="Refresh with full=True to read the source as it is now.",
        )
    stack = getattr(error, "_stackTrace", None) or ""
    if _NO_MEMORY.search(about) or _HEAP.search(stack):
        return EnvironmentFaultError("Spark ran out of memory", detail=detail, hint=MEMORY_HINT)
    if cause := _NO_WRITE.search(f"{text}\n{stack}"):
        return EnvironmentFaultError(
            "Spark cannot write",
            detail=f"{cause[1]}. {detail}",
            hint="Make room, or give the right to write; it is then tried again by itself.",
        )
    if _UNREADABLE.search(about):
        return HistoryGoneError(
            "a file that this refresh needs cannot be read",
            detail=detail,
            hint="A full refresh makes files of the table anew; bring those of a source back.",
        )
    if _NOT_CONNECTED.search(about):
        return _not_connected(error, detail)
    if _MISSING.search(about):
        return SourceMissingError("there is no Delta table where one is read", detail=detail)
    if limit := _RECURSION.search(about):
        return _recursion_limit(limit[1], detail)
    if _CANCELLED.search(about):
        return TransientError("the Spark job was cancelled", detail=detail)
    if condition == "PARSE_SYNTAX_ERROR":
        return SqlSyntaxError(
            "Spark cannot read the statement", detail=detail, hint="Check it near the word named."
        )
    if _is_users(error, condition):
        # The class alone: what a reason or a log shows must not hold values of rows.
        kind = f": {condition}" if condition else ""
        return QueryFailedError(f"Spark cannot run the query{kind}", detail=detail, hint=_REMEDY)
    return TransientError("Spark could not finish", detail=detail)


def gone(error: Exception) -> SparkGoneError:
    """Return what it means that Spark answers no more."""
    return SparkGoneError(
        "the connection to Spark is lost",
        detail=condition_of(error)[1],
        hint="Try again; with a session of your own, open the warehouse with a new one.",
    )


def _not_connected(error: Exception, detail: str) -> SourceUnusableError:
    said = _JDBC_CAUSE.findall(f"{error}\n{getattr(error, '_stackTrace', '')}")
    return SourceUnusableError(
        "Spark cannot connect to the database",
        detail=f"Java says: {_clean(said[-1])}." if said else detail,
        hint="Spark's processes have to reach the server too, and to read the files that "
        "sslrootcert, sslcert and sslkey name; a key has to be PKCS-8 DER.",
    )


def _recursion_limit(limit: str, detail: str) -> RecursionLimitError:
    unit, setting = {
        "LEVEL": ("levels", "spark.sql.cteRecursionLevelLimit"),
        "ROW": ("rows", "spark.sql.cteRecursionRowLimit"),
    }[limit]
    return RecursionLimitError(
        f"a recursion has more {unit} than Spark allows",
        detail=detail,
        hint=f"Look for a cycle in the rows, bound the depth in the step, or raise {setting}.",
    )


def condition_of(error: Exception) -> tuple[str, str]:
    """Return Spark's error condition and its sentence, both on one line."""
    found = [(name, rest.strip()) for name, rest in _CONDITION.findall(str(error))]
    inner = [pair for pair in found if not pair[0].startswith(_WRAPPERS)]
    if inner:
        return inner[0][0], _clean(inner[0][1])
    first = next(iter(str(error).splitlines()), "")
    return (found[0][0], _clean(found[0][1])) if found else ("", _clean(first))


def _clean(sentence: str) -> str:
    # SQLSTATE and what follows (query context, stack) is for people who debug Spark.
    return re.split(r"\s*SQLSTATE:|\s+at org\.|\s+at scala\.", sentence)[0].strip()[:500]


def _is_users(error: Exception, condition: str) -> bool:
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & set(_USER_KINDS):
        return True
    return bool(condition) and not condition.startswith(("DELTA_", "INTERNAL_ERROR"))


__all__ = ["DUPLICATE_KEY", "ROW_NOT_STORED", "condition_of", "gone", "spark_border"]
