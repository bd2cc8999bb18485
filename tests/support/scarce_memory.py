"""Two tables in a process whose Spark has little memory; it prints how each of them fares.

`python -m tests.support.scarce_memory FOLDER`.  A value of `heavy` can be larger than all of Spark's
memory; `calm` reads the same source.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from streamtables.api import StreamTables
from streamtables.fail_points import Boundary
from streamtables.refresh import spark_way
from tests.support.delta_tables import DeltaTableFile
from tests.support.moved_clock import Clock
from tests.support.processes import command_line, descendants
from tests.support.settings import settings_with
from tests.support.stamped import require_sound

TABLES = {
    "heavy": "SELECT id, length(repeat('x', n)) AS size FROM t",
    "calm": "SELECT count(*) AS n, sum(id) AS total FROM t",
}
TOO_LARGE = 900_000_000
TRIES = 5
WAIT_SECONDS = 12.0
"""Longer than a passing fault is waited for, and shorter than one of the machine."""
LITTLE = {
    "spark_driver_memory": "512m",
    "spark_master": "local[1]",
    # One table after the other: a Spark that ends takes one refresh with it.
    "worker_pool_size": "1",
    # Every change goes through tasks of Spark.
    "driver_rows_max": 0,
    # Compiling Java would be most of the time.
    "spark_conf": "spark.sql.codegen.wholeStage=false; spark.sql.codegen.factoryMode=NO_CODEGEN; "
    "spark.sql.shuffle.partitions=1; spark.databricks.delta.snapshotPartitions=1",
}


class Life:
    """A source, and two tables that are refreshed as the scheduler does it."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.source = DeltaTableFile(folder / "t", {"id": "bigint", "n": "int"}, [(1, 1), (2, 2)])
        self.db = StreamTables(folder / "w", settings=settings_with(**LITTLE), clock=self.clock)
        self.db.add_source("t", path=self.source.path, key="id")
        for name, query in TABLES.items():
            self.db.create(name, query, schedule="on change", mode="differential")

    def ticks_until(self, current: tuple[str, ...], wait: float = WAIT_SECONDS) -> None:
        """Let time pass, with all the tries that are made in it, until tables are current."""
        for _ in range(TRIES):
            self.clock.forward(wait)
            self.db.tick()
            if all(map(self._is_current, current)):
                return

    def tell(self, what: str) -> None:
        """Print of each table whether it is current, its state, and the codes of its errors."""
        for name in TABLES:
            table = self.db._catalog.stream_table(name)
            codes = {record.error_code for record in self.db.history(name)} - {"", None}
            known = "current" if self._is_current(name) else "behind"
            print(f"{what}/{name}/{known}/{table.state}/{'+'.join(sorted(map(str, codes)))}")
        for event in self.db.events():
            print(what, event.kind, event.subject, event.text, file=sys.stderr)

    def _is_current(self, name: str) -> bool:
        standing = self.db._catalog.standing(self.db._catalog.stream_table(name).id)
        head = self.source.open().version()
        return standing is not None and set(standing.base_frontier.values()) == {head}


def run_out(life: Life) -> None:
    """A value that no memory holds comes."""
    life.source.update("id = 1", n=str(TOO_LARGE))
    life.ticks_until(("calm",))
    life.tell("short")


def lose_java(life: Life) -> None:
    """The value goes.  The system ends Spark's process while nobody uses it, and while it works."""
    _kill_java()
    life.source.update("id = 1", n="3")
    life.ticks_until(("calm", "heavy"), wait=600)
    life.tell("idle")
    with _killed_at("delta-computed"):
        life.source.append((4, 4))
        life.ticks_until(("calm", "heavy"))
    life.tell("busy")


@contextmanager
def _killed_at(boundary: Boundary) -> Iterator[None]:
    names = vars(spark_way)
    left, reach = [boundary], names["reach"]

    def reached(where: Boundary) -> None:
        if where in left:
            left.remove(where)
            _kill_java()
        reach(where)

    names["reach"] = reached
    try:
        yield
    finally:
        names["reach"] = reach
    assert not left


def _kill_java() -> None:
    for one in descendants(os.getpid()):
        if "/java" in command_line(one.pid):
            # One that runs out of memory may end by itself just now.
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(one.pid, signal.SIGKILL)
                # It is gone with the last of its threads; who started it may still ask how.
                os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOWAIT)


def main(folder: Path) -> None:
    """Live through a lack of memory, and prove the tables at the end."""
    life = Life(folder)
    life.ticks_until(tuple(TABLES))
    life.tell("filled")
    run_out(life)
    lose_java(life)
    require_sound(life.db)
    print("proved", flush=True)
    life.db.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
