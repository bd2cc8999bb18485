"""Processes that keep one warehouse fresh, and a way to kill or stop them where it hurts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from streamtables.refresh.processes import pid_of

LEASE_SECONDS = 2.0
PATIENCE_SECONDS = 240.0
_SETTINGS = {
    "STREAMTABLES_LEASE_SECONDS": str(LEASE_SECONDS),
    "STREAMTABLES_POLL_SECONDS": "0.1",
    "STREAMTABLES_SPARK_MASTER": "local[2]",
    "STREAMTABLES_SPARK_DRIVER_MEMORY": "1g",
    "STREAMTABLES_WORKER_POOL_SIZE": "2",
}

Process = subprocess.Popen[bytes]


def wait_for(what: Callable[[], bool], name: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until something is true; how long that takes depends on the machine."""
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, f"after {seconds:.0f} s: not {name}"
        time.sleep(0.05)


def is_stopped(process: Process) -> bool:
    """Whether a process stands still."""
    flags = os.WSTOPPED | os.WEXITED | os.WNOHANG | os.WNOWAIT
    found = os.waitid(os.P_PID, process.pid, flags)
    return found is not None and found.si_code == os.CLD_STOPPED


@dataclass
class Leaders:
    """Processes that run `streamtables run` on one warehouse: one leads, the others stand by."""

    warehouse: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    running: list[Process] = field(default_factory=list)
    program: tuple[str, ...] = ("streamtables.cli",)
    """The module that is run in place of `streamtables`, and what it is told before the command."""

    @property
    def asked(self) -> Path:
        """The file that says what is to happen where."""
        return self.warehouse.parent / "asked"

    @property
    def log(self) -> Path:
        """What the processes print."""
        return self.warehouse.parent / "leaders.log"

    def start(self) -> Process:
        """Start one more process."""
        environment = {**os.environ, **_SETTINGS, **self.settings}
        environment["STREAMTABLES_FAIL_POINT"] = f"@{self.asked}"
        command = [sys.executable, "-m", *self.program, "run", "--warehouse"]
        with self.log.open("ab") as log:
            started = subprocess.Popen(
                [*command, str(self.warehouse)], env=environment, stdout=log, stderr=log
            )
        self.running.append(started)
        return started

    def ask(self, how: str, boundary: str) -> None:
        """Have whoever reaches a boundary next die, stand still or fail there, once."""
        written = self.asked.with_suffix(".written")
        written.write_text(f"{how} {boundary}\n")
        written.rename(self.asked)

    def led_by(self, holder: str) -> Process | None:
        """Return the process of this name; None where it is not one of these."""
        number = pid_of(holder)
        return next((one for one in self.running if one.pid == number), None)

    def wait_for_stop(self) -> Process:
        """Wait until one of the processes stands still, and return it."""
        wait_for(lambda: any(map(is_stopped, self.running)), "stopped")
        return next(filter(is_stopped, self.running))

    def wait_for_death(self) -> Process:
        """Wait until one of the processes was killed, and return it."""
        wait_for(lambda: any(one.poll() is not None for one in self.running), "killed")
        dead = next(one for one in self.running if one.poll() is not None)
        assert dead.returncode == -signal.SIGKILL, self.log.read_text()
        self.running.remove(dead)
        return dead

    def end(self) -> list[int]:
        """Have all processes finish what they do; return how each ended."""
        self.asked.unlink(missing_ok=True)
        for one in self.running:
            one.send_signal(signal.SIGTERM)
            one.send_signal(signal.SIGCONT)
        ended = [one.wait(PATIENCE_SECONDS) for one in self.running]
        self.running.clear()
        return ended

    def kill(self) -> None:
        """Leave nothing behind, however a test ended."""
        for one in self.running:
            one.kill()
            one.wait(PATIENCE_SECONDS)
        self.running.clear()
