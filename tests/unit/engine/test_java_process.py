"""How the Java process of a Spark ended, and what is said of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from subprocess import PIPE, Popen
from types import SimpleNamespace

import pytest
from pyspark import SparkContext

from streamtables.engine import java_process
from streamtables.errors import EnvironmentFaultError, SparkGoneError

GONE = SparkGoneError("the connection to Spark is lost", detail="Connection refused", hint="Again.")
Started = Callable[[str], "Popen[bytes]"]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """Starts Python in the place of Java, with a program."""

    def start(program: str) -> Popen[bytes]:
        process = Popen([sys.executable, "-c", program], stdin=PIPE)
        monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=process))
        return process

    return start


def test_the_end_of_a_task_without_memory_is_a_fault_of_the_machine() -> None:
    found = java_process.told(GONE, java_process.OUT_OF_MEMORY)
    assert type(found) is EnvironmentFaultError
    assert found.message == "Spark ran out of memory"
    assert "spark_driver_memory" in found.hint


def test_a_process_that_was_killed_is_told_with_its_signal() -> None:
    found = java_process.told(GONE, -9)
    assert type(found) is SparkGoneError
    assert "signal 9" in found.detail


@pytest.mark.parametrize("code", [None, 0, 1])
def test_any_other_end_is_told_as_it_was_noticed(code: int | None) -> None:
    assert java_process.told(GONE, code) is GONE


def test_a_process_that_ended_is_noticed(started: Started) -> None:
    process = started("")
    process.communicate()
    assert java_process.has_ended()
    assert java_process.ends()


def test_a_process_that_lives_is_left_alone(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java_process, "_ENDS_SOON_SECONDS", 0.01)
    process = started("input()")
    assert not java_process.has_ended()
    assert not java_process.ends()
    # It ends with its pipe, as Java does.
    assert java_process._end_of(process) == 1


def test_python_below_java_has_no_process_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=None))
    assert not java_process.has_ended()
    assert not java_process.ends()
    assert java_process._end_of(None) is None
