"""Random kills: `python -m tests.soak.kills --kills 500 --seed 7`.

One process keeps a warehouse fresh, as `streamtables run` does, while others write to its Delta and
PostgreSQL sources.  It is killed with `kill -9`, at any moment and at a step in turn, and started
again.  A process starts a Spark of its own, so a kill costs as long as that takes: moments are drawn from
one and a half times the time that the first process took from its start to its first refresh.

At the end nothing may be lost or there twice: every table is verified, and compared with what
PostgreSQL itself answers.  Answers 1 when anything differs.
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
from pathlib import Path

from streamtables.demo.postgres_server import running_server
from tests.soak.kill_world import TABLES, World
from tests.support.leaders import PATIENCE_SECONDS, Leaders, Process, wait_for
from tests.support.processes import Running, descendants, is_alive

STEPS = (
    *("pins-chosen", "delta-computed", "committed", "recorded"),
    *("changes-read", "mirror-committed", "mirrors-committed", "drain-recorded", "buffers-trimmed"),
    *("push-applied", "push-committed"),
)
JUDGED_EVERY = 10


class Kills:
    """One run over a world."""

    def __init__(self, folder: Path, world: World, seed: int) -> None:
        self.folder, self.world, self.chance = folder, world, random.Random(seed)
        self.leaders = Leaders(folder / "w")
        self.counts: Counter[str] = Counter()
        self.differences: list[str] = []
        self.below: set[Running] = set()
        self.started_at = 0.0
        self.start_seconds = 0.0

    def run(self, most: int, minutes: float) -> int:
        """Kill as often and as long as asked, let all come to rest, and say what was found."""
        began, kills = time.monotonic(), 0
        self._start()
        self.world.wallets.start()
        with self._writer() as writer:
            wait_for(lambda: self._filled() > 0, "begun", 600)
            self.start_seconds = time.monotonic() - self.started_at
            wait_for(lambda: self._filled() == len(TABLES), "filled", 600)
            first = time.monotonic()
            while kills < most and time.monotonic() < began + 60 * minutes:
                self._kill(at_a_step=kills % 2 == 1)
                self._start()
                kills += 1
                if kills % JUDGED_EVERY == 0:
                    self._tried(self.world.judge_now)
                    print(f"{kills} kills: {dict(self.counts)}", flush=True)
            taken = (time.monotonic() - first) / 60
            writer.send_signal(signal.SIGTERM)
        self.world.wallets.end()
        self._settle()
        print(self._line(kills, taken), flush=True)
        for text in self.differences[:20]:
            print(f"  {text}", flush=True)
        return 1 if self.differences else 0

    def _filled(self) -> int:
        return len(self.world.db._catalog.standings())

    def _start(self) -> None:
        self.leaders.start()
        self.started_at = time.monotonic()

    def _writer(self) -> Process:
        command = [sys.executable, "-m", "tests.soak.writer", str(self.folder)]
        return subprocess.Popen([*command, str(self.chance.randrange(10**6))])

    def _kill(self, *, at_a_step: bool) -> None:
        """Kill the process; what Java it started has to end by itself."""
        [process] = self.leaders.running
        if at_a_step:
            step = self.chance.choice(STEPS)
            self.leaders.ask("kill", step)
            died = self._died(process, 2 * self.start_seconds)
            self.counts[f"at {step}" if died else "at a moment"] += 1
        else:
            self._died(process, self.chance.uniform(0, 1.5 * self.start_seconds))
            self.counts["at a moment"] += 1
        self.below |= set(descendants(process.pid))
        process.kill()
        self.leaders.asked.unlink(missing_ok=True)
        self.leaders.wait_for_death()

    def _died(self, process: Process, seconds: float) -> bool:
        """Wait a while; whether the process was killed at its step meanwhile."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.below |= set(descendants(process.pid))
            if process.poll() is not None:
                return True
            time.sleep(0.2)
        return False

    def _settle(self) -> None:
        """Let a last process do what is owed, end it, and judge everything."""
        self._tried(lambda: wait_for(self.world.is_current, "current", 2 * PATIENCE_SECONDS))
        if any(self.leaders.end()):
            self.differences.append("the last process did not end well")
        # The Java of a process that was killed ends by itself.
        self._tried(lambda: wait_for(lambda: not any(map(is_alive, self.below)), "alone", 60))
        self._tried(self.world.judge_now)
        self._tried(lambda: self.differences.extend(self.world.differences()))

    def _tried(self, check) -> None:
        try:
            check()
        except AssertionError as error:
            self.differences.append(str(error)[:500])

    def _line(self, kills: int, minutes: float) -> str:
        ended = self.world.counts()
        moments = self.counts["at a moment"]
        return (
            f"{kills} kills ({moments} at any moment, {kills - moments} at a step), {kills} restarts, "
            f"{ended['applied']} refreshes applied, {ended['failed']} failed, "
            f"{self.world.wallets.written} transactions of PostgreSQL, {len(TABLES)} tables verified, "
            f"{len(self.differences)} differences, {kills / minutes:.1f} kills a minute"
        )

    def close(self) -> None:
        """Leave nothing behind."""
        self.leaders.kill()


def run(folder: Path, kills: int, seed: int, minutes: float = 24 * 60) -> int:
    """Make a world in a folder, and kill in it."""
    with running_server(fsync="off") as server:
        world = World(folder, server, seed)
        found = Kills(folder, world, seed)
        try:
            return found.run(kills, minutes)
        finally:
            found.close()
            world.close()


def main() -> int:
    """Read the options, and run."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--kills", type=int, default=500)
    reader.add_argument("--minutes", type=float, default=24 * 60, help="the longest time")
    reader.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    reader.add_argument("--keep", type=Path, help="an empty folder that stays afterwards")
    given = reader.parse_args()
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        return run(given.keep or Path(folder), given.kills, given.seed, given.minutes)


if __name__ == "__main__":
    sys.exit(main())
