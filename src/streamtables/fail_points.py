"""Named places at which a test can stop this process as a power cut would.

`STREAMTABLES_FAIL_POINT` in the environment names one; nothing else ever happens here.  The
boundaries are those of the crash table: what was true before each must be true after a restart.
"""

from __future__ import annotations

import os
import signal
from typing import Literal

from streamtables.settings import fail_point

Boundary = Literal[
    "pins-chosen",
    "delta-computed",
    "committed",
    "recorded",
    "copied",
    "changes-read",
    "mirror-committed",
    "mirrors-committed",
    "drain-recorded",
    "buffers-trimmed",
]


def reach(boundary: Boundary) -> None:
    """Die here when a test asked for it."""
    if fail_point() == boundary:
        os.kill(os.getpid(), signal.SIGKILL)
