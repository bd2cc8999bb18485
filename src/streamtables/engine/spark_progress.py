"""How far Spark is with what it computes, in tasks.

Classic Spark is asked; a Connect server tells while a statement runs, to whoever has registered.
Tasks are what Spark itself counts: their number grows as stages of a statement begin.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from streamtables.engine.job_tags import running_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class TasksDone:
    """How many tasks of the stages that run are done, and how many there are."""

    done: int
    total: int


class Stage(Protocol):
    """What a Connect server says of one stage."""

    @property
    def num_tasks(self) -> int:
        """How many tasks it has."""

    @property
    def num_completed_tasks(self) -> int:
        """How many of them are done."""


@dataclass
class Told:
    """What Connect servers told last of each statement that runs; safe between threads."""

    _statements: dict[str, TasksDone] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __call__(
        self,
        stages: Iterable[Stage] | None,
        inflight_tasks: int,
        operation_id: str | None,
        done: bool,
    ) -> None:
        """Take what a server tells."""
        with self._lock:
            if done or stages is None:
                self._statements.pop(operation_id or "", None)
                return
            counts = [(stage.num_completed_tasks, stage.num_tasks) for stage in stages]
            ended, total = (sum(part) for part in zip(*counts, strict=True)) if counts else (0, 0)
            self._statements[operation_id or ""] = TasksDone(ended, total)

    def now(self) -> TasksDone | None:
        """Return what runs now; None where nothing does."""
        with self._lock:
            running = list(self._statements.values())
        if not running:
            return None
        return TasksDone(sum(one.done for one in running), sum(one.total for one in running))


def asked(spark: SparkSession) -> TasksDone | None:
    """Return what runs now on classic Spark; None where nothing does."""
    stages = running_tasks(spark)
    if not stages:
        return None
    return TasksDone(sum(done for done, _ in stages), sum(total for _, total in stages))
