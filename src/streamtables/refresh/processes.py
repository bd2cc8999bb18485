"""The names of the processes that work on a warehouse, and whether one of them is no more.

A name is `host:pid/token`.  The token tells two openings of a warehouse in one process apart, and a
process from an earlier one with its number: in a container every first process has the number 1.
"""

from __future__ import annotations

import os
import socket
from secrets import token_hex

_HERE: set[str] = set()
"""The tokens that were given out in this process."""


def new_process_name() -> str:
    """Return a name for one opening of a warehouse in this process."""
    token = token_hex(4)
    _HERE.add(token)
    return f"{socket.gethostname()}:{os.getpid()}/{token}"


def has_died(process: str, here: str) -> bool:
    """Whether a process is known to be no more; of those on other machines nothing is known."""
    if is_elsewhere(process, here):
        return False
    pid = pid_of(process)
    if pid == os.getpid():
        return process.rpartition("/")[2] not in _HERE
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def pid_of(process: str) -> int:
    """Return the number by which its machine knows a process."""
    return int(process.rpartition(":")[2].partition("/")[0])


def is_elsewhere(process: str, here: str) -> bool:
    """Whether a process runs, or ran, on another machine."""
    return process.rpartition(":")[0] != here.rpartition(":")[0]
