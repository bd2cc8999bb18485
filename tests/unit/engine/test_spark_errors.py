"""Which family each of Spark's errors belongs to, by its text alone."""

from __future__ import annotations

import pytest

from streamtables.engine.spark_errors import (
    DUPLICATE_KEY,
    ROW_NOT_STORED,
    condition_of,
    spark_border,
    translated,
)
from streamtables.errors import (
    CommitConflictError,
    DuplicateKeyError,
    EnvironmentFaultError,
    HistoryGoneError,
    QueryFailedError,
    RecursionLimitError,
    SourceMissingError,
    SourceUnusableError,
    SparkGoneError,
    SqlSyntaxError,
    TableDamagedError,
    TransientError,
)

TASK = "Job aborted due to stage failure: Task 0 failed 1 times, most recent failure: "
CASES = {
    "io.delta.exceptions.ConcurrentAppendException: [DELTA_CONCURRENT_APPEND] x": CommitConflictError,
    "[DELTA_METADATA_CHANGED] The metadata has been changed": CommitConflictError,
    "[DELTA_MISSING_CHANGE_DATA] Error getting change data": HistoryGoneError,
    "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error": HistoryGoneError,
    "[FAILED_READ_FILE.NO_HINT] Encountered error": HistoryGoneError,
    TASK
    + "[TASK_WRITE_FAILED] w\nCaused by: java.io.IOException: No space left on device": EnvironmentFaultError,
    TASK
    + "org.apache.hadoop.fs.FSError: java.io.IOException: Read-only file system": EnvironmentFaultError,
    TASK
    + "[TASK_WRITE_FAILED] w\n[FAILED_EXECUTE_UDF] PermissionError: Permission denied": QueryFailedError,
    "[DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE] Retrieving table changes": HistoryGoneError,
    "[DELTA_PATH_DOES_NOT_EXIST] /x doesn't exist": SourceMissingError,
    "[FAILED_JDBC.CONNECTION] Failed JDBC jdbc:postgresql:*** on the operation": SourceUnusableError,
    TASK + "[TASK_WRITE_FAILED] no\n[DIVIDE_BY_ZERO] Division by zero.": QueryFailedError,
    TASK + f"[USER_RAISED_EXCEPTION] {ROW_NOT_STORED} SQLSTATE: P0001": TableDamagedError,
    TASK + f"[USER_RAISED_EXCEPTION] {DUPLICATE_KEY} SQLSTATE: P0001": DuplicateKeyError,
    "[PARSE_SYNTAX_ERROR] Syntax error at or near 'SELEC'.": SqlSyntaxError,
    "[RECURSION_LEVEL_LIMIT_EXCEEDED] Recursion level limit 100 reached": RecursionLimitError,
    TASK + "[RECURSION_ROW_LIMIT_EXCEEDED] Recursion row limit reached": RecursionLimitError,
    "[INVALID_HANDLE.SESSION_CHANGED] The handle f00 is invalid.": SparkGoneError,
    "[RETRIES_EXCEEDED] The maximum number of retries has been exceeded.": SparkGoneError,
    "Cannot call methods on a stopped SparkContext.": SparkGoneError,
    TASK + "Lost task 0.0: java.lang.OutOfMemoryError: Java heap space": EnvironmentFaultError,
    "An error occurred.\n: java.lang.OutOfMemoryError: GC overhead limit": EnvironmentFaultError,
    TASK
    + "[UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes of memory, got 0.": EnvironmentFaultError,
    TASK
    + "[TASK_WRITE_FAILED] no\n[AGGREGATE_OUT_OF_MEMORY] No enough memory for aggregation": EnvironmentFaultError,
    "Not enough memory to build and broadcast the table to all worker nodes.": EnvironmentFaultError,
    TASK
    + "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Command exited with code 52": EnvironmentFaultError,
    TASK + "[USER_RAISED_EXCEPTION] out of memory": QueryFailedError,
    TASK + "Connection to db:5432 refused.": TransientError,
    "executor lost": TransientError,
}


@pytest.mark.parametrize("text", CASES)
def test_the_condition_decides_the_family(text):
    assert type(translated(Exception(text))) is CASES[text]


def test_a_door_that_nobody_opens_is_a_spark_that_is_gone():
    with pytest.raises(SparkGoneError), spark_border():
        raise ConnectionRefusedError(111, "Connection refused")


def test_an_error_that_java_can_no_longer_tell_is_a_spark_that_is_gone():
    class UntoldError(Exception):
        def __str__(self) -> str:
            raise ConnectionRefusedError(111, "Connection refused")

    assert type(translated(UntoldError())) is SparkGoneError


@pytest.mark.parametrize("limit", ["Level", "Row"])
def test_a_recursion_without_end_names_the_setting_that_ended_it(limit):
    text = f"[RECURSION_{limit.upper()}_LIMIT_EXCEEDED] Recursion limit reached. SQLSTATE: 42836"
    error = translated(Exception(text))
    assert error.code == "ST-1410"
    assert f"spark.sql.cteRecursion{limit}Limit" in error.hint
    assert error.detail.endswith("Recursion limit reached.")


def test_a_condition_inside_a_task_is_found_and_the_stack_is_not_shown():
    text = (
        TASK
        + "[TASK_WRITE_FAILED] w\nCaused by: [ARITHMETIC_OVERFLOW] too big. SQLSTATE: 22003\n\tat org.x"
    )
    assert condition_of(Exception(text)) == ("ARITHMETIC_OVERFLOW", "too big.")


def test_a_failed_query_is_called_by_its_condition_and_not_by_its_values():
    text = TASK + "[CAST_INVALID_INPUT] The value 'secret' of the type cannot be cast."
    error = translated(Exception(text))
    assert error.message == "Spark cannot run the query: CAST_INVALID_INPUT"
    assert "secret" in error.detail
