"""A leader that dies or stalls: another takes over, and nothing is lost, doubled or mixed.

One warehouse and few processes serve all cases, as each of them starts a Spark of its own.  While
they run DuckDB judges; when they have ended, `verify` does.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from streamtables.api import StreamTables
from streamtables.catalog.models import RefreshRecord
from streamtables.catalog.scheduler_models import EpochMove
from streamtables.engine.session import SparkSessions
from streamtables.errors import WouldMixError
from streamtables.refresh.moments import one_moment
from streamtables.refresh.processes import pid_of
from tests.support.delta_tables import DeltaTableFile
from tests.support.leaders import Leaders, Process, wait_for
from tests.support.moment_judge import MomentJudge, by_epoch, require_forward

# All but the last start processes with Sparks of their own, and they share one world.
pytestmark = [pytest.mark.apart, pytest.mark.crash, pytest.mark.slow]

BOUNDARIES = ("pins-chosen", "delta-computed", "committed", "recorded")
TABLES = {
    "per_a": "SELECT a, count(*) AS n, sum(id) AS total FROM t GROUP BY a",
    "busy": "SELECT a, total FROM per_a WHERE n > 1",
    "named": "SELECT t.id, t.a, u.b FROM t JOIN u ON t.a = u.id",
    "met": """SELECT busy.a, busy.total, count(*) AS n FROM busy JOIN named ON busy.a = named.a
              GROUP BY busy.a, busy.total""",
}


@dataclass
class World:
    """A warehouse, two sources that somebody writes, and the processes that follow them."""

    db: StreamTables
    leaders: Leaders
    t: DeltaTableFile
    u: DeltaTableFile
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    written: int = 100

    def __post_init__(self) -> None:
        self.db.add_source("t", path=self.t.path, key=["id"])
        self.db.add_source("u", path=self.u.path, key=["id"])
        for name, query in TABLES.items():
            self.db.create(name, query, schedule="on change")
        self.judge = MomentJudge(self.db)

    def write(self) -> None:
        """Insert, update and delete; every commit changes rows."""
        self.written += 2
        one, two = self.written, self.written + 1
        self.t.append((one, self.chance.randint(1, 4)), (two, 4))
        self.t.update(f"id = {one}", a="a % 4 + 1")
        self.t.delete(f"id = {two}")
        self.u.update(f"id = {self.chance.randint(1, 4)}", b="b + 1")

    def is_current(self) -> bool:
        """Whether every table stands for the sources as they are."""
        definitions = self.judge.definitions
        heads = {
            definitions.source("t").id: self.t.open().version(),
            definitions.source("u").id: self.u.open().version(),
        }
        known = self.db._catalog.standings()
        return all(
            key in known and all(known[key].base_frontier.get(r) == heads[r] for r in roots)
            for key, roots in ((key, definitions.roots(key)) for key in definitions.stream_tables)
        )

    def check(self) -> None:
        """Wait for the tables; they equal their queries, and each change is in them once."""
        wait_for(self.is_current, f"current: {self.leaders.log.read_text()[-2_000:]}")
        now = self.db._catalog.standings()
        moves = [EpochMove(key, at.version, at.base_frontier) for key, at in now.items()]
        self.judge.require_equal(moves)
        for table in self.db.stream_tables():
            self.judge.require_own_log(table)
            assert table.state == "active", (table.name, table.state_reason)

    def done_by(self, process: Process) -> list[RefreshRecord]:
        """Return what a process refreshed."""
        records = [record for name in TABLES for record in self.db.history(name)]
        return [record for record in records if pid_of(record.process) == process.pid]

    def leader(self) -> Process | None:
        """Return the process that leads."""
        lease = self.db._catalog.lease()
        return self.leaders.led_by(lease.holder) if lease else None


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("leaders")
    t = DeltaTableFile(folder / "t", {"id": "bigint", "a": "int"}, [(n, n % 5) for n in range(20)])
    u = DeltaTableFile(folder / "u", {"id": "bigint", "b": "int"}, [(n, n) for n in range(5)])
    leaders = Leaders(folder / "w")
    with StreamTables(folder / "w") as db:
        made = World(db, leaders, t, u)
        for _ in range(2):
            leaders.start()
        try:
            made.check()
            yield made
        finally:
            leaders.kill()


@pytest.mark.fault(
    "rivals",
    "the leader stands still and goes on later",
    step="refresh of a round: pins chosen, changes computed, committed, recorded",
    seen="an event `leader`; what it had computed ends `superseded`",
    recovery="by itself",
)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_a_leader_that_stalls_is_overtaken_and_starts_nothing_more(
    world: World, boundary: str
) -> None:
    world.leaders.ask("stop", boundary)
    world.write()
    stalled = world.leaders.wait_for_stop()
    wait_for(lambda: world.leader() is not stalled, "taken over")
    world.write()
    world.check()
    continued_at = datetime.now(UTC)
    stalled.send_signal(signal.SIGCONT)
    world.write()
    world.check()
    assert world.leader() is not stalled
    wait_for(lambda: all(r.state != "running" for r in world.done_by(stalled)), "ended")
    done = world.done_by(stalled)
    assert [record for record in done if record.started_at > continued_at] == []
    if boundary == "delta-computed":
        # What it had computed was for a version that is no longer the last one.
        assert "superseded" in {
            r.state for r in done if (r.finished_at or r.started_at) > continued_at
        }


@pytest.mark.fault(
    "process",
    "the leader of two schedulers is killed",
    step="refresh of a round: pins chosen, changes computed, committed, recorded",
    seen="an event `leader`",
    recovery="by itself, after `lease_seconds`",
)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_a_leader_that_is_killed_is_followed_by_the_next(world: World, boundary: str) -> None:
    world.leaders.ask("kill", boundary)
    world.write()
    dead = world.leaders.wait_for_death()
    world.leaders.start()
    world.write()
    world.check()
    assert all(record.state != "running" for record in world.done_by(dead))


def test_every_epoch_is_true_and_the_tables_agree_again_and_again(
    world: World, spark_sessions: SparkSessions
) -> None:
    wait_for(lambda: world.leader() is not None, "led")
    assert set(world.leaders.end()) == {0}, world.leaders.log.read_text()
    catalog, tables = world.db._catalog, world.db.stream_tables()
    moves = catalog.epoch_moves([table.id for table in tables], limit=1_000_000)
    epochs = by_epoch(moves, catalog.last_epoch())
    require_forward(epochs)
    world.judge.require_equal(moves)
    agreed = 0
    for number in range(1, len(epochs) + 1):
        try:
            found = one_moment(tables, catalog.snapshot(), world.db._around, number)
        except WouldMixError:
            continue
        assert found.versions == {k: m.delta_version for k, m in epochs[number - 1].items()}
        agreed += 1
    assert agreed >= 2 * len(BOUNDARIES), f"{agreed} of {len(epochs)} epochs"
    with StreamTables(world.db.warehouse, spark=spark_sessions.get()) as db:
        for name in TABLES:
            assert db.verify(name).equal
