"""The processes that a process started, by what the system says of them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_STATE, _PARENT, _STARTED = 0, 1, 19


class Running(NamedTuple):
    """A process; a number is given again, but not with the same start."""

    pid: int
    started: str


def descendants(pid: int) -> list[Running]:
    """Return the processes that stand below one, children first."""
    below: dict[int, list[Running]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (facts := _facts(int(entry.name))) is not None:
            one = Running(int(entry.name), facts[_STARTED])
            below.setdefault(int(facts[_PARENT]), []).append(one)
    found = list(below.get(pid, ()))
    for one in found:
        # The list grows while it is walked.
        found += below.get(one.pid, ())
    return found


def is_alive(process: Running) -> bool:
    """Whether a process is there and has not ended; one that nobody waited for has."""
    facts = _facts(process.pid)
    return facts is not None and facts[_STATE] != "Z" and facts[_STARTED] == process.started


def command_line(pid: int) -> str:
    """Return what the list of processes shows of one; nothing where it has ended."""
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _facts(pid: int) -> list[str] | None:
    """Return what the system says of a process, after its name, which may hold blanks."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
