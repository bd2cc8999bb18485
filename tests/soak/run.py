"""A soak: `python -m tests.soak.run --minutes 30 --tables 60`.

A process writes, one leads and one stands by.  The one that leads is killed or stopped, at a
boundary or at any moment, and refreshes fail at random; some epochs are looked at in between.  At
the end every epoch is judged, by each version of each table once, and everything is compared by
`verify`.  The last line sums up.  Answers 1 when anything differs.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle
from pathlib import Path

from streamtables.api import StreamTables
from streamtables.catalog.models import RefreshRecord
from streamtables.settings import Settings
from tests.soak.audit import Audit
from tests.soak.tables import Sources, define, graph
from tests.support.leaders import (
    LEASE_SECONDS,
    PATIENCE_SECONDS,
    Leaders,
    Process,
    is_stopped,
    wait_for,
)

BOUNDARIES = ("pins-chosen", "delta-computed", "committed", "recorded")
TROUBLE = ("fault", "fault", "fault", "kill", "kill at", "stop", "stop at")
SECONDS_BETWEEN = (5.0, 20.0)
MOVE_SECONDS = 60.0
DEPTH = 10
FAULT = "a test asked for a fault"
"""What the error of a refresh says that failed because it was asked to."""


class Soak:
    """One run in a folder."""

    def __init__(self, folder: Path, tables: int, seed: int, workers: int) -> None:
        self.folder, self.seed, self.chance = folder, seed, random.Random(seed)
        self.counts: Counter[str] = Counter()
        settings = {"STREAMTABLES_WORKER_POOL_SIZE": str(workers)}
        self.leaders = Leaders(folder / "w", settings)
        # What looks at the end has a Spark of its own, and starts it when the others have ended.
        small = Settings(spark_master="local[2]", spark_driver_memory="1g")
        self.db = StreamTables(folder / "w", settings=small)
        define(self.db, Sources.make(folder), graph(tables, DEPTH, self.chance))
        self.audit = Audit(self.db, self.chance)

    def run(self, minutes: float) -> int:
        """Make trouble for some minutes, look at everything, and say what was found."""
        began = time.monotonic()
        until = began + 60 * minutes
        # Each kind comes as often as it is listed, in an order that nobody knows.
        trouble = cycle(self.chance.sample(TROUBLE, len(TROUBLE)))
        for _ in range(2):
            self.leaders.start()
        with self._writer() as writer:
            wait_for(lambda: self.db.epoch() > 0, "filled", 600)
            while time.monotonic() < until:
                self._trouble(next(trouble))
                self._wait(self.chance.uniform(*SECONDS_BETWEEN))
                self._wait_for_a_move()
                self.audit.look()
                print(self._line(), flush=True)
            writer.send_signal(signal.SIGTERM)
        self._settle()
        self._report()
        print(self._last_line((time.monotonic() - began) / 60), flush=True)
        return 1 if self.audit.differences else 0

    def _writer(self) -> Process:
        command = [sys.executable, "-m", "tests.soak.writer", str(self.folder)]
        return subprocess.Popen([*command, str(self.chance.randrange(10**6))])

    def _leader(self) -> Process | None:
        lease = self.db._catalog.lease()
        return self.leaders.led_by(lease.holder) if lease else None

    def _trouble(self, kind: str) -> None:
        boundary = self.chance.choice(BOUNDARIES)
        leader = self._leader()
        self.counts[f"asked to {kind}"] += 1
        match kind:
            case "fault":
                self.leaders.ask("fail", self.chance.choice(BOUNDARIES[1:3]))
            case "kill at" | "stop at":
                self.leaders.ask(kind.split()[0], boundary)
            case "kill" if leader is not None:
                leader.send_signal(signal.SIGKILL)
            case "stop" if leader is not None:
                leader.send_signal(signal.SIGSTOP)

    def _wait(self, seconds: float) -> None:
        """Wait; whoever was stopped goes on late, whoever died is followed by a new process."""
        time.sleep(max(seconds, 2 * LEASE_SECONDS))
        for one in list(self.leaders.running):
            if one.poll() is None:
                self.counts["stops"] += is_stopped(one)
                one.send_signal(signal.SIGCONT)
            else:
                self.counts["kills"] += one.returncode == -signal.SIGKILL
                if one.returncode != -signal.SIGKILL:
                    self.audit.differences.append(f"a process ended by itself: {one.returncode}")
                self.leaders.running.remove(one)
                self.leaders.start()
                self.counts["processes followed"] += 1

    def _wait_for_a_move(self) -> None:
        """Give whoever leads now the time that a Spark takes to start."""
        before, until = self.db.epoch(), time.monotonic() + MOVE_SECONDS
        while self.db.epoch() == before:
            if time.monotonic() > until:
                self.counts[f"waits of {MOVE_SECONDS:.0f} s in which nothing moved"] += 1
                return
            time.sleep(0.1)

    def _settle(self) -> None:
        """Let the tables reach what was written last, then end the processes."""
        self.leaders.asked.unlink(missing_ok=True)
        self._wait(0)
        wait_for(self._is_current, "current", 2 * PATIENCE_SECONDS)
        if any(self.leaders.end()):
            self.audit.differences.append("a process did not end well")
        self.audit.end()

    def _is_current(self) -> bool:
        return not any(status.changes_pending for status in self.db.status())

    def _line(self) -> str:
        return f"epoch {self.db.epoch()}, {dict(self.audit.counts)}, {dict(self.counts)}"

    def _report(self) -> None:
        terms = [event for event in self.db.events(limit=100_000) if event.kind == "leader"]
        self.counts["terms of leaders"] = len(terms)
        for record in self._records():
            self.counts[f"refreshes {record.state}"] += 1
            self.counts["injected failures"] += FAULT in record.error_text
        for name, number in sorted((self.counts + self.audit.counts).items()):
            print(f"{number:>8}  {name}")
        for text in self.audit.differences[:20]:
            print(f"          {text}")

    def _records(self) -> list[RefreshRecord]:
        return [record for name in self.audit.ids for record in self.db.history(name, 1_000_000)]

    def _last_line(self, minutes: float) -> str:
        """Sum up; what was judged is told of how much."""
        told, found = self.counts, self.audit.counts
        return (
            f"seed {self.seed}: {minutes:.1f} minutes, {len(self.audit.ids)} tables, "
            f"{found['epochs judged']} of {found['epochs']} epochs judged, "
            f"{found['table versions judged']} of {found['table versions']} table versions judged, "
            f"{len(self._records())} refreshes, {told['kills']} kills, {told['stops']} stops, "
            f"{told['injected failures']} injected failures, "
            f"{len(self.audit.differences)} differences"
        )

    def close(self) -> None:
        """Leave nothing behind."""
        self.leaders.kill()
        self.db.close()


def main() -> int:
    """Read the options, and run."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--minutes", type=float, default=30)
    reader.add_argument("--tables", type=int, default=60)
    reader.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    reader.add_argument("--workers", type=int, default=3)
    reader.add_argument("--keep", type=Path, help="an empty folder that stays afterwards")
    given = reader.parse_args()
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(given.keep or Path(folder), given.tables, given.seed, given.workers)
        try:
            return soak.run(given.minutes)
        finally:
            soak.close()


if __name__ == "__main__":
    sys.exit(main())
