"""What Connect servers tell of statements that run adds up, and goes when they end."""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.engine.spark_progress import TasksDone, Told


@dataclass
class Stage:
    """A stage as a server tells of it."""

    num_completed_tasks: int
    num_tasks: int


def test_nothing_runs_before_a_server_has_told_of_it():
    assert Told().now() is None


def test_statements_that_run_add_up():
    told = Told()
    told([Stage(1, 4), Stage(0, 8)], 2, "one", done=False)
    told([Stage(3, 3)], 0, "two", done=False)
    assert told.now() == TasksDone(4, 15)
    told([Stage(4, 4), Stage(8, 8)], 0, "one", done=False)
    assert told.now() == TasksDone(15, 15)


def test_a_statement_that_ended_is_forgotten():
    told = Told()
    told([Stage(1, 4)], 1, "one", done=False)
    told([], 0, "two", done=False)
    told(None, 0, "one", done=True)
    assert told.now() == TasksDone(0, 0)
    told(None, 0, "two", done=True)
    told(None, 0, "never heard of", done=True)
    assert told.now() is None
