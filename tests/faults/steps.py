"""A process that is killed before each of its steps in turn, until it gets to its end.

A step is a statement or a commit on a database, a connection to somewhere, or a change of a file
by Python.  What is counted is left as it is: nothing is replaced, and the kill is `kill -9`.

What deltalake does to files, Python does not see.  An operation that leaves most to it is killed
after more and more time as well.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

Operation = Callable[[Path], object]

_OF_FILES = {
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.symlink",
    "os.truncate",
    "shutil.copyfile",
    "shutil.copytree",
    "socket.connect",
    "sqlite3.connect",
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_PATIENCE_SECONDS = 120.0
_KILLED = (-signal.SIGKILL, -signal.SIGALRM)
_left: list[float] = []
"""For how many seconds the operation of this process may go on."""


class _Countdown:
    """Dies at the step with a number; steps are counted once it is armed."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self, *_: object) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Count what Python reports of files and connections."""
        if event in _OF_FILES or (event == "open" and _is_write(arguments[2])):
            self()


def _is_write(flags: object) -> bool:
    return isinstance(flags, int) and bool(flags & _WRITES)


def _run_steps(operation: Operation, folder: Path, number: int) -> None:
    """Do an operation in this process, and die before the step with this number."""
    import psycopg
    from sqlalchemy import Engine, event

    countdown = _Countdown(number)
    for moment in ("before_cursor_execute", "commit"):
        event.listen(Engine, moment, countdown)
    for kind, name in ((psycopg.Connection, "execute"), (psycopg.Connection, "commit")):
        setattr(kind, name, _counted(countdown, getattr(kind, name)))
    sys.addaudithook(countdown.heard)
    operation(folder)


def _run_for_a_time(operation: Operation, folder: Path, milliseconds: int) -> None:
    """Do an operation in this process, and die after a time."""
    # By the system and not by Python, which waits while deltalake works.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _left.append(milliseconds / 1000)
    operation(folder)


def from_now() -> None:
    """Begin to count the time: called by an operation where what it is about begins."""
    if _left:
        signal.setitimer(signal.ITIMER_REAL, _left.pop())


def _counted(countdown: _Countdown, called: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*arguments: Any, **named: Any) -> Any:
        countdown()
        return called(*arguments, **named)

    return counted


def killed_at_every_step(
    operation: Operation,
    folder: Path,
    every: int = 1,
    most: int = 400,
    prepare: Operation = lambda _: None,
) -> Iterator[int]:
    """Give the number of each step before which the operation was killed in the folder.

    Before each try the folder is as it was at the first one, and then prepared.  The last number is
    that of a try which ended well.
    """
    yield from _killed(_run_steps, operation, folder, range(1, most, every), prepare)


def killed_after_a_time(operation: Operation, folder: Path) -> Iterator[int]:
    """Give the milliseconds after which the operation was killed, more and more until it ended.

    They count from where it calls `from_now`.  Before each try the folder is as it was at the
    first one.
    """
    # A fifth more each time: as many tries, about, on a slow machine as on a quick one.
    times = [round(10 * 1.2**number) for number in range(50)]
    yield from _killed(_run_for_a_time, operation, folder, times)


def _killed(
    run: Callable[[Operation, Path, int], None],
    operation: Operation,
    folder: Path,
    numbers: Iterable[int],
    prepare: Operation = lambda _: None,
) -> Iterator[int]:
    kept = folder.with_name(f"{folder.name}.kept")
    if not kept.exists():
        shutil.copytree(folder, kept)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["alembic.command", "deltalake", "tests.faults.operations"])
    for number in numbers:
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
        prepare(folder)
        arguments = (run, operation, folder, number, {**os.environ})
        process = context.Process(target=_run, args=arguments)
        process.start()
        process.join(_PATIENCE_SECONDS)
        assert process.exitcode in (0, *_KILLED), f"try {number}: {process.exitcode}"
        yield number
        if process.exitcode == 0:
            return
    raise AssertionError("it never got to its end")


def _run(
    run: Callable[[Operation, Path, int], None],
    operation: Operation,
    folder: Path,
    number: int,
    environment: dict[str, str],
) -> None:
    os.environ.update(environment)
    run(operation, folder, number)
