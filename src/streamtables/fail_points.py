"""Named places at which a test can stop this process as a power cut, a stall or a fault would.

`STREAMTABLES_FAIL_POINT` in the environment names one, and the process dies there.  `@` and a path
name a file that says it in one line, such as `stop committed`: whoever gets there first takes the
file away and obeys, so one line is obeyed once, and a test may write the next one at any time.
Without the variable nothing ever happens here.  The boundaries are those of the crash table: what
was true before each must be true after a restart.
"""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Literal

from streamtables.errors import TransientError
from streamtables.settings import fail_point

Boundary = Literal[
    "pins-chosen",
    "delta-computed",
    "columns-freed",
    "columns-replaced",
    "committed",
    "recorded",
    "copied",
    "changes-read",
    "mirror-committed",
    "mirrors-committed",
    "drain-recorded",
    "buffers-trimmed",
    "files-listed",
    "files-taken",
    "write-computed",
    "source-written",
    "follower-committed",
    "push-applied",
    "push-committed",
]


def reach(boundary: Boundary) -> None:
    """Die, stand still or fail here when a test asked for it."""
    match _asked(boundary):
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "stop":
            # To this thread: sent to the process, it could reach another one a little earlier.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
        case "fail":
            raise TransientError(f'a test asked for a fault at "{boundary}"')


def _asked(boundary: Boundary) -> str | None:
    """Return what is to happen at a boundary, or None."""
    asked = fail_point()
    if asked is None or not asked.startswith("@"):
        return "kill" if asked == boundary else None
    try:
        file = Path(asked[1:])
        how, _, where = file.read_text(encoding="utf-8").strip().partition(" ")
        if where != boundary:
            return None
        file.unlink()
    except FileNotFoundError:
        # Nothing is asked for, or another process or thread took the line.
        return None
    return how
